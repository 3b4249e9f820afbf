"""The time that the search for a move may take. All times are in seconds."""

from __future__ import annotations

#: The time for a move where there is no clock and no limit.
MOVE_SECONDS = 1.0
#: The share of the time left that a move may take: forty moves take two thirds of it, and no number of moves takes it
#: all. With reconchess's 15 minutes that is 22 seconds for the first move, of which the search seldom needs one.
SHARE = 1 / 40
#: The same where the time is for one move only. The rest covers other work,
#: with the sense and with the opponent's turn, and the way to the server.
SHARE_OF_A_MOVE = 1 / 3

#: Possible positions that are followed for each second that a move may take, and at least. A hundred thousand of them
#: take up to two seconds a turn, ten thousand a third of one: so they take about as long as the move's search, and a
#: player with ten seconds left can still follow enough.
POSITIONS_A_SECOND, LEAST_POSITIONS = 25_000, 5_000

#: The ``seconds_left`` of a game without clocks: this from gmd's HTTP API, infinity elsewhere.
NO_CLOCK = 10_000_000.0


def seconds_without_clock(limit: float | None) -> float:
    """Return the time for a move in a game without clocks.

    :param limit: the limit given, if any.
    """
    return MOVE_SECONDS if limit is None else limit


def seconds_of_game(left: float, limit: float | None) -> float:
    """Return the time for a move out of the time left for the game: the limit, or less where the clock allows less."""
    return _at_most(left * SHARE, limit)


def seconds_of_move(left: float, limit: float | None) -> float:
    """Return the time for a move out of the time left for this move alone, as for :func:`seconds_of_game`."""
    return _at_most(left * SHARE_OF_A_MOVE, limit)


def seconds_by_reconchess(left: float, limit: float | None) -> float:
    """Return the time for a move out of the ``seconds_left`` that reconchess gives its players."""
    return seconds_without_clock(limit) if left >= NO_CLOCK else seconds_of_game(left, limit)


def positions_within(seconds: float, most: int) -> int:
    """Return how many possible positions are followed where a move may take so long.

    :param most: how many are followed where there is time.
    """
    return int(min(most, max(LEAST_POSITIONS, seconds * POSITIONS_A_SECOND)))


def _at_most(share: float, limit: float | None) -> float:
    return share if limit is None else min(limit, share)
