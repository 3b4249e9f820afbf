"""``gmd evaluate``, as its users run it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import chess
import pytest
from click.testing import CliRunner

from gm_arena.bot import BotUnusable
from gm_arena.match.command import defaults
from gm_bots.recon_zero import entry
from gm_bots.recon_zero.measure.command import evaluate
from gm_bots.recon_zero.measure.opponents import Asked, Gauntlet, older, switches
from gm_bots.recon_zero.measure.table import elo_text, fault_lines, row_of, table_text
from gm_bots.recon_zero.processes import Processes
from tests.arena.matches import games, lines, same_whenever, summary
from tests.bots.recon_zero.learning import checkpoint, needs_torch
from tests.cli.commands import gmd
from tests.tools import require_tool

pytestmark = pytest.mark.slow

#: Options of games that are soon over and prove nothing.
QUICK = ("--max-moves", 3, "--option", "simulations=2", "--option", "determinisations=2")
#: The same without a network.
PLAIN = (*QUICK, "--option", "checkpoint=none")


def run(*arguments: object, stockfish: str | None = None) -> tuple[int, str, str]:
    """Run the command; return its exit status, its output and its standard error."""
    return gmd("evaluate", *arguments, env={} if stockfish is None else {"STOCKFISH_EXECUTABLE": stockfish})


def rows(said: str) -> dict[str, list[str]]:
    """Return the table's cells, by the opponent's name; further lines of a cell are left out."""
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in said.splitlines() if line[:1] == "│"]
    return {first: rest for first, *rest in cells if first}


def labels(path: Path) -> set[str]:
    return {game[color] for game in games(path) for color in ("white", "black")}


def test_evaluation_plays_reconchess_bots_and_names_the_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    status, said, complaints = run(*PLAIN, "--games", 2, "--json-out", path, stockfish="/nowhere")
    assert (status, complaints.splitlines()) == (
        0,
        ["TroutBot is left out: it needs Stockfish, on the PATH or where STOCKFISH_EXECUTABLE says"],
    )
    assert rows(said).keys() == {"RandomBot", "AttackerBot"}
    assert labels(path) == {"recon-zero", "RandomBot", "AttackerBot"}
    assert [game["white"] for game in games(path)] == ["recon-zero", "RandomBot", "AttackerBot", "recon-zero"]
    assert [game["faults"] for game in games(path)] == [{}] * 4
    assert [met["bots"] for met in summary(path)["meetings"]] == [
        ["recon-zero", "RandomBot"],
        ["recon-zero", "AttackerBot"],
    ]


def test_evaluation_plays_trout_wherever_stockfish_is() -> None:
    require_tool("stockfish")
    status, said, complaints = run(*PLAIN, "--games", 1, "--against", "TroutBot", "--max-moves", 1)
    assert (status, complaints) == (0, "")
    assert rows(said)["TroutBot"][-1] == "turn limit 1"


@needs_torch
def test_checkpoint_plays_an_older_one_and_the_evaluation_resumes(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    checkpoint(tmp_path / "iteration-0001.pt", 1)
    newest = checkpoint(tmp_path / "iteration-0002.pt", 2)
    asked = (newest, *QUICK, "--against", tmp_path / "iteration-0001.pt", "--games", 2, "--json-out", path)
    status, said, complaints = run(*asked)
    assert (status, complaints) == (0, "")
    assert list(rows(said)) == ["iteration-0001"]
    played = games(path)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines(path)[:2]))
    status, said, _ = run(*asked, "--resume")
    assert (status, said.splitlines()[0]) == (0, "1 games were played before")
    assert same_whenever(games(path)) == same_whenever(played)
    checkpoint(newest, 3)
    status, _, complaints = run(*asked, "--resume")
    assert status == 1
    assert "games.jsonl belongs to another match: its bots is" in complaints


@needs_torch
def test_checkpoints_are_identified_by_their_content(tmp_path: Path) -> None:
    for name in ("iteration-0001", "iteration-0002", "latest"):
        checkpoint(tmp_path / f"{name}.pt", len(name))
    against = [
        str(tmp_path / "iteration-0001.pt"),
        "before=" + str(tmp_path / "iteration-0002.pt"),
        "RandomBot",
        "recon-zero:seed=2",
    ]
    asked = Asked(tmp_path / "latest.pt", {"simulations": "2"}, against, older=1, ablation=False)
    gauntlet = Gauntlet(asked, defaults(), Processes(0))
    assert [each.label for each in gauntlet.entrants] == [
        *("recon-zero", "iteration-0001", "before", "RandomBot", "recon-zero:seed=2", "iteration-0001 #2")
    ]
    digest = hashlib.sha256((tmp_path / "latest.pt").read_bytes()).hexdigest()
    assert gauntlet.texts[0] == f"recon-zero=recon-zero:checkpoint=sha256:{digest},simulations=2"
    plain = Gauntlet(replace(asked, checkpoint=None, options={"checkpoint": "none"}, older=0), defaults(), Processes(0))
    assert plain.texts[0] == "recon-zero=recon-zero:checkpoint=none"
    assert plain.texts[1] == gauntlet.texts[1].removesuffix(",simulations=2")
    assert gauntlet.texts[3] == "RandomBot=reconchess:reconchess.bots.random_bot"


@pytest.mark.nightly
def test_ablation_plays_the_bot_against_itself_with_one_switch_changed(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    status, said, complaints = run("--ablation", *PLAIN, "--games", 1, "--json-out", path)
    assert (status, complaints) == (0, "")
    bot = "recon-zero:simulations=2,determinisations=2,checkpoint=none"
    assert bot in [line.strip() for line in said.splitlines()]
    turned = ["weights=equal", "unseen=0", "alarm=0"]
    assert list(rows(said)) == [*turned, "determinisations=1"]
    assert lines(path)[0]["arguments"]["bots"] == [
        f"recon-zero={bot}",
        *(f"{switch}={bot},{switch}" for switch in turned),
        "determinisations=1=recon-zero:simulations=4,determinisations=1,checkpoint=none",
    ]


def test_switch_that_is_turned_already_is_left_out() -> None:
    assert switches({"determinisations": "1", "unseen": "0", "alarm": "0"}) == [("weights", {"weights": "equal"})]
    given = {"determinisations": "8", "simulations": "100"}
    assert switches(given)[-1] == ("determinisations", {"determinisations": "1", "simulations": "800"})


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere.pt"], "File 'nowhere.pt' does not exist"),
        (["--option", "depth=2"], "recon-zero: unknown option depth"),
        (["--option", "depth"], "--option: 'depth' is not NAME=VALUE"),
        (["--option", "checkpoint=latest.pt"], "the checkpoint is the command's argument"),
        ([__file__, "--option", "checkpoint=none"], "the checkpoint is the command's argument"),
        (["--against", "nowhere.pt"], "recon-zero: checkpoint=nowhere.pt: there is no such file"),
        (["--against", "fritz"], "'fritz' is not a bot"),
        (["--against", "recon-zero:seed=2", "--against", "fritz"], "'fritz' is not a bot"),
        (
            ["--against", "codingame:cat"],
            "codingame:cat: plays chess960, crazyhouse, standard, and not blind chess (rbc)",
        ),
        (["--against", "gm:7"], "--against gm:7: plays on a server"),
        (["--older", "1"], "--older: give a CHECKPOINT of a training"),
        (["--resume"], "--resume needs --json-out"),
        (["--simulations", "0"], "0 is not in the range 1<=x<=100000"),
        (["--c-puct", "-1"], "-1.0 is not in the range 0<=x<=100"),
        (["--results-out", __file__], "test_evaluate.py has other columns than results.csv of a training"),
        (
            ["--results-out", "results.csv", "--against", "AttackerBot"],
            "--results-out: its columns count games against RandomBot: add --against RandomBot",
        ),
        (["--clock", "soon"], "'soon' is no clock: write 300"),
    ],
)
def test_wrong_arguments_are_refused_also_without_torch(
    arguments: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "find_spec", lambda library: None if library == "torch" else find_spec(library))
    done = CliRunner().invoke(evaluate, arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert complaint in done.stderr


def test_missing_torch_is_reported_only_when_nothing_else_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "find_spec", lambda library: None if library == "torch" else find_spec(library))
    done = CliRunner().invoke(evaluate, ["--against", "recon-zero:seed=2"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "recon-zero reads checkpoints with torch, which is not installed: run " in done.stderr


def test_older_checkpoints_are_those_before_it_newest_first(tmp_path: Path) -> None:
    made = [tmp_path / f"iteration-{number:04}.pt" for number in (1, 2, 9, 10, 11)]
    for path in (*made, tmp_path / "latest.pt", tmp_path / "iteration-x.pt"):
        path.touch()
    assert older(tmp_path / "latest.pt", 2) == [made[3], made[2]], "the newest one is its own"
    assert older(made[3], 9) == [made[2], made[1], made[0]]
    assert older(None, 0) == []
    with pytest.raises(BotUnusable, match=r"has no checkpoint of an iteration before iteration-0001\.pt"):
        older(made[0], 1)


def record(
    white: str, black: str, result: str, ending: str = "king captured", moves: Sequence[str] = ("e2e4",)
) -> dict[str, Any]:
    """Return a game in which White uses one second per turn, and Black half a second."""
    times = {"white": [[0, 1.0, None, 900, None, None]], "black": [[1, 0.5, None, 900, None, None]] * 2}
    game = {"white": white, "black": black, "result": result, "ending": ending, "pair": None, "times": times}
    return {**game, "start_fen": chess.STARTING_FEN, "moves": [*moves]}


RECORDS = [
    *[record("zero", "other", "1-0")] * 15,
    *[record("other", "zero", "0-1")] * 10,
    record("other", "zero", "1-0"),
    record("zero", "other", "0-1", "time"),
    *[record("other", "zero", "1/2-1/2", "turn limit")] * 2,
    *[record("zero", "weak", "1-0")] * 20,
]


def test_row_has_all_results_of_two_bots() -> None:
    """The first has 26 of 29 points."""
    assert row_of(RECORDS, "zero", "other") == [
        *("other", "25", "2", "2", "89.7 %", "73.6 to 96.4", "+375", "+178 to +572"),
        *("0.69 / 0.64", "king captured 26, turn limit 2, time 1"),
    ]
    assert row_of(RECORDS, "zero", "weak") == [
        *("weak", "20", "0", "0", "100.0 %", "83.9 to 100.0", "+∞", "+287 to +∞"),
        *("1.00 / 0.50", "king captured 20"),
    ]
    assert row_of(RECORDS, "zero", "absent") is None
    assert elo_text(float("-inf")) == "-∞"


def test_table_has_a_row_for_each_opponent_and_names_losses_on_time() -> None:
    text = table_text(RECORDS, ["zero", "other", "weak", "absent"])
    assert list(rows(text)) == ["other", "weak"]
    assert text.splitlines()[-3:] == [
        "against other: repeated games: 28 of 29; with these the intervals are too narrow",
        "against weak: repeated games: 19 of 20; with these the intervals are too narrow",
        "zero lost by time 1",
    ]
    assert fault_lines(RECORDS, ["other"]) == []
    assert table_text([], ["zero", "other"]) == "no game was played\n"
