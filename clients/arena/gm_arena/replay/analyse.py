"""What the moves of a recorded game of blind chess were worth: ``gmd replay --analyse``.

The installed analysis is the entry point ``rbc`` of the group ``gmd.analyses``: a function as :data:`Analyse`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import NamedTuple

import chess
import click
from chess import Color, Move, Piece, Square, SquareSet
from rich.console import Console
from rich.text import Text

from gm_recon import Cell, History, ReconBoard
from gm_recon.history import Turn
from gm_recon.pgn import san

from ..board_drawing import EMPTY, Palette, Picture, palette_of, squares_of
from .frames import Frame, frame_text, header
from .recorded import Recorded

#: The group of entry points of analyses, by the variants that they know.
GROUP = "gmd.analyses"

#: The least cost of a move that is shown; that of one that is named; and how many are.
SEEN, LEAST_COST, NAMED = 0.005, 0.05, 3
#: A player loses the game with its last costly move that lets its expected result fall below this.
HELD = 0.4
#: A player knew better if its move also costs at least this share of its true cost over its possible positions.
SHARE = 0.5


class NoAnalysis(Exception):
    """The analysis cannot be made. The message says what is missing and what to do."""


class Value(NamedTuple):
    """The expected result of a move, from 0 to 1, and the best one with its move; None is a pass."""

    made: float
    best: float
    best_move: Move | None

    @property
    def cost(self) -> float:
        """What the best move would have had more."""
        return self.best - self.made


class Known(NamedTuple):
    """What a move was worth as its player knew the board: means over positions that were possible for it.

    :ivar of_best: the mean of the move that was best on the true board.
    :ivar alike: the share of the positions in which the move costs at least :data:`SHARE` of its true cost.
    """

    value: Value
    of_best: float
    alike: float


@dataclass(frozen=True)
class AnalysedTurn:
    """A turn, judged.

    :ivar place: the turn's place in the game, from 0.
    :ivar board: the true position, before the move.
    :ivar window: what the sense showed.
    :ivar before, after: how many positions were possible before the sense and after it; None for too many to keep.
    :ivar certain: the squares of which the player knew what stands there, with that: a piece, or None. It is empty for
        turns that are not named.
    :ivar truth: the move's worth on the true board.
    :ivar known: the same on the player's knowledge; None if there were too many possible positions to follow.
    """

    place: int
    board: ReconBoard
    turn: Turn
    window: Sequence[Cell]
    before: int | None
    after: int | None
    certain: dict[Square, Piece | None]
    truth: Value
    known: Known | None

    @property
    def color(self) -> Color:
        """Whose turn it was."""
        return self.board.turn

    @property
    def knew(self) -> bool:
        """Whether the player could know that another move was better."""
        return self.known is not None and self.known.value.cost >= SHARE * self.truth.cost


#: Judges the turns of the players of some colours, in the order of the game.
Analyse = Callable[[History, Collection[Color]], Iterator[AnalysedTurn]]


#: The columns of a line without the bar, which is there where it has room; and those of the bar.
WIDTH, BAR = 80, 14


def analyse(recorded: Recorded, color: Color | None) -> None:
    """Print a line for each turn of a game as soon as it is judged, and then the costliest turns.

    :param color: the player whose turns are judged; None for both.
    :raises NoAnalysis: there is no analysis, or it lacks what it needs.
    :raises BotFailed: its engine fails.
    :raises click.UsageError: the game is not one of blind chess.
    """
    history = recorded.history
    if history is None:
        raise click.UsageError(f"{recorded.where} is not a game of blind chess")
    colors = chess.COLORS if color is None else [color]
    judged = _installed()(history, colors)
    console = Console(highlight=False, soft_wrap=True)
    has_bar = not console.is_terminal or console.width >= WIDTH + 2 + BAR
    console.print(Text("\n".join([*header(recorded), ""])))
    turns: list[AnalysedTurn] = []
    for turn in judged:
        if not turns:
            console.print(Text(heading(has_bar), "bold"))
        turns.append(turn)
        console.print(line(turn, recorded.seconds.get(turn.place), has_bar))
    console.print()
    for each in colors:
        console.print(Text(summary(each, [turn for turn in turns if turn.color == each])))
    lost = None if history.winner is None else losing_turn([turn for turn in turns if turn.color != history.winner])
    for turn in costliest(turns, lost):
        console.print()
        console.print(explained(turn, palette_of(console), lost=turn is lost))


def _installed() -> Analyse:
    found = list(entry_points(group=GROUP, name="rbc"))
    if not found:
        raise NoAnalysis(f"no analysis is installed as the entry point rbc of the group {GROUP}: gmd's own is gm_bots'")
    loaded: Analyse = found[0].load()
    return loaded


def losing_turn(turns: Sequence[AnalysedTurn]) -> AnalysedTurn | None:
    """Return with which of its turns a player lost the game, if there is one."""
    for turn in reversed(turns):
        if turn.truth.made >= HELD:  # the game was not lost yet
            return None
        if turn.truth.best >= HELD and turn.truth.cost >= LEAST_COST:
            return turn
    return None


def costliest(turns: Sequence[AnalysedTurn], always: AnalysedTurn | None = None) -> list[AnalysedTurn]:
    """Return the turns that cost most on the true board, the costliest first.

    :param always: a turn that is among them in any case.
    """
    costly = [turn for turn in turns if turn.truth.cost >= LEAST_COST]
    costly.sort(key=lambda turn: (turn is not always, -turn.truth.cost))
    return sorted(costly[:NAMED], key=lambda turn: -turn.truth.cost)


# --- A line for each turn ----------------------------------------------------------------------------------------


def heading(has_bar: bool) -> str:
    """Return the lines above those of the turns."""
    above = f"{'':6} {'possible':^15}  {'':14} {'':12} {'true board':>11} {'as it knew':>11}"
    names = f"{'turn':6} {'before→after':^15}  {'sensed':14} {'move':12} result cost result cost   time"
    return f"{above}\n{names}" + ("  White's result" if has_bar else "")


def line(turn: AnalysedTurn, seconds: float | None, has_bar: bool) -> Text:
    """Return a turn as a line.

    :param seconds: what it took, if that is known.
    :param has_bar: whether a bar behind it shows White's expected result on the true board.
    """
    board, known = turn.board, turn.known
    number = f"{board.fullmoves}{'.' if board.turn else '...'}"
    text = Text(f"{number:<6} {_count(turn.before):>7}→{_count(turn.after):<7}  {_sensed(turn):<14} {_move(turn):<12} ")
    for value in (turn.truth, None if known is None else known.value):
        text.append(*_value(value))
        text.append(" ")
    text.append(f"{'' if seconds is None else f'{seconds:.1f}':>6}")
    if has_bar:
        text.append(f"  {_bar(turn.truth.made if board.turn else 1 - turn.truth.made)}")
    text.rstrip()
    return text


def _count(positions: int | None) -> str:
    return "many" if positions is None else f"{positions:,}"


def _sensed(turn: AnalysedTurn) -> str:
    """Return the square sensed, and what the sense showed, rank by rank from the top, as in a FEN."""
    square = turn.turn.sense
    if square is None:
        return "-"
    ranks: dict[int, str] = {}
    for at, piece in turn.window:
        rank = chess.square_rank(at)
        ranks[rank] = ranks.get(rank, "") + (piece.symbol() if piece else EMPTY)
    return f"{chess.SQUARE_NAMES[square]} {'/'.join(ranks.values())}"


def _move(turn: AnalysedTurn) -> str:
    """Return the move, and what came of it, if that was another one."""
    if turn.turn.requested is None:
        return "passes"
    request = turn.board.promoting(turn.turn.requested)
    text = san(turn.board, request)
    return text if request == turn.turn.taken else f"{text}→{san(turn.board, turn.turn.taken)}"


def _value(value: Value | None) -> tuple[str, str]:
    """Return a result and its cost as text, with a style: costs too small to be seen are left out."""
    if value is None:
        return f"{'?':>6} {'':>4}", ""
    cost = f"{value.cost:.2f}" if value.cost >= SEEN else ""
    style = "red" if value.cost >= LEAST_COST else ""
    return f"{value.made:>6.2f} {cost:>4}", style


def _bar(result: float) -> str:
    """Return a result as the filled part of a bar."""
    whole, part = divmod(round(8 * BAR * result), 8)
    return f"{'█' * whole}{' ▏▎▍▌▋▊▉'[part].strip()}".ljust(BAR, EMPTY)


def summary(color: Color, turns: Sequence[AnalysedTurn]) -> str:
    """Return what a player's moves cost, in a sentence."""
    if not turns:
        return f"{_name(color)} had no turn."
    known = [turn.known.value.cost for turn in turns if turn.known is not None]
    cost = sum(turn.truth.cost for turn in turns) / len(turns)
    text = f"{_name(color)}: a move costs {cost:.3f} of a result on the true board"
    own = f", {sum(known) / len(known):.3f} by its own knowledge" if known else ""
    return f"{text}{own}; {len(turns)} turns."


# --- The costliest turns -----------------------------------------------------------------------------------------


def explained(turn: AnalysedTurn, palette: Palette | None, *, lost: bool) -> Text:
    """Return a turn as text: its cost, what its player knew next to the truth, and the reason.

    :param lost: whether it is the one that lost the game.
    """
    pieces = {square: piece for square, piece in turn.certain.items() if piece is not None}
    window = SquareSet(square for square, _ in turn.window)
    known = Picture(pieces, marked=window, known=SquareSet(turn.certain), title=f"as {_name(turn.color)} knew it")
    best = squares_of(turn.truth.best_move)
    truth = Picture(turn.board.as_chess().piece_map(), marked=best, title="the truth, and the best move")
    board, value = turn.board, turn.truth
    number = f"{board.fullmoves}{'.' if board.turn else '...'}"
    title = f"{number} {_name(turn.color)}: {_compared(turn, value, value.best_move)} on the true board."
    title += " This lost the game." if lost else ""
    return Text("\n").join([Text(title, "bold"), frame_text(Frame(reason(turn), [known, truth]), palette)])


def reason(turn: AnalysedTurn) -> str:
    """Return why a turn was costly, in a sentence."""
    known = turn.known
    if known is None:
        return "Did not know: there were too many possible positions to follow."
    where = "in the only possible position" if turn.after == 1 else f"in its {_count(turn.after)} possible positions"
    if turn.knew:
        return f"Knew and erred: {where} {_compared(turn, known.value, known.value.best_move)}."
    compared = _compared(turn, Value(known.value.made, known.of_best, None), turn.truth.best_move)
    text = f"Did not know: {where} {compared}; it costs about as much in {100 * known.alike:.0f} % of them."
    if known.value.cost >= LEAST_COST:
        text += f" There {_request(turn, known.value.best_move)} would have had {known.value.best:.2f}."
    return text


def _compared(turn: AnalysedTurn, value: Value, other: Move | None) -> str:
    """Return the results of the move and of a better one."""
    made = _move(turn) if turn.turn.requested is not None else "a pass"
    return f"{made} has {value.made:.2f}, {_request(turn, other)} {value.best:.2f}"


def _request(turn: AnalysedTurn, move: Move | None) -> str:
    return "a pass" if move is None else san(turn.board, move)


def _name(color: Color) -> str:
    return "White" if color else "Black"
