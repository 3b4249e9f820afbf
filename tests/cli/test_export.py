"""``gmd export`` writes the chosen games in the chosen format and reports the games that it leaves out."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import chess.pgn
import pytest

from tests.archive.damaged_logs import rows_of
from tests.cli.commands import change, client_of, gmd, lines_of
from tests.cli.test_check import DAMAGES
from tests.ended import ended
from tests.serving import environment
from tests.terminal import shown

#: Damages of other kinds than an illegal move.
OTHERS = ("no beginning", "no text", "no game", "no number of a token", "plies")


def exported(data: Path, *arguments: object) -> list[int]:
    """Return the ids of the exported games in the order in which they are written."""
    ran = gmd("export", "--data", data, "--format", "jsonl", *arguments)
    assert ran.status == 0, ran.err
    return [json.loads(line)["game_id"] for line in ran.out.splitlines()]


async def test_exported_pgn_equals_the_pgn_of_history(tmp_path: Path) -> None:
    async with client_of(tmp_path) as client:
        for variant in ("standard", "chess960", "crazyhouse"):
            game_id = (await client.new_game(variant=variant))["game_id"]
            await client.ask("move", game_id=game_id, player=1, move="e4")
            await client.ask("end_game", game_id=game_id, player=1, termination="resignation_white")
        histories = [(await client.ask("history", game_id=game_id))["pgn"] for game_id in (1, 2, 3)]
        ran = gmd("export", "--data", tmp_path)
    assert ran == (0, "".join(f"{pgn}\n" for pgn in histories), "")
    file = io.StringIO(ran.out)
    games = [chess.pgn.read_game(file) for _ in range(4)]
    assert [game and (game.headers["Result"], game.errors) for game in games] == [("0-1", [])] * 3 + [None]


async def test_names_of_registered_players_are_in_every_format(tmp_path: Path) -> None:
    async with client_of(tmp_path) as client:
        keys = [(await client.ask("register", name=name))["key"] for name in ("ada", "17")]
        ada, seventeen = 2**52 + 1, 2**52 + 2
        await client.new_game(ada, 5, player=ada, key=keys[0])
        await client.ask("move", game_id=1, player=ada, key=keys[0], move="e4")
        await client.ask("end_game", game_id=1, player=5, termination="resignation_black")
        await client.new_game(5, seventeen, variant="rbc", clock=None, player=seventeen, key=keys[1])
        await client.ask("end_game", game_id=2, player=5, termination="resignation_white")
        shown = [await client.ask("history", game_id=game_id) for game_id in (1, 2)]
    assert gmd("export", "--data", tmp_path, "--game", 1, "--game", 2).out == "".join(
        f"{one['pgn']}\n" for one in shown
    )
    headers = chess.pgn.read_headers(io.StringIO(shown[0]["pgn"]))
    assert headers is not None
    named = ("White", "Black", "GmdWhite", "GmdBlack", "Termination", "GmdTermination")
    assert [headers.get(name) for name in named] == ["ada", "5", str(ada), None, "normal", "resignation_black"]
    assert (shown[1]["history"]["white_name"], shown[1]["history"]["black_name"]) == ("5", "17")
    lines = gmd("export", "--data", tmp_path, "--format", "jsonl").out.splitlines()
    assert [(json.loads(line).get("white_name"), json.loads(line).get("black_name")) for line in lines] == [
        ("ada", None),
        (None, "17"),
    ]
    # Neither format brings the names into another log, where they may belong to other players.
    file, data = tmp_path / "games.jsonl", tmp_path / "other"
    file.write_text("".join(f"{line}\n" for line in lines))
    assert gmd("import", "--data", data, file).out == "Imported 2 games\n"
    assert [line for line in gmd("export", "--data", data).out.splitlines() if "White" in line] == [f'[White "{ada}"]']


async def test_name_that_looks_like_an_id_is_not_read_as_an_id(tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_text(f'[White "17"]\n[Black "5"]\n[GmdWhite "{2**52 + 2}"]\n\n1. e4 *\n')
    ran = gmd("import", "--data", tmp_path / "data", file)
    why = "White: '17' is not a player id; give --white ID for this seat's player"
    assert (ran.status, ran.err) == (2, f"{file}, game 1: {why}\n")
    assert gmd("import", "--data", tmp_path / "data", "--white", 3, file).status == 0


async def test_blind_games_are_left_out_of_pgn_unless_requested(tmp_path: Path) -> None:
    async with client_of(tmp_path) as client:
        for variant in ("standard", "rbc", "rbc"):
            game_id = (await client.new_game(variant=variant, clock=None))["game_id"]
            await client.ask("end_game", game_id=game_id, player=1, termination="resignation_white")
    ran = gmd("export", "--data", tmp_path)
    assert (ran.status, ran.out.count("[Event ")) == (0, 1)
    assert ran.err == "left out: 2 games of blind chess; use --variant rbc, or --format jsonl for all variants\n"
    assert "Variant" not in ran.out
    for arguments, count in ((["--variant", "rbc"], 2), (["--game", 2], 1), (["--format", "jsonl"], 3)):
        ran = gmd("export", "--data", tmp_path, *arguments)
        assert (ran.status, ran.err, ran.out.count('[Event "') or ran.out.count("\n")) == (0, "", count)


def test_jsonl_line_contains_a_whole_game(played_data: Path) -> None:
    ran = gmd("export", "--data", played_data, "--format", "jsonl", "--game", 5)
    assert (ran.status, ran.err) == (0, "")
    line = json.loads(ran.out)
    for time in (line.pop("ended"), line["events"][0].pop("created")):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", time)
    assert line == {
        "game_id": 5,
        "termination": "forfeit_white",
        "result": "0-1",
        "events": [
            {
                "event": "created",
                "player_white": 4,
                "player_black": 5,
                "options": {
                    "variant": "standard",
                    "fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                    "position": None,
                    "draws": "claimed",
                    "max_moves": None,
                    "clock": None,
                    "illegal_move": "lose",
                },
                "max_plies": 2_000,
            },
            {
                "event": "ended",
                "termination": "forfeit_white",
                "seconds": 0.0,
                "seat": "white",
                "asked": "sha256:1a0c4dee8f86e1093f61861c6a70ce9982ad4904e875419d5bfa9f508c9a4ed3",
                "offer_draw": True,
            },
        ],
    }


def test_live_games_are_left_out_unless_requested(played_data: Path) -> None:
    ran = gmd("export", "--data", played_data, "--format", "jsonl")
    assert [json.loads(line)["game_id"] for line in ran.out.splitlines()] == [1, 3, 4, 5]
    assert ran.err == "left out: 1 live game; use --status all to export them too\n"
    assert exported(played_data, "--status", "all") == [1, 2, 3, 4, 5]
    assert exported(played_data, "--status", "live") == [2]
    assert exported(played_data, "--game", 3, "--game", 2) == [2, 3]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--player", 2], [1, 3, 4]),
        (["--player", 3, "--player", 4], [3, 5]),
        (["--variant", "chess960"], [3]),
        (["--variant", "chess960", "--variant", "crazyhouse", "--player", 1], []),
        (["--result", "1/2-1/2"], [4]),
        (["--result", "1/2-1/2", "--result", "1-0"], [3, 4]),
        (["--result", "*", "--status", "all"], [2]),
        (["--since", "2000-01-01", "--until", "2001-01-01"], [1]),
        (["--since", "2001-01-01T00:00:00Z"], [3, 4, 5]),
        (["--until", "2000-06-01T12:00:01"], [1]),
        (["--until", "2000-06-01T12:00:00"], []),
    ],
    ids=str,
)
def test_options_choose_games(arguments: list[object], found: list[int], data: Path) -> None:
    change(data, "UPDATE games SET created = '2000-06-01T12:00:00Z' WHERE game_id = 1")
    assert exported(data, *arguments) == found


def test_missing_named_game_is_reported_and_the_command_fails(played_data: Path) -> None:
    ran = gmd("export", "--data", played_data, "--format", "jsonl", "--game", 1, "--game", 9, "--game", 8)
    assert [json.loads(line)["game_id"] for line in ran.out.splitlines()] == [1]
    assert (ran.status, ran.err.splitlines()) == (
        1,
        [f"game: {missing} is not in the log; leave out --game to export all games" for missing in (9, 8)],
    )


def test_named_game_that_other_options_exclude_is_reported(played_data: Path) -> None:
    ran = gmd("export", "--data", played_data, "--game", 1, "--player", 77)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == "game: 1 is in the log, but the other options exclude it; leave them out to export it\n"


def test_output_file_appears_only_when_it_is_complete(played_data: Path, tmp_path: Path) -> None:
    output = tmp_path / "games.jsonl"
    output.write_text("old")
    command = ["export", "--data", played_data, "--format", "jsonl", "--output", output]
    assert gmd(*command).out == ""
    assert [line["game_id"] for line in lines_of(output)] == [1, 3, 4, 5]
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]
    ran = gmd(*command[:-1], tmp_path / "none" / "games.jsonl")
    message = f"Error: output: {tmp_path}/none/games.jsonl cannot be written: No such file or directory\n"
    assert (ran.status, ran.out, ran.err) == (2, "", message)


@pytest.mark.parametrize("written", ["jsonl", "pgn"])
def test_damaged_game_is_left_out_and_reported(written: str, data: Path) -> None:
    change(data, "UPDATE events SET event = '{' WHERE game_id = 3 AND seq = 1")
    status, out, err = gmd("export", "--data", data, "--format", written)
    assert status == 1
    assert len(re.findall(r'"game_id":|\[Event ', out)) == 3
    assert err.splitlines()[0] == ("game 3 is left out: event 1: it cannot be read: Input data was truncated: '{'")


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_full_standard_output_is_reported(unbuffered: str, played_data: Path) -> None:
    variables = environment({"PYTHONUNBUFFERED": unbuffered})
    command = [sys.executable, "-m", "gmd", "export", "--data", str(played_data)]
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(command, env=variables, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr == "Error: standard output cannot be written: No space left on device\n"


@pytest.mark.slow
def test_reader_that_closes_the_pipe_ends_the_export_without_a_traceback(played_data: Path) -> None:
    """The command ``gmd export | head -1`` closes the pipe in this way."""
    command = [sys.executable, "-m", "gmd", "export", "--data", str(played_data)]
    pipe = subprocess.PIPE
    with ended(subprocess.Popen(command, env=environment(), stdout=pipe, stderr=pipe)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait(60) == 1
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal_but_not_among_the_games(played_data: Path, tmp_path: Path) -> None:
    export, check = ([sys.executable, "-m", "gmd", name, "--data", str(played_data)] for name in ("export", "check"))
    with (tmp_path / "games.pgn").open("wb") as file:
        said = shown(export, output=file.fileno())
    assert "Writing games" in said
    assert "100%" in said
    assert (tmp_path / "games.pgn").read_text() == gmd("export", "--data", played_data).out
    assert "Writing games" not in shown(export)
    said = shown(check)
    assert "Replaying games" in said
    assert "5 games with 16 events: nothing is damaged." in said


@pytest.mark.parametrize("name", ["an illegal move", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_damaged_game_is_left_out_of_a_whole_log_that_is_replayed(name: str, data: Path, tmp_path: Path) -> None:
    before = rows_of(data)
    statement, said = DAMAGES[name]
    change(data, statement)
    exported = gmd("export", "--data", data, "--all", tmp_path / "whole.jsonl", "--replay")
    assert (exported.status, exported.out, len(exported.err.splitlines())) == (1, "", 1)
    assert gmd("import", "--data", tmp_path / "new", tmp_path / "whole.jsonl").status == 0
    assert gmd("check", "--data", tmp_path / "new").status == 0
    damaged = said.split()[1].strip(",:")
    for table in ("games", "events"):
        assert rows_of(tmp_path / "new")[table] == [row for row in before[table] if str(row[0]) != damaged]
