"""The dialogue of a game of blind chess: it draws, asks and acts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import chess
from chess import Move
from rich.console import Console

from gm_arena.board_drawing import Picture, palette_of
from gm_bots.minimax.play.prompt import NotUnderstood, Word, read_color
from gm_client.blocking import ConnectionLost, GameState
from gm_client.chess_client import Turn
from gm_client.rbc import own_board, read_move, read_square
from gm_recon import WinReason, read_json

from . import prompt, words
from .match import Match, saved
from .memory import Memory
from .view import Scene, draw, suspected, title_of, truth

T = TypeVar("T")

_LAST_QUESTION = "The game is over: 'new' begins another, 'save' keeps this one for gmd replay, anything else leaves. "


class Quit(Exception):
    """The player wants to leave."""


class NewGame(Exception):
    """The player wants another game.

    :ivar color: the colour that the player wants; None for the one chosen at first.
    """

    def __init__(self, color: chess.Color | None) -> None:
        super().__init__()
        self.color = color


class BlindTerminalGame:
    """Plays one game after the other, until the player leaves."""

    def __init__(self, begin: Callable[[chess.Color | None], Match], console: Console, opponent: str) -> None:
        """:param begin: begins a game; its argument is the player's colour, None for the one chosen at first.
        :param opponent: the bot's name before it has started.
        """
        self._begin, self._console, self._opponent = begin, console, opponent
        self._palette = palette_of(console)
        self._flipped = False
        self._notes: list[str] = []

    def play(self) -> bool:
        """Play until a game has ended and no other follows; return False if the player left before.

        :raises BotFailed: the bot does not start.
        """
        color: chess.Color | None = None
        while True:
            try:
                with self._console.status(f"{self._opponent} gets ready"):
                    match = self._begin(color)
                with match:
                    self._play_one(match)
                    return True
            except NewGame as wanted:
                color = wanted.color
            except (Quit, EOFError, KeyboardInterrupt):
                return False

    def _play_one(self, match: Match) -> None:
        """Play one game to its end, and ask what to do then."""
        self._match, self._memory = match, Memory(match.start, match.color)
        self._story: list[str] = []
        side = "White" if match.color else "Black"
        self._notes = [f"You are {side}, against {match.opponent}. 'help' says how blind chess is played."]
        turns = match.turns()
        try:
            while (turn := self._next(turns)) is not None:
                self._take(turn)
        except ConnectionLost:
            raise Quit from None
        assert match.over is not None
        self._end(match.over)

    def _next(self, turns: Iterator[Turn]) -> Turn | None:
        """Return the player's next turn, once the bot has moved; None where the game is over."""
        with self._console.status(f"{self._match.opponent} thinks; Ctrl-C leaves"):
            return next(turns, None)

    # --- A turn ---------------------------------------------------------------------------------------------------

    def _take(self, turn: Turn) -> None:
        memory, state = self._memory, turn.state
        lost_on = read_square(state.get("opponent_capture"))
        if state["ply_index"]:
            self._tell(words.of_opponent(memory.own, lost_on))
        memory.turn_begins(own_board(state), lost_on)
        if self._sense(turn):
            self._move(turn)

    def _sense(self, turn: Turn) -> bool:
        """Ask until there is a sense; return whether the turn goes on."""
        while True:
            meant = self._ask("sense", "Sense around: ", prompt.read_sense)
            if isinstance(meant, Word):
                if self._obey(meant, turn):
                    return False
                continue
            square = None if meant == prompt.PASS else meant
            cells = turn.sense(square)
            if turn.state["phase"] == "over":  # the bot has resigned meanwhile
                return False
            self._memory.saw(cells)
            self._tell(words.of_sense(square, cells, self._memory.color), number=True)
            return True

    def _move(self, turn: Turn) -> None:
        """Ask until there is a move."""
        memory, actions = self._memory, [Move.from_uci(uci) for uci in turn.move_actions]
        while True:
            meant = self._ask("move", "Your move: ", lambda text: prompt.read_move(text, memory.own, actions))
            if isinstance(meant, Word):
                if self._obey(meant, turn):
                    return
                continue
            requested = None if meant == prompt.PASS else meant
            moved = turn.move(None if requested is None else requested.uci())
            taken, capture = read_move(moved.get("taken_move")), read_square(moved.get("capture_square"))
            self._tell(words.of_move(memory.own, requested, taken, capture))
            memory.moved(requested, taken, capture)
            self._show(title_of(memory, self._match.opponent, "your opponent's turn"), self._suspected())
            return

    def _tell(self, sentence: str, *, number: bool = False) -> None:
        self._story.append(f"{self._memory.turn}. {sentence}" if number else sentence)

    def _ask(self, due: str, question: str, read: Callable[[str], T]) -> T:
        """Show the board, and ask until the input is understood."""
        while True:
            self._show(title_of(self._memory, self._match.opponent, due), self._suspected())
            try:
                return read(self._console.input(question, markup=False))
            except NotUnderstood as error:
                self._notes.append(str(error))

    # --- Commands ----------------------------------------------------------------------------------------------------

    def _obey(self, word: Word, turn: Turn) -> bool:
        """Carry out a command; return whether it ends the game."""
        try:
            match word.name:
                case "moves":
                    actions = [Move.from_uci(uci) for uci in turn.move_actions]
                    self._notes.append(prompt.listed(self._memory.own, actions, word.argument))
                case "resign":
                    turn.resign()
                    return True
                case "new":
                    raise NewGame(read_color(word.argument))
                case "flip":
                    self._flipped = not self._flipped
                case "help":
                    legend = prompt.COLORED_LEGEND if self._palette else prompt.LETTERED_LEGEND
                    described = [f"  {name:8}{what}" for name, what in prompt.WORDS.items()]
                    self._notes += [*prompt.HELP, *legend, *described]
                case _:
                    raise Quit
        except NotUnderstood as error:
            self._notes.append(str(error))
        return False

    # --- The end --------------------------------------------------------------------------------------------------

    def _end(self, state: GameState) -> None:
        """Show the true position and the result, and ask what the player wants next."""
        last, king = self._last_move()
        if self._match.failure is not None:
            self._notes.append(f"The bot failed: {self._match.failure}")
        title = words.of_end(state["result"], state["termination"])
        picture = truth(chess.Board(state["fen"]), last, king)
        self._notes.append("This is the true position.")
        while True:
            self._show(title, picture)
            try:
                name, _, argument = self._console.input(_LAST_QUESTION, markup=False).strip().partition(" ")
                if name.lower() in ("new", "reset"):
                    raise NewGame(read_color(argument))
                if name.lower() != "save":
                    return
                self._save(argument.strip())
            except NotUnderstood as error:
                self._notes.append(str(error))
            except EOFError:
                return

    def _last_move(self) -> tuple[Move | None, chess.Square | None]:
        """Return the game's last move, and where it captured a king; add that capture to the story."""
        history = read_json(saved(self._match.history())).history
        if not history.turns:
            return None, None
        last = history.turns[-1]
        if history.win_reason != WinReason.KING_CAPTURE or last.taken is None or last.capture_square is None:
            return last.taken, None
        self._tell(words.of_kings_end(last.capture_square, last.taken, history.winner == self._memory.color))
        return last.taken, last.capture_square

    def _save(self, name: str) -> None:
        path = Path(name or f"blind-{datetime.now():%Y%m%d-%H%M%S}.json")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(saved(self._match.history()))
        except OSError as error:
            self._notes.append(f"{path} cannot be written: {error.strerror}.")
            return
        self._notes.append(f"The game is in {path}. To step through it: gmd replay {path}")

    # --- What is drawn --------------------------------------------------------------------------------------------

    def _suspected(self) -> Picture:
        return suspected(self._memory, self._palette)

    def _show(self, title: str, picture: Picture) -> None:
        """Show the board, in place of the last one on a terminal, and the notes below it."""
        if self._console.is_terminal:
            self._console.clear()
        scene = Scene(title, picture, self._story, self._memory.color != self._flipped)
        self._console.print(draw(scene, self._palette, width=self._console.width))
        for note in self._notes:
            self._console.print(note, markup=False, highlight=False)
        self._notes.clear()
