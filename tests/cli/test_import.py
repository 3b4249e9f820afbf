"""``gmd import`` restores exported games; it reports games that cannot be imported and imports the rest."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import click
import pytest

from gmd import Config, background_daemon
from gmd.cli.import_ import import_
from gmd.games.variants import VARIANTS
from tests.cli.commands import Ran, client_of, gmd, joined, lines_of
from tests.games.test_real_games import PGN
from tests.helpers import Json


@pytest.fixture
def exported(played_data: Path, tmp_path: Path) -> Path:
    """Return a file with all games of the played data, one JSON line each."""
    file = tmp_path / "games.jsonl"
    ran = gmd("export", "--data", played_data, "--format", "jsonl", "--status", "all", "--output", file)
    assert ran == (0, "", "")
    return file


def export_again(data: Path) -> str:
    return gmd("export", "--data", data, "--format", "jsonl", "--status", "all").out


def write(file: Path, lines: list[Json]) -> Path:
    file.write_text(joined([json.dumps(line) for line in lines]))
    return file


def test_import_into_an_empty_directory_restores_the_same_export(exported: Path, tmp_path: Path) -> None:
    data = tmp_path / "new"
    assert gmd("import", "--data", data, exported) == (0, "Imported 5 games\n", "")
    assert export_again(data) == exported.read_text()
    assert gmd("check", "--data", data).status == 0
    assert gmd("import", "--data", data, exported) == (0, "Imported 0 games, 5 were there already\n", "")
    assert export_again(data) == exported.read_text()


async def test_daemon_continues_imported_games(exported: Path, tmp_path: Path) -> None:
    data = tmp_path / "new"
    gmd("import", "--data", data, exported)
    async with client_of(data) as client:
        assert (await client.ask("state", game_id=1))["state"]["termination"] == "victory_black"
        # The log has the token of this request already, so the reply names the same game.
        assert (await client.new_game(1, 2, token="first"))["game_id"] == 1
        assert (await client.play(2, "Nf3", white=1, black=1))["ply_index"] == 3
        # The file does not say which results were delivered, so a player is shown results of the last day once more.
        waiting = [(await client.ask("wait", any=True, player=1, timeout=0))["game_id"] for _ in range(3)]
        assert waiting == [1, 4, 2]
        assert (await client.new_game())["game_id"] == 6


def test_other_games_with_the_same_ids_are_conflicts_or_get_new_ids(exported: Path, tmp_path: Path) -> None:
    data = tmp_path / "new"
    lines = lines_of(exported)
    first, second, third = lines[0], lines[2], lines[3]
    mine = write(tmp_path / "mine.jsonl", [{**second, "game_id": 1}, {**third, "game_id": 7}])
    assert gmd("import", "--data", data, mine).out == "Imported 2 games\n"
    assert gmd("import", "--data", data, exported) == (
        1,
        "Imported 4 games, 1 game could not be imported\n",
        f"{exported}, line 1: the log has another game 1; --new-ids gives this one a new id\n",
    )
    more = write(tmp_path / "more.jsonl", [first, second, {**first, "game_id": 8}, {**first, "game_id": 7}])
    assert gmd("import", "--data", data, more, "--new-ids") == (
        0,
        joined(
            [
                f"{more}, line 1: game 1 is now game 9",
                f"{more}, line 4: game 7 is now game 10",
                "Imported 3 games, 1 was there already",
            ]
        ),
        "",
    )
    assert gmd("check", "--data", data).out.startswith("9 games ")


BAD: dict[str, tuple[Any, str]] = {
    "no JSON": ("{", "this is not a game: Input data was truncated"),
    "no game": ("[]", "this is not a game: Expected `object`, got `array`"),
    "no UTF-8": (b'{"game_id": "\xff"}', "this is not a game: "),
    "misspelt": ({"gameid": 5}, "this is not a game: Object contains unknown field `gameid`"),
    "id": ({"game_id": 2**52 + 1}, "this is not a game: Expected `int` <= 4503599627370496 - at `$.game_id`"),
    "no id": ({"game_id": 0}, "this is not a game: Expected `int` >= 1 - at `$.game_id`"),
    "events": (
        {"events": [{"event": "castled"}]},
        "this is not a game: Invalid value 'castled' - at `$.events[0].event`",
    ),
    "rules": ({"events": "swapped"}, "event 1 does not apply: move: 'e7e5' is not legal for white in "),
    "termination": (
        {"termination": "victory_white"},
        "termination: 'victory_white', but the events say 'victory_black'",
    ),
    "result": ({"result": "1-0"}, "result: '1-0' does not go with 'victory_black'"),
    "no end": ({"ended": None}, "ended: None does not go with 'victory_black'"),
    "end": (
        {"ended": "2026-02-30T00:00:00Z"},
        "ended: '2026-02-30T00:00:00Z' is not a time such as 2026-11-21T04:41:00Z",
    ),
    "token": (
        {"token": {"key": "", "content": ""}},
        "this is not a game: Expected `bytes` of length >= 32 - at `$.token.key`",
    ),
}


def test_bad_line_is_reported_and_the_other_lines_are_imported(exported: Path, tmp_path: Path) -> None:
    good = lines_of(exported)[0]
    texts: list[bytes] = []
    for number, (bad, _) in enumerate(BAD.values(), 100):
        if isinstance(bad, dict):
            changed = {**good, **bad}
            if bad.get("events") == "swapped":
                events = good["events"]
                changed["events"] = [events[0], events[2], events[1], *events[3:]]
            bad = json.dumps(changed)
        texts += [bad.encode() if isinstance(bad, str) else bad, json.dumps({**good, "game_id": number}).encode(), b""]
    file = tmp_path / "bad.jsonl"
    file.write_bytes(b"\n".join(texts))
    status, out, err = gmd("import", "--data", tmp_path / "new", file)
    assert (status, out) == (1, f"Imported {len(BAD)} games, {len(BAD)} games could not be imported\n")
    said = err.splitlines()
    for number, (line, (_, why)) in enumerate(zip(said, BAD.values(), strict=True)):
        expected = f"{file}, line {3 * number + 1}: {why}"
        assert line[: len(expected)] == expected
    assert gmd("check", "--data", tmp_path / "new").status == 0


def import_pgn(data: Path, *files: object) -> Ran:
    return gmd("import", "--data", data, *files)


@pytest.mark.slow
async def test_real_pgn_files_become_live_games(tmp_path: Path) -> None:
    files = sorted(PGN.glob("*.pgn"))
    seats = ["--white", 1, "--black", 2]
    assert import_pgn(tmp_path, *seats, *files) == (0, "Imported 8 games\n", "")
    assert gmd("check", "--data", tmp_path).status == 0
    async with client_of(tmp_path) as client:
        rows = (await client.ask("games"))["games"]
        assert [row["ply_index"] for row in reversed(rows)] == [80, 89, 89, 95, 111, 98, 37, 87]
        assert {(row["player_white"], row["player_black"], row["status"]) for row in rows} == {(1, 2, "live")}
        loaded = await client.new_game(pgn=files[0].read_text())
        theirs, ours = loaded["state"], (await client.ask("state", game_id=1))["state"]
        assert ours | {"game_id": theirs["game_id"]} == theirs


def test_imported_pgn_games_follow_their_headers_and_moves(tmp_path: Path) -> None:
    file = tmp_path / "games.txt"
    file.write_text(
        joined(
            [
                '[White "5"]\n[Black "-6"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n',
                '[White "7"]\n[Black "Anna \xe9"]\n[Variant "Crazyhouse"]\n\n1. e4 *\n',
                '[White "7"]\n[Black "8"]\n\n1. e4 e5 2. Ke3 *\n',
                '[Black "8"]\n\n1. d4 *\n',
                f'[White "{2**52}"]\n[Black "8"]\n\n1. d4 *\n',
                '[White "7"]\n[Black "8"]\n[SetUp "1"]\n[FEN "7k/5Q2/8/8/8/8/8/K7 b - - 0 1"]\n\n1/2-1/2\n',
            ]
        ),
        "latin-1",
    )
    named = import_pgn(tmp_path / "data", file, "--black", 3)
    assert (named.status, named.err.splitlines()[-1]) == (
        2,
        f"Error: {file}: its name ends in none of .pgn, .jsonl and .json; add --format",
    )
    assert import_pgn(tmp_path / "data", file, "--format", "pgn", "--black", 3) == (
        1,
        "Imported 3 games, 3 games could not be imported\n",
        joined(
            [
                f"{file}, game 3: pgn: at 2. (ply 2): move: 'Ke3' is not legal for white in "
                "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -",
                f"{file}, game 4: White: '?' is not a player id; give --white ID for this seat's player",
                f"{file}, game 5: White: 4503599627370496 is not an id that an unregistered player may have",
            ]
        ),
    )
    lines = [json.loads(line) for line in export_again(tmp_path / "data").splitlines()]
    assert [(line["game_id"], line["termination"], "ended" in line) for line in lines] == [
        (1, "victory_black", True),
        (2, "available_move", False),
        (3, "stalemate", True),
    ]
    created = [line["events"][0] for line in lines]
    assert [(one["player_white"], one["player_black"], one["result_header"]) for one in created] == [
        (5, -6, "0-1"),
        (7, 3, "*"),
        (7, 8, "1/2-1/2"),
    ]
    assert created[1]["options"]["variant"] == "crazyhouse"


def test_result_given_only_after_the_moves_is_exported_again(tmp_path: Path) -> None:
    file, data = tmp_path / "games.pgn", tmp_path / "data"
    file.write_text('1. e4 e5 1-0\n\n[White "5"]\n\n1. d4 1/2\n\n1. c4 *\n')
    assert import_pgn(data, file, "--white", 1, "--black", 2) == (0, "Imported 3 games\n", "")
    out = gmd("export", "--data", data, "--status", "all").out
    assert [line for line in out.splitlines() if line.startswith(("[Result", "1."))] == [
        '[Result "1-0"]',
        "1. e4 e5 1-0",
        '[Result "1/2-1/2"]',
        "1. d4 1/2-1/2",
        '[Result "*"]',
        "1. c4 *",
    ]


def test_game_with_a_null_move_is_imported_up_to_that_move(tmp_path: Path) -> None:
    file, data = tmp_path / "games.pgn", tmp_path / "data"
    file.write_text(
        '1. e4 e5 2. Nf3 Z0 3. Nxe5 1-0\n\n[White "5"]\n\n1. d4 d5 {best} -- 1/2\n\n'
        '[Round "3"]\n\n1. c4 (1. -- e5) 1-0\n\n1... 0000 *\n'
    )
    what = "is a null move, which chess does not have"
    assert import_pgn(data, file, "--white", 1, "--black", 2) == (
        1,
        "Imported 3 games, 2 only in part, 1 game could not be imported\n",
        joined(
            [
                f"{file}, game 1: its moves from ply 3 on are left out: 'Z0' {what}",
                f"{file}, game 2: its moves from ply 2 on are left out: '--' {what}",
                f"{file}, game 4: its first move '0000' {what}",
            ]
        ),
    )
    out = gmd("export", "--data", data, "--status", "all").out
    assert [line for line in out.splitlines() if line.startswith("1.")] == [
        "1. e4 e5 2. Nf3 *",
        "1. d4 d5 *",
        "1. c4 1-0",
    ]


def test_game_with_an_illegal_move_is_imported_up_to_it_where_that_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_text("1. e4 e5 2. Ke3 Nc6 1-0\n\n1. Ke2 *\n\n1. d4 Sf6 *\n\n1. c4 -- *\n\n1. f4 ~ *\n")
    wrong = [
        f"{file}, game 1: its moves from ply 2 on are left out: pgn: at 2. (ply 2): move: 'Ke3' is not legal for white "
        "in rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -",
        f"{file}, game 2: pgn: at 1. (ply 0): move: 'Ke2' is not legal for white in "
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
        f"{file}, game 3: its moves from ply 1 on are left out: pgn: at 1... (ply 1): move: 'Sf6' is neither SAN (Nf3) "
        "nor UCI (g1f3)",
        f"{file}, game 4: its moves from ply 1 on are left out: '--' is a null move, which chess does not have",
        f"{file}, game 5: pgn: line 9: '~ *' is neither a move nor anything else of PGN",
    ]
    assert import_pgn(tmp_path / "a", "--white", 1, "--black", 2, "--partial", file) == (
        1,
        "Imported 3 games, 3 only in part, 2 games could not be imported\n",
        joined(wrong),
    )
    out = gmd("export", "--data", tmp_path / "a", "--status", "all").out
    assert [line for line in out.splitlines() if line.startswith("1.")] == ["1. e4 e5 *", "1. d4 *", "1. c4 *"]
    ran = import_pgn(tmp_path / "b", "--white", 1, "--black", 2, file)
    assert (ran.status, ran.out) == (
        1,
        "Imported 1 game, 1 only in part, 4 games could not be imported\n",
    )


def test_variant_of_games_that_name_none_is_an_option(tmp_path: Path) -> None:
    file, data = tmp_path / "games.pgn", tmp_path / "data"
    file.write_text('1. e4 d5 2. exd5 Qxd5 3. P@e4 *\n\n[Variant "Chess960"]\n\n1. e4 *\n\n[Variant "Standard"]\n\n*\n')
    ran = import_pgn(data, "--white", 1, "--black", 2, "--variant", "crazyhouse", file)
    assert ran == (
        1,
        "Imported 2 games, 1 game could not be imported\n",
        f"{file}, game 2: variant: 'crazyhouse' contradicts the PGN's Variant header 'Chess960'\n",
    )
    lines = [json.loads(line) for line in export_again(data).splitlines()]
    assert [line["events"][0]["options"]["variant"] for line in lines] == ["crazyhouse"] * 2


def test_tags_of_people_survive_import_and_export(tmp_path: Path) -> None:
    file, data = tmp_path / "games.pgn", tmp_path / "data"
    tags = [
        '[Event "A \\"B\\""]',
        '[Site "C\u2019s"]',
        '[Date "1997.05.??"]',
        '[Round "3.2"]',
        '[White "D, E."]',
        '[Black "8"]',
        '[Result "1-0"]',
    ]
    file.write_text("\n".join(tags) + '\n[WhiteElo "2851"]\n[ECO "A00"]\n\n1. e4 1-0\n\n1. d4 *\n')
    assert import_pgn(data, "--white", 7, "--black", 8, file).status == 0
    out = gmd("export", "--data", data, "--status", "all").out
    first, second = out.split("\n\n")[0:3:2]
    assert first.splitlines() == [
        *tags[:6],
        '[WhiteElo "2851"]',
        tags[6],
        '[Termination "normal"]',
        '[GmdTermination "available_move"]',
        '[GmdWhite "7"]',
    ]
    assert second.splitlines()[0] == '[Event "gmd game 2"]'
    # The id beside a name is enough to import the file again.
    again = tmp_path / "again.pgn"
    again.write_text(out)
    assert import_pgn(tmp_path / "more", again) == (0, "Imported 2 games\n", "")
    assert gmd("export", "--data", tmp_path / "more", "--status", "all").out == out


@pytest.mark.parametrize(
    ("encoded", "advice"),
    [
        ("1. e4 *".encode("utf-16"), "is UTF-16: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"),
        ('[Event "a"]\n\n1. e4 *'.encode("utf-16-be"), "is UTF-16: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"),
        ("1. e4 *".encode("utf-16-le"), "is UTF-16: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"),
        (gzip.compress(b"1. e4 *", mtime=0), "is compressed: unpack it with gunzip"),
    ],
)
def test_file_that_is_no_text_is_refused_by_what_it_is(encoded: bytes, advice: str, tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_bytes(encoded)
    ran = import_pgn(tmp_path / "data", "--white", 1, "--black", 2, file)
    assert (ran.status, ran.err) == (2, f"{file}: pgn: the file {advice}\n")


@pytest.mark.parametrize(
    ("name", "text", "status", "out", "complaints"),
    [
        ("bad.pgn", "1. e4 e5 2. Ke3 *\n\n1. -- *\n", 2, "Imported 0 games, 2 games could not be imported\n", 2),
        ("bad.pgn", "no chess at all\n", 2, "Imported 0 games, 1 game could not be imported\n", 1),
        ("bad.jsonl", "{}\n[]\n", 2, "Imported 0 games, 2 games could not be imported\n", 2),
        ("empty.pgn", "", 0, "Imported 0 games\n", 0),
        ("empty.jsonl", "\n", 0, "Imported 0 games\n", 0),
    ],
)
def test_status_is_2_if_a_file_has_games_and_none_is_imported(
    name: str, text: str, status: int, out: str, complaints: int, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text(text)
    ran = import_pgn(tmp_path / "data", "--white", 1, "--black", 2, file)
    assert (ran.status, ran.out, ran.err.count("\n")) == (status, out, complaints)


def test_status_is_1_if_games_are_there_already_and_a_line_is_bad(exported: Path, tmp_path: Path) -> None:
    data, more = tmp_path / "data", tmp_path / "more.jsonl"
    gmd("import", "--data", data, exported)
    more.write_text(exported.read_text() + "{}\n")
    ran = gmd("import", "--data", data, more)
    assert (ran.status, ran.out) == (1, "Imported 0 games, 5 were there already, 1 game could not be imported\n")


def test_import_is_refused_while_a_daemon_uses_the_directory(exported: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with background_daemon(Config(port=0, data=str(data))):
        ran = gmd("import", "--data", data, exported)
        assert ran == (
            2,
            "",
            f"Error: data: {data} is in use by another gmd: process {os.getpid()}; "
            "name another directory with --data\n",
        )
    assert gmd("import", "--data", data, exported).out == "Imported 5 games\n"


def test_missing_file_is_reported_before_anything_is_imported(exported: Path, tmp_path: Path) -> None:
    for name, why in (("none.jsonl", "does not exist"), ("", "is not a regular file")):
        ran = gmd("import", "--data", tmp_path / "data", exported, tmp_path / name)
        assert (ran.status, ran.err) == (2, f"Error: {tmp_path / name}: {why}\n")
    assert not (tmp_path / "data").exists()


def test_too_long_line_is_skipped_and_reported(exported: Path, tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    file.write_bytes(b" " * (40 * 2**20) + b"\n" + exported.read_bytes())
    assert gmd("import", "--data", tmp_path / "data", file) == (
        1,
        "Imported 5 games, 1 game could not be imported\n",
        f"{file}, line 1: this is not a game: the line is longer than {16 * 2**20} bytes\n",
    )


def test_variant_option_offers_all_whose_moves_may_be_loaded() -> None:
    offered = next(option for option in import_.params if option.name == "variant").type
    assert isinstance(offered, click.Choice)
    assert [*offered.choices] == [name for name, variant in VARIANTS.items() if variant.loads_moves]
