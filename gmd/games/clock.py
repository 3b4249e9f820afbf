"""Chess clocks. They count what they are told was used; they never look at the time.

Seconds throughout. Two kinds: ``initial`` with ``increment`` (added after each of the side's moves), and
``first_move`` with ``per_move`` (a fresh budget for every move, unused time lost), as CodinGame has it. Either may
have a ``margin``: time beyond that for whoever oversteps, which is not shown. What it uses of this in the first kind is
made up for by its increments, as in cutechess, so that nobody plays on the margin alone.

With a ``lag`` a client may say how long its player has thought, and that much at most of what has passed besides is not
charged: what the way takes, and programs on it.
"""

from __future__ import annotations

from chess import BLACK, WHITE, Color
from msgspec import UNSET, structs

from gm_protocol.clock_text import read_clock_text
from gm_protocol.errors import BadRequest, quote
from gm_protocol.messages import ClockOption
from gm_protocol.state import ClockState

#: Longest time control, in seconds: some months. It keeps every clock far from what a float counts exactly.
MAX_SECONDS = 10_000_000.0

#: A flag that is this near to falling has fallen: timers are no finer.
TICK = 1e-6


def check_clock(option: ClockOption | str) -> ClockOption:
    """The time control with its defaults filled in.

    :param option: fields, or the usual text, such as ``180+2``.
    :raises BadRequest: it is neither of the two kinds, or has a time out of range.
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

    :ivar lag: the option's.
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
        """Seconds until a side's flag falls, its margin included."""
        return self._left[color]

    def patience(self, color: Color) -> float:
        """Seconds until a side has lost that is not heard from: it may yet be said that some were not its own."""
        return self._left[color] + self.lag

    def own(self, passed: float, thought: float) -> float:
        """Of the seconds that have passed, those to charge where the player is said to have thought for so many."""
        return max(0.0, passed - self.lag, min(passed, thought))

    def fallen(self, color: Color, elapsed: float) -> bool:
        """Whether the side's flag has fallen after ``thought`` seconds of thinking."""
        return elapsed > self._left[color] - TICK

    def charge(self, color: Color, seconds: float) -> None:
        """Take time a side has used from it; never below nothing."""
        self._left[color] = max(0.0, self._left[color] - seconds)

    def press(self, color: Color) -> None:
        """A side has completed a move: give it what it gets for that."""
        if self._per_move is None:
            self._left[color] += self._increment
        else:
            self._left[color] = self._per_move + self._margin

    def show(self, turn: Color, elapsed: float) -> ClockState:
        """What both clocks read, ``thought`` seconds into the turn, to the millisecond."""
        left = list(self._left)
        left[turn] -= elapsed
        white, black = (round(max(0.0, left[color] - self._margin), 3) for color in (WHITE, BLACK))
        return ClockState(white=white, black=black)
