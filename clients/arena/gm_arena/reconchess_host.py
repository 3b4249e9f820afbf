"""The process that runs a reconchess bot: ``python -m gm_arena.reconchess_host BOT``.

Loads the bot as reconchess does, also a :class:`gm_recon.Player`, and runs its turns by reconchess's own ``play_turn``,
so that it is called as in a ``play_local_game``. Questions about the game go to the parent, as JSON objects, one a
line, over the process's original standard streams. The bot's own output goes to standard error.

    parent -> host                                  host -> parent
                                                    {"loaded": name of the bot's class}
    {"begin": {color, fen, opponent}}               {"done": true}
    {"turn": {capture, senses, moves, seconds}}     {"sense": square or null}
    {"sensed": {result, seconds}}                   {"move": UCI or null}
    {"moved": {taken, capture}}                     {"done": true}
    {"end": GameHistory}                            {"done": true}

Each message of the host may be replaced by ``{"failed": traceback}``, after which the host ends; the first one also by
``{"missing": description}``.

It ends with its parent, however the parent ends and whatever the bot is doing.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import pkgutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import Any

import chess
from chess import Move, Piece, Square
from reconchess import Game, load_player, play_turn

from gm_client.rbc import read_move, read_sense, read_square
from gm_recon import Player, read_json
from gm_recon.player import tell_end

from .stockfish import say_where

Json = dict[str, Any]

#: Seconds that a bot goes on after its parent has closed the pipe. A parent that still runs ends it sooner.
ORPHAN_SECONDS = 5.0


class Channel:
    """Lines to and from the parent."""

    def __init__(self) -> None:
        """Take over the standard streams, before the bot can use them."""
        self._from_parent = os.dup(0)
        self._received: SimpleQueue[bytes | None] = SimpleQueue()
        self._to_parent = os.fdopen(os.dup(1), "w", encoding="utf-8")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        # A thread reads, since a bot that is thinking does not: otherwise it would think on after its parent has gone.
        Thread(target=self._listen, name="gm_arena parent", daemon=True).start()

    def _listen(self) -> None:
        """Read lines from the parent until it closes; then end the bot and what it has started."""
        rest = b""
        while chunk := os.read(self._from_parent, 1 << 16):  # no file object: its lock would be held as Python ends
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._received.put(line)
        self._received.put(None)
        time.sleep(ORPHAN_SECONDS)
        if os.getpgrp() == os.getpid():  # true when BotProcess started it
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    def send(self, **message: Any) -> None:
        """Send one message."""
        self._to_parent.write(json.dumps(message) + "\n")
        self._to_parent.flush()

    def receive(self) -> Json:
        """Receive one message.

        :raises EOFError: the parent has closed the pipe.
        """
        line = self._received.get()
        if line is None:
            raise EOFError
        message: Json = json.loads(line)
        return message

    def ask(self, **message: Any) -> Any:
        """Send a message and return the parent's answer."""
        self.send(**message)
        ((_, answer),) = self.receive().items()
        return answer


class ServedGame(Game):  # type: ignore[misc]
    """One turn of a game on a server, for ``play_turn``. It refuses what ``LocalGame`` does, in the same words."""

    def __init__(self, channel: Channel, turn: Json) -> None:
        self._channel = channel
        self._capture = read_square(turn["capture"])
        self._senses = [chess.parse_square(name) for name in turn["senses"]]
        self._moves = [Move.from_uci(uci) for uci in turn["moves"]]
        self._out_of_time = math.inf
        self._set_clock(turn["seconds"])

    def _set_clock(self, seconds: float | None) -> None:
        """Set the seconds left on the server. It rounds, and charges no network time: here they only ever decrease."""
        if seconds is not None:
            self._out_of_time = min(self._out_of_time, time.monotonic() + seconds)

    def get_seconds_left(self) -> float:
        return self._out_of_time - time.monotonic()

    def sense_actions(self) -> list[Square]:
        return self._senses.copy()

    def move_actions(self) -> list[Move]:
        return self._moves.copy()

    def opponent_move_results(self) -> Square | None:
        return self._capture

    def sense(self, square: Square | None) -> list[tuple[Square, Piece | None]]:
        if square is not None and square not in self._senses:
            raise ValueError(f"LocalGame::sense({square}): {square} is not a valid square.")
        sensed = self._channel.ask(sense=None if square is None else int(square))
        self._set_clock(sensed["seconds"])
        return [(square, piece) for square, piece in read_sense(sensed["result"])]

    def move(self, requested_move: Move | None) -> tuple[Move | None, Move | None, Square | None]:
        if requested_move is not None and not self._may_be_asked(requested_move):
            raise ValueError(f"Requested move {requested_move} was not in move_actions()")
        moved = self._channel.ask(move=None if requested_move is None else requested_move.uci())
        return requested_move, read_move(moved["taken"]), read_square(moved["capture"])

    def _may_be_asked(self, move: Move) -> bool:
        """Return whether a move is in ``move_actions``; a pawn on the last rank becomes a queen by default."""
        if move in self._moves:
            return True
        return move.promotion is None and Move(move.from_square, move.to_square, chess.QUEEN) in self._moves

    def end_turn(self) -> None:
        """Do nothing: the move has ended the turn."""


class Host:
    """A bot, and the events that it receives."""

    def __init__(self, channel: Channel, player: Player) -> None:
        self._channel = channel
        self._player = player

    def run(self) -> None:
        """Handle messages until the parent closes the pipe."""
        while True:
            ((what, content),) = self._channel.receive().items()
            getattr(self, what)(content)
            self._channel.send(done=True)

    def begin(self, game: Json) -> None:
        color = game["color"] == "white"
        self._player.handle_game_start(color, chess.Board(game["fen"]), game["opponent"])

    def turn(self, turn: Json) -> None:
        play_turn(ServedGame(self._channel, turn), self._player, end_turn_last=True)

    def end(self, saved: Json) -> None:
        record = read_json(json.dumps(saved))
        tell_end(self._player, *record)


def load(source: str) -> tuple[str, Callable[[], Player]]:
    """Return the name and the class of the player in a file or a module, as ``reconchess.load_player`` does.

    :raises RuntimeError: there is no subclass of its ``Player`` or of :class:`gm_recon.Player`, or more than one.
    """
    try:
        found: tuple[str, Callable[[], Player]] = load_player(source)
        return found
    except RuntimeError:
        is_file = os.path.exists(source)
        module = sys.modules[os.path.splitext(os.path.basename(source))[0] if is_file else source]
        ours = inspect.getmembers(
            module, lambda each: inspect.isclass(each) and Player in each.__mro__ and each is not Player
        )
        if len(ours) != 1:
            raise
        return ours[0]


def what_is_missing(source: str, error: ModuleNotFoundError) -> str | None:
    """Return what is wrong with a bot's name, in words; None if a module that the bot imports is missing."""
    name = error.name or ""
    if os.path.exists(source) or not f"{source}.".startswith(f"{name}."):
        return None
    if source.endswith(".py") or os.sep in source:
        return f"there is no file {source}"
    parent, _, last = name.rpartition(".")
    siblings = pkgutil.iter_modules(import_module(parent).__path__) if parent else pkgutil.iter_modules()
    meant = get_close_matches(last, [module.name for module in siblings], n=1)
    hint = f"; did you mean {'.'.join(filter(None, (parent, *meant)))}?" if meant else ""
    return f"there is no module {name}{hint}"


def run(make_host: Callable[[Channel, Player], Host] = Host) -> int:
    """Load the bot that the command line names, and run it; return the exit status."""
    channel, source = Channel(), sys.argv[1]
    sys.path.append(os.getcwd())  # last, so that files there do not replace Python's own modules
    say_where()
    try:
        name, make = load(source)
        player = make()
        channel.send(loaded=name)
        make_host(channel, player).run()
    except EOFError:
        return 0
    except ModuleNotFoundError as error:
        missing = what_is_missing(source, error)
        channel.send(**({"failed": traceback.format_exc()} if missing is None else {"missing": missing}))
        return 1
    except BaseException:  # a bot may also exit
        channel.send(failed=traceback.format_exc())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run())
