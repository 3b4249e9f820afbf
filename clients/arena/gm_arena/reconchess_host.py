"""The process that runs a reconchess bot: ``python -m gm_arena.reconchess_host BOT``.

Loads the bot as reconchess does, also a :class:`gm_recon.Player`, and runs its turns by ``gm_recon.player.play_turn``,
so that it is called as in a ``play_local_game``. Only a bot that imports reconchess needs that package. Questions about
the game go to the parent, as JSON objects, one a line, over the process's original standard streams. The bot's own
output goes to standard error.

    parent -> host                                  host -> parent
                                                    {"loaded": name of the bot's class}
    {"begin": {color, fen, opponent}}               {"done": true}
    {"turn": {state, senses, moves}}                {"sense": square or null}
    {"sensed": {state, result}}                     {"move": UCI or null}
    {"moved": reply}                                {"done": true}
    {"end": GameHistory}                            {"done": true}

Each message of the host may be replaced by ``{"failed": description, "fault": kind, "details": traceback}``, after
which the host ends; the first one also by ``{"missing": description}``.

It ends with its parent, however the parent ends and whatever the bot is doing.
"""

from __future__ import annotations

import inspect
import json
import os
import signal
import sys
import time
import traceback
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from types import ModuleType
from typing import Any

import chess
from chess import Move, Piece, Square

from gm_client.blocking import Color, GameState, MoveReply
from gm_client.rbc import read_sense
from gm_client.running import IllegalAction, ServerTurn
from gm_recon import Player, read_json
from gm_recon.player import play_turn, tell_end

from .bot import BotUnusable
from .extras import how_to_install
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


class ServedTurn:
    """One turn on a server that the parent asks, as a :class:`gm_client.running.SeatTurn`."""

    def __init__(self, channel: Channel, color: Color, turn: Json) -> None:
        self._channel, self.color = channel, color
        self.state: GameState = turn["state"]
        self.sense_actions: list[str] = turn["senses"]
        self.move_actions: list[str] = turn["moves"]

    def sense(self, square: Square | None) -> list[tuple[Square, Piece | None]]:
        sensed = self._channel.ask(sense=square)
        self.state = sensed["state"]
        return [(square, piece) for square, piece in read_sense(sensed["result"])]

    def move(self, move: Move | None) -> MoveReply:
        moved: MoveReply = self._channel.ask(move=None if move is None else move.uci())
        return moved


def serve(channel: Channel, player: Player) -> None:
    """Pass the parent's messages on to a player, until the parent closes the pipe.

    :raises EOFError: it has.
    """
    color: Color = "white"
    while True:
        ((what, content),) = channel.receive().items()
        match what:
            case "begin":
                color = content["color"]
                player.handle_game_start(color == "white", chess.Board(content["fen"]), content["opponent"])
            case "turn":
                game = ServerTurn(ServedTurn(channel, color, content))
                play_turn(game, player, game.seconds_left)
            case _:  # the end
                tell_end(player, *read_json(json.dumps(content)))
        channel.send(done=True)


def load(source: str) -> type[Player]:
    """Return the player in a file or a module: a subclass of :class:`gm_recon.Player` or of reconchess's ``Player``.

    :param source: as for ``reconchess.load_player``; of several players ``source:CLASS`` names one, or else a function
        ``get_player`` of the module does, as in reconchess.
    :raises BotUnusable: there is no such file, module or player, or there are several; or reconchess is missing.
    """
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # last, so that files there do not replace Python's own modules
    say_where()
    where, _, wanted = (source, "", "") if os.path.exists(source) else source.partition(":")
    found = _players_in(module := _imported(where))
    if not wanted and len(found) > 1 and inspect.isfunction(choose := getattr(module, "get_player", None)):
        chosen: type[Player] = choose()
        return chosen
    if wanted in found:
        return found[wanted]
    if not wanted and len(found) == 1:
        return next(iter(found.values()))
    names = f"{', '.join(found)}" if found else "none"
    if wanted:
        raise BotUnusable(f"{where} has no player {wanted}; its players: {names}")
    if not found:
        raise BotUnusable(f"{where} has no subclass of gm_recon.Player or reconchess.Player")
    raise BotUnusable(f"{where} has several players: {names}; name one, as in {where}:{next(iter(found))}")


def _players_in(module: ModuleType) -> dict[str, type[Player]]:
    bases = {Player, getattr(sys.modules.get("reconchess"), "Player", Player)}
    return dict(
        inspect.getmembers(
            module, lambda each: inspect.isclass(each) and each not in bases and not bases.isdisjoint(each.__mro__)
        )
    )


def _imported(where: str) -> ModuleType:
    """Return the module of a file, or of this name.

    :raises BotUnusable: there is none, or it needs reconchess, which is missing.
    """
    name = where
    if os.path.exists(where):
        sys.path.insert(0, os.path.dirname(os.path.abspath(where)))
        name = os.path.splitext(os.path.basename(where))[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (missing := _what_is_missing(where, error)) is None:
            raise
        raise BotUnusable(missing) from None


def _what_is_missing(where: str, error: ModuleNotFoundError) -> str | None:
    """Return what is wrong with a bot's name, in words; None if a module that the bot imports is missing."""
    name = error.name or ""
    if name == "reconchess":
        return f"it needs the package reconchess: {how_to_install('reconchess')}"
    if os.path.exists(where) or not f"{where}.".startswith(f"{name}."):
        return None
    if where.endswith(".py") or os.sep in where:
        return f"there is no file {where}"
    return f"there is no module {name}"


def run() -> int:
    """Load the bot that the command line names, and run it; return the exit status."""
    channel, source = Channel(), sys.argv[1]
    try:
        make = load(source)
        player = make()
        channel.send(loaded=make.__name__)
        serve(channel, player)
    except EOFError:
        return 0
    except BotUnusable as error:
        channel.send(missing=str(error))
        return 1
    except IllegalAction as error:
        channel.send(failed=f"chose what is not allowed: {error}", fault="illegal move")
        return 1
    except BaseException as error:  # a bot may also exit
        raised = traceback.format_exception_only(error)[-1].rstrip()
        channel.send(failed=f"raised {raised}", fault="crash", details=traceback.format_exc().rstrip())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run())
