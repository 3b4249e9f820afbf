"""The record of a tournament: a file of JSON lines, each durable before the action that follows it.

The first line has the tournament's settings; the others are rounds begun, games requested from the daemon, games that
it has made, and results. The daemon knows a game by a token of its round, its number and the tournament's random id:
so a command that was killed between requesting a game and recording its id requests the same game again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Self

from ..file_lock import lock
from .plan import Entrant, GameResult, Key, Round, Settings

#: The version of the file's format.
VERSION = 2


class RecordError(Exception):
    """There is no such file, or it cannot be continued; the text says what to do."""


class Record:
    """A tournament's file, opened by one process at a time.

    :ivar settings: the settings of the tournament.
    :ivar rounds: the rounds that have begun, in order.
    :ivar asked: the games that were requested from the daemon, made or not.
    :ivar made: the id of each game that the daemon is known to have made.
    :ivar outcomes: the results so far.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        """Read a record.

        :raises RecordError: the file is not a tournament's record.
        """
        self.path = path
        self._file = file
        self.rounds: list[Round] = []
        self.asked: set[Key] = set()
        self.made: dict[Key, int] = {}
        self.outcomes: dict[Key, GameResult] = {}
        whole, _, torn = file.read().rpartition(b"\n")
        try:
            first, *others = [json.loads(line) for line in whole.splitlines()]
            self.settings = _read_settings(first)
            self._numbers = {entrant.name: number for number, entrant in enumerate(self.settings.players)}
            for line in others:
                self._take(line)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise RecordError(f"{path} is not a tournament's record: {error!r}") from None
        if torn:  # the command was killed while writing this line: nothing followed it
            file.truncate(len(whole) + 1)
        file.seek(0, os.SEEK_END)

    @classmethod
    def create(cls, path: Path, settings: Settings) -> Self:
        """Create the record of a new tournament.

        :raises RecordError: there is one already, or the file cannot be written.
        """
        first = {"event": "tournament", "version": VERSION, **asdict(settings)}
        first["players"] = [entrant._asdict() for entrant in settings.players]
        part = path.with_name(f"{path.name}.{settings.id}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with part.open("xb") as file:
                _write(file, first)
            os.link(part, path)
            _sync_directory(path.parent)
        except FileExistsError:
            raise RecordError(f"{path} exists already: continue it with --resume, or choose another name") from None
        except OSError as error:
            raise RecordError(f"{path} cannot be written: {error.strerror}") from None
        finally:
            part.unlink(missing_ok=True)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the record of a tournament to continue it.

        :raises RecordError: there is none, or another process has it open.
        """
        try:
            file = path.open("r+b")
        except FileNotFoundError:
            raise RecordError(f"{path} does not exist: leave out --resume to begin a tournament") from None
        except OSError as error:
            raise RecordError(f"{path} cannot be opened: {error.strerror}") from None
        try:
            if not lock(file):
                raise RecordError(f"{path}: another gmd tournament process is running it")
            return cls(path, file)
        except BaseException:
            file.close()
            raise

    def close(self) -> None:
        """Close the file, so that other processes can open it."""
        with suppress(OSError):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- What happens -------------------------------------------------------------------------------------------

    def begin_round(self, begun: Round) -> None:
        """Record the pairings of a round."""
        names = [entrant.name for entrant in self.settings.players]
        games = [{"white": names[white], "black": names[black]} for white, black in begun.pairings]
        self._append({"event": "round", "round": begun.number, "games": games})

    def ask_for(self, key: Key) -> None:
        """Record that the daemon is about to be asked for a game."""
        if key not in self.asked:
            self._append({"event": "asked", "round": key.round, "game": key.number})

    def game_made(self, key: Key, game_id: int) -> None:
        """Record that the daemon has made a game."""
        self._append({"event": "game", "round": key.round, "game": key.number, "game_id": game_id})

    def game_over(self, key: Key, outcome: GameResult) -> None:
        """Record the result of a game."""
        self._append({"event": "result", "round": key.round, "game": key.number, **outcome._asdict()})

    def _append(self, line: Mapping[str, Any]) -> None:
        _write(self._file, line)
        self._take(line)

    def _take(self, line: Mapping[str, Any]) -> None:
        """Apply a line to the state."""
        match line["event"]:
            case "round":
                number = self._numbers.__getitem__
                games = [(number(game["white"]), number(game["black"])) for game in line["games"]]
                self.rounds.append(Round(line["round"], games))
            case "asked":
                self.asked.add(Key(line["round"], line["game"]))
            case "game":
                self.made[Key(line["round"], line["game"])] = line["game_id"]
            case "result":
                self.outcomes[Key(line["round"], line["game"])] = GameResult(line["result"], line["reason"])
            case other:
                raise ValueError(f"event: {other!r}")


def _read_settings(line: Mapping[str, Any]) -> Settings:
    fields = dict(line)
    if fields.pop("event") != "tournament":
        raise ValueError("it does not begin with a tournament")
    if (version := fields.pop("version")) != VERSION:
        raise ValueError(f"version: {version} is not {VERSION}")
    players = tuple(Entrant(player["id"], player["name"]) for player in fields.pop("players"))
    return Settings(players=players, **fields)


def _write(file: IO[bytes], line: Mapping[str, Any]) -> None:
    """Write a line durably."""
    file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
