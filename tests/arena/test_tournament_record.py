"""A tournament's file: what it keeps when a process is killed, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio

from gm_arena import file_lock
from gm_arena.tournament.plan import Entrant, GameResult, Key, Round, Settings
from gm_arena.tournament.record import Record, RecordError
from tests.arena.tournaments import NAMES, Witness, all_games, hall, results, seat_all, table

SETTINGS = Settings(
    "spring",
    "cafe",
    "round-robin",
    (Entrant(4503599627370497, "ada"), Entrant(4503599627370498, "bea"), Entrant(4503599627370499, "cleo")),
    terms={"variant": "rbc", "clock": {"initial": 1.5}},
)


def filled(path: Path) -> Record:
    record = Record.create(path, SETTINGS)
    record.begin_round(Round(1, [(1, 0)]))
    record.ask_for(Key(1, 1))
    record.ask_for(Key(1, 1))
    record.game_made(Key(1, 1), 17)
    record.game_over(Key(1, 1), GameResult("1/2-1/2", "draw_repetition"))
    return record


def test_whole_record_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "tournaments" / "spring.jsonl"
    with filled(path) as first:
        pass
    with Record.open(path) as again:
        for record in (first, again):
            assert record.settings == SETTINGS
            assert record.rounds == [Round(1, [(1, 0)])]
            assert (record.asked, record.made) == ({Key(1, 1)}, {Key(1, 1): 17})
            assert record.outcomes == {Key(1, 1): GameResult("1/2-1/2", "draw_repetition")}
    assert [json.loads(line) for line in path.read_text().splitlines()][1:] == [
        {"event": "round", "round": 1, "games": [{"white": "bea", "black": "ada"}]},
        {"event": "asked", "round": 1, "game": 1},
        {"event": "game", "round": 1, "game": 1, "game_id": 17},
        {"event": "result", "round": 1, "game": 1, "result": "1/2-1/2", "reason": "draw_repetition"},
    ]
    assert list(path.parent.iterdir()) == [path]


def test_torn_last_line_is_cut_off_at_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "spring.jsonl"
    filled(path).close()
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    for cut in range(1, len(last)):
        path.write_bytes(whole[:-cut])
        with Record.open(path) as record:
            assert record.outcomes == {}
            assert record.made == {Key(1, 1): 17}
            record.game_over(Key(1, 1), GameResult("1/2-1/2", "draw_repetition"))
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not a tournament's record: "),
        ("{}\n", "is not a tournament's record: KeyError('event')"),
        ('{"event": "round"}\n', "it does not begin with a tournament"),
        ('{"event": "tournament", "version": 1}\n', "version: 1 is not 2"),
        ("[1]\n", "is not a tournament's record: "),
    ],
)
def test_file_that_is_no_record_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "spring.jsonl"
    path.write_text(text)
    with pytest.raises(RecordError) as caught:
        Record.open(path)
    assert words in str(caught.value)
    assert path.read_text() == text


def test_record_has_one_process_at_a_time_and_is_never_begun_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lock, "PATIENCE_SECONDS", 0)
    path = tmp_path / "spring.jsonl"
    with pytest.raises(RecordError, match="does not exist: leave out --resume to begin a tournament"):
        Record.open(path)
    with filled(path):
        with pytest.raises(RecordError, match="another gmd tournament process is running it"):
            Record.open(path)
        with pytest.raises(RecordError, match="exists already: continue it with --resume"):
            Record.create(path, SETTINGS)
    Record.open(path).close()
    assert list(tmp_path.iterdir()) == [path]


class Killed(BaseException):
    """A kill as by SIGKILL: nothing runs after it."""


class Mortal(Record):
    """A record whose process is killed before it writes more than so many lines."""

    lives = 1

    def _append(self, line: object) -> None:
        if self.lives == 0:
            raise Killed
        self.lives -= 1
        super()._append(line)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "players", "games"),
    [
        pytest.param({"format": "round-robin"}, 3, 3, id="round robin"),
    ],
)
async def test_tournament_killed_before_every_line_ends_with_the_same_games(
    tmp_path: Path, settings: dict[str, object], players: int, games: int
) -> None:
    """Each process writes one line, after the first, and the last one ends the tournament: the action after a line has
    been carried out, but no line says so.
    """
    names = NAMES[:players]
    async with hall(tmp_path, *names) as house:
        seat_all(house, names)
        await house.gathered(*names)
        (await house.begin(names, **settings)).close()
        killed = 0
        with trio.fail_after(60):
            while True:
                record = Mortal.open(tmp_path / "spring.jsonl")
                try:
                    await house.direct(record)
                    break
                except Killed:
                    killed += 1
        assert killed == len((tmp_path / "spring.jsonl").read_text().splitlines()) - 2
        whole = await _undisturbed(tmp_path / "other", names, settings)
        assert (results(record), table(record)) == whole
        assert len(await all_games(house)) == games


async def _undisturbed(tmp_path: Path, names: tuple[str, ...], settings: dict[str, object]) -> tuple[object, str]:
    async with hall(tmp_path, *names) as house:
        seat_all(house, names)
        record = await house.direct(await house.begin(names, **settings), Witness())
        return results(record), table(record)
