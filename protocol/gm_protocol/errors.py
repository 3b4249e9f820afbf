"""Every way a request can be refused.

One class per ``code`` of the protocol. A refusal carries a sentence for a person (its ``str``: the field, the
value, and what to do) and a ``code`` for a program; whoever answers the client translates it, in one place, into an
:class:`~gm_protocol.messages.ErrorReply`.
"""

from __future__ import annotations

from typing import ClassVar

#: Longest piece of a client's own text that an error repeats to it; the rest is cut, so that no error is long.
MAX_QUOTED = 80


def quote(value: object) -> str:
    """``value`` as an error sentence repeats it: its ``repr``, cut to :data:`MAX_QUOTED` characters."""
    if isinstance(value, (str, bytes)) and len(value) > MAX_QUOTED:
        return repr(value[:MAX_QUOTED]) + "..."
    text = repr(value)
    return text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "..."


class GmError(Exception):
    """A request refused. A refused request has changed nothing."""

    code: ClassVar[str] = "internal"

    #: Seconds after which the same request may succeed; None where waiting does not help.
    retry_after: float | None = None


class BadFrame(GmError):
    """The bytes are no frame: a length out of range, or an end inside a frame. The connection ends with it."""

    code = "bad_frame"


class BadJson(GmError):
    """The frame's body is not one JSON object in UTF-8."""

    code = "bad_json"


class BadRequest(GmError):
    """A field is missing, of the wrong type, out of range, or contradicts another."""

    code = "bad_request"


class UnknownKind(GmError):
    """The request's ``kind`` is none this server has."""

    code = "unknown_kind"


class NoSuchGame(GmError):
    """There is no game of that id."""

    code = "no_such_game"


class NotAPlayer(GmError):
    """The player holds no seat, or not the seat it needs, in the game."""

    code = "not_a_player"


class Unauthorized(GmError):
    """The request acts as a registered player without that player's key."""

    code = "unauthorized"


class NotYourTurn(GmError):
    """It is the other side's turn."""

    code = "not_your_turn"


class WrongPhase(GmError):
    """A move while a sense is due, or a sense while a move is."""

    code = "wrong_phase"


class IllegalMove(GmError):
    """The text names no move that the rules allow here."""

    code = "illegal_move"


class AmbiguousMove(GmError):
    """The text fits several legal moves."""

    code = "ambiguous_move"


class BadSquare(GmError):
    """The value names no square of the board."""

    code = "bad_square"


class BadPgn(GmError):
    """The PGN does not parse, holds an illegal move, or is more than one game."""

    code = "bad_pgn"


class BadPosition(GmError):
    """The FEN does not parse, or is no position of the variant."""

    code = "bad_position"


class GameIsOver(GmError):
    """The game has ended; nothing can be done in it any more."""

    code = "game_over"


class NotAvailable(GmError):
    """What was asked for exists, but not now: a draw that cannot be claimed, an offer that does not stand."""

    code = "not_available"


class Stale(GmError):
    """``ply`` is not the game's ``ply_index``.

    :ivar expected: the ``ply_index`` the game is at.
    """

    code = "stale"

    def __init__(self, message: str, expected: int) -> None:
        super().__init__(message)
        self.expected = expected


class TooMany(GmError):
    """A limit of the server is reached; :attr:`retry_after` says when to try again."""

    code = "too_many"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ShuttingDown(GmError):
    """The server is stopping and takes no more requests."""

    code = "shutting_down"


class Internal(GmError):
    """The server failed. What the request asked for was not done."""

    code = "internal"


#: Every error class by its code.
ERRORS: dict[str, type[GmError]] = {error.code: error for error in GmError.__subclasses__()}
