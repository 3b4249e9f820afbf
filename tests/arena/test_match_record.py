"""The file in which a match is recorded, and from which it resumes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gm_arena import file_lock
from gm_arena.match.record import RecordFile, RecordUnusable, read

ARGUMENTS = {"bots": ["a", "b"], "games": 4, "clock": {"initial": 1.0}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "match.jsonl"


def begun(path: Path, games: int) -> None:
    record = RecordFile.begin(path, ARGUMENTS)
    for number in range(1, games + 1):
        record.add({"game": number, "white": "ä"})
    record.close()


def test_written_record_is_read_back(path: Path) -> None:
    begun(path, 3)
    header, records, end = read(path)
    assert header == {"match": 2, "arguments": ARGUMENTS, "contest": header["contest"]}
    assert len(header["contest"]) == 32
    assert [record["game"] for record in records] == [1, 2, 3]
    assert end == path.stat().st_size


def test_record_is_never_overwritten(path: Path) -> None:
    begun(path, 1)
    with pytest.raises(RecordUnusable, match="exists already: continue it with --resume"):
        RecordFile.begin(path, ARGUMENTS)


def test_match_without_games_may_be_begun_again(path: Path) -> None:
    begun(path, 0)
    begun(path, 1)
    assert [record["game"] for record in read(path)[1]] == [1]
    path.write_text("my diary")
    with pytest.raises(RecordUnusable, match="exists already"):
        RecordFile.begin(path, ARGUMENTS)
    assert path.read_text() == "my diary"


def test_two_matches_cannot_write_one_record(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_lock, "PATIENCE_SECONDS", 0)
    first = RecordFile.begin(path, ARGUMENTS)
    for begin in (RecordFile.begin, RecordFile.resume):
        with pytest.raises(RecordUnusable, match=r"match\.jsonl is being written by another running match"):
            begin(path, ARGUMENTS)
    first.close()
    RecordFile.resume(path, ARGUMENTS).close()


def test_full_disk_is_reported(path: Path) -> None:
    with pytest.raises(RecordUnusable, match="/dev/full cannot be written: No space left on device"):
        RecordFile.begin(Path("/dev/full"), ARGUMENTS)


def test_record_resumes_from_any_cut(path: Path) -> None:
    """A crash may leave any part of the last line; the record also resumes after a summary."""
    begun(path, 3)
    whole = path.read_bytes()
    starts = [len(line) for line in whole.splitlines(keepends=True)]
    for cut in range(starts[0], len(whole) + 1):
        path.write_bytes(whole[:cut])
        record = RecordFile.resume(path, ARGUMENTS)
        kept = sum(cut >= sum(starts[: games + 1]) for games in (1, 2, 3))
        assert [game["game"] for game in record.records] == list(range(1, kept + 1))
        for number in range(kept + 1, 4):
            record.add({"game": number, "white": "ä"})
        record.finish({"games": 3})
        record.close()
        assert path.read_bytes() == whole + b'{"summary":{"games":3}}\n'
    again = RecordFile.resume(path, ARGUMENTS)
    again.close()
    assert path.read_bytes() == whole


def test_resume_without_a_file_begins_a_record(path: Path) -> None:
    RecordFile.resume(path, ARGUMENTS).close()
    assert read(path)[1] == []


def test_record_of_another_match_does_not_resume(path: Path) -> None:
    begun(path, 1)
    with pytest.raises(RecordUnusable, match=r"belongs to another match: its clock is \{\"initial\": 1.0\}, not null"):
        RecordFile.resume(path, {**ARGUMENTS, "clock": None})
    path.write_text(json.dumps({"match": 2, "arguments": {"bots": ["a", "b"]}}) + "\n")
    with pytest.raises(RecordUnusable, match="its games is null, not 4") as caught:
        RecordFile.resume(path, ARGUMENTS)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["", "hello\n", '{"match": 1}\n', "[1]\n", '{"game": 1}\n'])
def test_file_that_is_no_record_is_refused(text: str, path: Path) -> None:
    path.write_text(text)
    with pytest.raises(RecordUnusable, match="is not a match's record"):
        read(path)
    with pytest.raises(RecordUnusable, match="cannot be written: No such file or directory"):
        RecordFile.begin(path.parent / "no" / "such", ARGUMENTS)
