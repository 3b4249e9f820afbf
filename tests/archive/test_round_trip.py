"""Games exported from one log and imported into another are the same byte for byte, and no game is damaged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gmd.archive.files import ImportOptions, read_games, write_line, write_pgn_game
from gmd.archive.games import BadGame, Importer
from gmd.event_log.checking import problem_of
from gmd.event_log.interface import TokenUse
from gmd.event_log.migrations import migrate
from gmd.event_log.reading import GameFilter, LogReader
from gmd.event_log.sqlite import SqliteStore, open_engine
from gmd.event_log.store import GameAppend
from gmd.games.chess import ChessGame
from gmd.games.events import AnyEvent
from gmd.games.game import Game
from gmd.games.replay import replay
from gmd.games.variants import make_game
from tests.archive.histories import blind_histories, histories
from tests.proofs import cases

pytestmark = pytest.mark.slow

History = tuple[ChessGame, list[AnyEvent]]
AnyHistory = tuple[Game, list[AnyEvent]]


class Log:
    """A log in a directory."""

    def __init__(self, directory: Path) -> None:
        self.engine = open_engine(directory / "games.sqlite", {"synchronous": "OFF"})
        migrate(self.engine)
        self.store = SqliteStore(self.engine)

    def lines(self) -> bytes:
        return b"".join(write_line(stored, {}) for stored in LogReader(self.engine).games(GameFilter()))

    def problems(self) -> list[str]:
        return [problem for stored in LogReader(self.engine).everything() if (problem := problem_of(stored))]


def write_history(store: SqliteStore, game_id: int, history: AnyHistory) -> None:
    """Write a game as a daemon does: append by append, each with the game's summary at that moment."""
    _, events = history
    again = make_game(events[0])  # type: ignore[arg-type]
    token = TokenUse(1, b"%d" % game_id, b"content") if game_id % 2 else None
    written = 0
    for seq, event in enumerate(events):
        if seq:
            again.apply(event)
        # One player may hold both seats; its first contact then concerns both at once, and a log never separates these
        # events.
        if event.__class__ is not events[min(seq + 1, len(events) - 1)].__class__ or seq == len(events) - 1:
            some = events[written : seq + 1]
            append = GameAppend(game_id, written, some, again.summary(), None if written else token)
            store.write([append], [])
            written = seq + 1


@settings(max_examples=cases(12))
@given(st.lists(histories() | blind_histories(), max_size=6), st.sets(st.integers(1, 30), min_size=6, max_size=6))
def test_exported_games_import_unchanged_and_undamaged(games: Sequence[AnyHistory], ids: set[int]) -> None:
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        first, second = Log(Path(one)), Log(Path(other))
        for game_id, history in zip(sorted(ids), games, strict=False):
            write_history(first.store, game_id, history)
        assert first.problems() == []
        file = Path(one) / "games.jsonl"
        file.write_bytes(first.lines())
        for found in ["imported"] * len(games), ["there"] * len(games):
            assert imported(second.store, file) == found
        assert second.lines() == first.lines()
        assert second.problems() == []
        for game_id in ids:
            token = (1, b"%d" % game_id)
            assert second.store.made_under(*token) == first.store.made_under(*token)
        for log in (first, second):
            log.engine.dispose()


def imported(store: SqliteStore, file: Path) -> list[object]:
    """Return what the importer did with each game of a file."""
    importer = Importer(store, 100)
    found: list[object] = []
    for where, game in read_games(file, "jsonl", ImportOptions(), lambda _: None):
        assert not isinstance(game, BadGame), (where, game)
        found.append(importer.add(game.game))
    importer.flush()
    return found


@given(histories())
def test_game_written_as_pgn_is_read_with_the_same_moves(history: History) -> None:
    with TemporaryDirectory() as directory:
        log = Log(Path(directory))
        write_history(log.store, 1, history)
        (stored,) = LogReader(log.engine).games(GameFilter())
        file = Path(directory) / "games.pgn"
        file.write_bytes(write_pgn_game(stored, {}) * 2)
        games = list(read_games(file, "pgn", ImportOptions(0, 0), lambda _: None))
        log.engine.dispose()
    assert [where for where, _ in games] == [f"{file}, game {number}" for number in (1, 2)]
    for _, game in games:
        assert not isinstance(game, BadGame), game
        again = replay(1, game.game.append.events)
        assert isinstance(again, ChessGame)
        assert again.moves == history[0].moves
        assert again.players == tuple(0 if player is None else player for player in history[0].named)
        assert again.options.fen == history[0].options.fen
