"""Chess clocks. The caller charges them with seconds; they never read the time themselves.

All times are in seconds. There are two kinds of time control: ``initial`` with ``increment`` (added after each of the
side's moves), and ``first_move`` with ``per_move`` (a fresh budget for every move, unused time is lost), as on
CodinGame. Both may have a ``margin``: extra time that is not shown, for a side that oversteps. In the first kind, later
increments refill the margin that a side has used, as in cutechess, so that nobody plays on the margin alone.

With a ``lag``, a client may say how long its player has thought. Time beyond that is not charged, up to ``lag`` seconds
per move: this covers the network and the programs in between.
"""

from __future__ import annotations

from chess import BLACK, WHITE, Color
from msgspec import UNSET, structs

from gm_protocol.clock_text import read_clock_text
from gm_protocol.errors import BadRequest, quote
from gm_protocol.messages import ClockOption
from gm_protocol.state import ClockState

#: Longest time control, in seconds: about four months. Clocks thus stay far below where a float becomes inexact.
MAX_SECONDS = 10_000_000.0

#: A flag counts as fallen this many seconds early, because timers are no finer.
TICK = 1e-6


def check_clock(option: ClockOption | str) -> ClockOption:
    """Return the time control with its defaults filled in.

    :param option: fields, or the usual text, such as ``180+2``.
    :raises BadRequest: it is neither of the two kinds, or a time is out of range.
    """
    if isinstance(option, str):
        try:
            option = ClockOption(**read_clock_text(option))
        except ValueError as error:
            raise BadRequest(f"clock: {quote(option)} {error}, or null to play without") from None
    if option.margin is not UNSET:
        _check_range("margin", option.margin)
    if option.lag is not UNSET:
        _check_range("lag", option.lag)
    if option.initial is not UNSET and option.first_move is UNSET and option.per_move is UNSET:
        increment = 0.0 if option.increment is UNSET else option.increment
        _check_range("initial", option.initial, above=0.0)
        _check_range("increment", increment)
        return structs.replace(option, increment=increment)
    if option.first_move is not UNSET and option.per_move is not UNSET and UNSET is option.initial is option.increment:
        _check_range("first_move", option.first_move, above=0.0)
        _check_range("per_move", option.per_move, above=0.0)
        return option
    names = (name for name in option.__struct_fields__ if name not in ("margin", "lag"))
    given = ", ".join(name for name in names if getattr(option, name) is not UNSET) or "nothing"
    raise BadRequest(
        'clock: give {"initial": seconds, "increment": seconds} or {"first_move": seconds, "per_move": seconds}, '
        f"not {given}"
    )


def _check_range(name: str, seconds: float, above: float = -1.0) -> None:
    if not above < seconds <= MAX_SECONDS:
        lowest = "more than 0" if above == 0 else "0"
        raise BadRequest(f"clock.{name}: {seconds} is not from {lowest} to {MAX_SECONDS:.0f} seconds")


class Clock:
    """Both sides' time in one game.

    :ivar lag: the time control's ``lag``, in seconds; 0 without one.
    """

    __slots__ = ("_increment", "_left", "_margin", "_per_move", "lag")

    def __init__(self, option: ClockOption) -> None:
        if option.initial is not UNSET:
            first, self._per_move = option.initial, None
            self._increment = 0.0 if option.increment is UNSET else option.increment
        else:
            assert option.first_move is not UNSET
            assert option.per_move is not UNSET
            first, self._per_move, self._increment = option.first_move, option.per_move, 0.0
        self._margin = 0.0 if option.margin is UNSET else option.margin
        self._left = [first + self._margin] * 2
        self.lag = 0.0 if option.lag is UNSET else option.lag

    def left(self, color: Color) -> float:
        """Return the seconds until a side's flag falls, including its margin."""
        return self._left[color]

    def seconds_to_flag(self, color: Color) -> float:
        """Return the seconds after which a silent side has lost: its client may still claim ``lag`` of them back."""
        return self._left[color] + self.lag

    def own(self, passed: float, thought: float) -> float:
        """Return the seconds to charge, of those that have passed, for a player that reports ``thought`` seconds."""
        return max(0.0, passed - self.lag, min(passed, thought))

    def fallen(self, color: Color, elapsed: float) -> bool:
        """Return whether the side's flag has fallen, ``elapsed`` seconds into its turn."""
        return elapsed > self._left[color] - TICK

    def charge(self, color: Color, seconds: float) -> None:
        """Subtract the seconds that a side has used; its time never falls below 0."""
        self._left[color] = max(0.0, self._left[color] - seconds)

    def press(self, color: Color) -> None:
        """Give a side its time for a completed move: the increment, or a fresh budget."""
        if self._per_move is None:
            self._left[color] += self._increment
        else:
            self._left[color] = self._per_move + self._margin

    def show(self, turn: Color, elapsed: float) -> ClockState:
        """Return what both clocks show, ``elapsed`` seconds into the turn, rounded to the millisecond."""
        left = list(self._left)
        left[turn] -= elapsed
        white, black = (round(max(0.0, left[color] - self._margin), 3) for color in (WHITE, BLACK))
        return ClockState(white=white, black=black)
