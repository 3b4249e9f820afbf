"""The game in the terminal: it draws, asks and acts."""

from __future__ import annotations

import signal
from collections.abc import Callable

import chess
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from gm_arena.board_drawing import Palette, board_lines, palette_of, picture_of

from .game import Game
from .prompt import HOW_TO_MOVE, WORDS, NotUnderstood, Word, legal, read, read_color

#: Columns that a board and the moves to its right take; on a narrower terminal the moves go below.
_BESIDE = 52
#: Full moves shown of a long game: as many as there are ranks; and fewer where they go below the board.
_MOVES_SHOWN, _MOVES_BELOW = 8, 3


class Quit(Exception):
    """The player wants to leave."""


class TerminalGame:
    """Plays one game after the other, from the first position to the end, or until the player leaves."""

    def __init__(self, begin: Callable[[chess.Color | None], Game], console: Console) -> None:
        """:param begin: makes a game; its argument is the player's colour, None for the one chosen at first."""
        self._begin, self._console = begin, console
        self._palette = palette_of(console)
        self._flipped = False
        self._notes: list[str] = []
        self._game = self._new_game(None)

    def _new_game(self, color: chess.Color | None) -> Game:
        game = self._begin(color)
        self._notes = [f"You are {'White' if game.color else 'Black'}. Type a move, such as Nf3 or g1f3, or 'help'."]
        return game

    def play(self) -> bool:
        """Play until a game has ended and no other follows; return False if the player left before."""
        try:
            while True:
                self._show()
                if self._game.result is not None:
                    if not self._wants_another_look():
                        return True
                elif self._game.players_turn:
                    self._players_turn()
                else:
                    self._engines_turn()
        except (Quit, EOFError):
            return False

    def _show(self) -> None:
        """Show the board, in place of the last one on a terminal, and the notes below it."""
        if self._console.is_terminal:
            self._console.clear()
        width = self._console.width
        self._console.print(draw(self._game, width=width, flipped=self._flipped, palette=self._palette))
        for note in self._notes:
            self._console.print(note, markup=False, highlight=False)
        self._notes.clear()

    def _wants_another_look(self) -> bool:
        """Ask at the end whether to undo the last move or begin another game; return False for neither, or no terminal.

        The end of the input is a wish to leave, and the game counts as played to its end.
        """
        if not self._console.is_terminal:
            return False
        question = "The game is over: 'undo' takes your last move back, 'new' begins another, anything else leaves. "
        try:
            meant = read(self._ask(question), self._game.board)
        except (NotUnderstood, EOFError):
            return False
        if not isinstance(meant, Word) or meant.name not in ("undo", "new"):
            return False
        self._obey(meant)
        return True

    def _players_turn(self) -> None:
        text = self._ask("Your move: ")
        try:
            meant = read(text, self._game.board)
            if isinstance(meant, Word):
                self._obey(meant)
            else:
                self._game.move(meant)
        except NotUnderstood as error:
            self._notes.append(str(error))

    def _engines_turn(self) -> None:
        with self._console.status("The engine thinks; Ctrl-C makes it move now"):
            move = self._think()
        self._notes.append(f"The engine plays {move}.")

    def _think(self) -> str:
        """Return the engine's move, in SAN. Ctrl-C while it thinks makes it move at once, and does not leave."""
        wanted: list[bool] = []

        def hurry(*_: object) -> None:
            wanted.append(True)

        before = signal.signal(signal.SIGINT, hurry)
        try:
            self._game.engine_moves(lambda: bool(wanted))
        finally:
            signal.signal(signal.SIGINT, before)
        return self._game.sans()[-1]

    def _ask(self, question: str) -> str:
        try:
            return self._console.input(question, markup=False)
        except KeyboardInterrupt:
            raise Quit from None

    def _obey(self, word: Word) -> None:
        game = self._game
        match word.name:
            case "moves":
                sans = legal(game.board, word.argument)
                self._notes.append("Legal: " + ", ".join(sans) if sans else f"Nothing can move from {word.argument}.")
            case "hint":
                with self._console.status("Looking for a hint"):
                    self._notes.append(f"Hint: {game.board.san(game.hint())}")
            case "undo":
                self._undo()
            case "draw":
                self._offer_draw()
            case "resign":
                game.resign()
            case "new":
                self._game = self._new_game(read_color(word.argument))
            case "flip":
                self._flipped = not self._flipped
            case "help":
                self._notes += [HOW_TO_MOVE, *(f"  {name:8}{what}" for name, what in WORDS.items())]
            case _:
                raise Quit

    def _undo(self) -> None:
        undone = self._game.undo()
        self._notes.append("Your last move is taken back." if undone else "You have made no move yet.")

    def _offer_draw(self) -> None:
        with self._console.status("The engine thinks about a draw"):
            agreed = self._game.offer_draw()
        if not agreed:
            self._notes.append("The engine plays on.")


def draw(game: Game, *, width: int, flipped: bool = False, palette: Palette | None = None) -> RenderableType:
    """Draw a game.

    :param width: columns of the terminal.
    :param flipped: whether the player's own side is at the top.
    :param palette: the colours of the terminal; None for letters.
    """
    bottom = game.color != flipped
    board = Text("\n").join(board_lines(picture_of(game.board), palette, bottom=bottom))
    lines = [_taken(game, not bottom, palette), _status(game)]
    if width < _BESIDE:
        return Group(_taken(game, bottom, palette), board, _moves(game, _MOVES_BELOW), *lines)
    sheet = Table.grid(padding=(0, 3))
    sheet.add_row(board, _moves(game, _MOVES_SHOWN))
    return Group(_taken(game, bottom, palette), sheet, *lines)


def _moves(game: Game, most: int) -> Table:
    """Return the last moves, White's and Black's side by side."""
    root = game.board.root()
    table = Table.grid(padding=(0, 2))
    sides = [*([] if root.turn else ["..."]), *game.sans()]
    pairs = [(number, sides[2 * number : 2 * number + 2]) for number in range((len(sides) + 1) // 2)]
    for number, pair in pairs[-most:]:
        table.add_row(f"{root.fullmove_number + number}.", *pair)
    return table


def _taken(game: Game, color: chess.Color, palette: Palette | None) -> Text:
    """Return the pieces that a side has lost."""
    return Text(
        "  " + " ".join(piece.symbol() if palette is None else piece.unicode_symbol() for piece in game.taken(color))
    )


def _status(game: Game) -> Text:
    if game.result is not None:
        score, reason = game.result
        verdict = {"1-0": "White wins", "0-1": "Black wins"}.get(score, "Draw")
        return Text(f"{verdict}: {score}, {reason}", "bold")
    side = "White" if game.board.turn else "Black"
    return Text(f"{side} to move{', in check' if game.board.is_check() else ''}", "bold")
