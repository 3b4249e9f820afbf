"""``gmd leaderboard`` shows the leaderboard of a local daemon, of a remote daemon or of a log alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gmd import Config, background_daemon
from gmd.cli.leaderboard import VERSIONS
from gmd.lobby.ratings import FURTHEST, BadAnchors, read_anchors
from tests.cli.commands import Ran, change, gmd
from tests.helpers import Json
from tests.tls import make_certificates

FIRST, SECOND = 2**52 + 1, 2**52 + 2


def game(game_id: int, white: int, black: int, resigns: str, versions: tuple[int, int] = (1, 1)) -> Json:
    """Return a ranked game that a player resigns before any move."""
    created = {
        "event": "created",
        "player_white": white,
        "player_black": black,
        "options": {
            "variant": "rbc",
            "fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "clock": None,
            "reversible_moves": 100,
            "max_turns": None,
        },
        "created": "2026-11-21T04:41:00Z",
        "ranked": True,
        "versions": versions,
    }
    termination = f"resignation_{resigns}"
    return {
        "game_id": game_id,
        "termination": termination,
        "result": "0-1" if resigns == "white" else "1-0",
        "ended": "2026-11-21T04:42:00Z",
        "events": [created, {"event": "ended", "termination": termination, "seat": resigns, "asked": termination}],
    }


GAMES = [
    game(1, FIRST, SECOND, "black"),
    game(2, SECOND, FIRST, "white"),
    game(3, FIRST, SECOND, "white"),
    game(4, FIRST, SECOND, "black", (2, 1)),
]
#: Name, version, games, wins and losses of each row, strongest first.
ROWS = [("first", 2, 1, 1, 0), ("first", 1, 3, 2, 1), ("second", 1, 4, 1, 3)]


@pytest.fixture
def data(written: Path, tmp_path: Path) -> Path:
    """Return a data directory with two players and their games, for one test alone."""
    return Path(shutil.copytree(written, tmp_path / "data"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with two players and their games, for all tests. None may change it."""
    folder = tmp_path_factory.mktemp("leaderboard")
    directory, file = folder / "data", folder / "games.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in GAMES))
    with background_daemon(Config(port=0, data=str(directory))) as daemon:
        for name in ("first", "second"):
            daemon.ask("register", name=name)
    ran = gmd("import", "--data", directory, file)
    assert (ran.status, ran.err) == (0, "")
    return directory


def rows(ran: Ran) -> list[tuple[object, ...]]:
    assert ran.status == 0, ran
    board = json.loads(ran.out)
    assert board["games"] == 4
    return [tuple(row[name] for name in ("name", "version", "games", "wins", "losses")) for row in board["leaderboard"]]


@pytest.mark.slow
def test_leaderboard_is_the_same_by_socket_from_another_machine_and_from_the_log(data: Path) -> None:
    recomputed = gmd("leaderboard", "--data", data, "--recompute", "--json")
    assert sorted(rows(recomputed)) == sorted(ROWS)
    with background_daemon(Config(port=0, data=str(data))) as daemon:
        while not json.loads((ran := gmd("leaderboard", "--data", data, "--json")).out)["games"]:
            pass  # the daemon has just started and still computes the ratings
        assert ran.out == recomputed.out
        for server in ((f"127.0.0.1:{daemon.port}",), ("127.0.0.1", "--port", daemon.port)):
            assert gmd("leaderboard", "--server", *server, "--json").out == recomputed.out
        assert gmd("leaderboard", "--data", data, "--recompute", "--json").out == recomputed.out
    assert gmd("check", "--data", data).status == 0


def test_default_output_is_a_table(data: Path) -> None:
    ran = gmd("leaderboard", "--data", data, "--recompute", "--anchors", "second=1000")
    assert ran.status == 0
    head, *lines = [line.split() for line in ran.out.splitlines()]
    assert head == ["player", "version", "rating", "±", "95", "%", "games", "wins", "draws", "losses"]
    assert lines[2] == ["3", "second", "v1", "1000", "anchor", "4", "1", "0", "3"]
    assert {(line[1], line[2], *line[5:]) for line in lines[:2]} == {
        ("first", "v1", "3", "2", "0", "1"),
        ("first", "v2", "1", "1", "0", "0"),
    }
    assert lines[3] == ["4", "ranked", "games"]
    assert ran.out.splitlines()[5] == VERSIONS


def test_impossible_leaderboard_request_is_reported(data: Path) -> None:
    for arguments, said in (
        (("--data", data), "no daemon runs in"),
        (("--server", "127.0.0.1:1"), "Connection refused"),
        (("--server", "x", "--recompute"), "--server cannot be combined with"),
        (("--data", data, "--anchors", "a=1"), "--anchors needs --recompute"),
        (("--data", data, "--recompute", "--anchors", "second"), "'second' is not NAME=RATING"),
        (("--data", data.parent / "nowhere", "--recompute"), "there is no log of games"),
    ):
        ran = gmd("leaderboard", *arguments)
        assert ran.status == 2, ran
        assert said in ran.err


@pytest.mark.slow
def test_leaderboard_by_tls_trusts_the_certificate_of_the_ca_option(tmp_path: Path) -> None:
    certificates = make_certificates(tmp_path / "tls")
    with background_daemon(Config(port=0, data=":memory:", **certificates.settings)) as daemon:
        server = ("--server", f"localhost:{daemon.port}")
        ran = gmd(
            "leaderboard", "--server", "localhost", "--port", daemon.port, "--tls", "--ca", certificates.ca, "--json"
        )
        assert (ran.status, json.loads(ran.out)) == (0, {"leaderboard": [], "games": 0})
        for arguments, said in (
            ((*server, "--tls"), "; name one to trust with --ca FILE"),
            ((*server, "--tls", "--ca", certificates.key), f"--ca: {certificates.key} holds no certificate in PEM"),
            ((*server, "--tls", "--ca", tmp_path / "none"), f"--ca: {tmp_path / 'none'}: No such file or directory"),
            ((*server, "--ca", certificates.ca), "--ca goes with --tls"),
            (("--tls",), "--tls goes with --server"),
        ):
            ran = gmd("leaderboard", *arguments)
            assert ran.status == 2, ran
            assert said in ran.err
            assert "gmd serve" not in ran.err
        assert gmd("leaderboard", *server).status == 1  # the server says that it wants TLS


def test_tls_to_a_port_without_it_is_reported() -> None:
    with background_daemon(Config(port=0, data=":memory:")) as daemon:
        ran = gmd("leaderboard", "--server", f"127.0.0.1:{daemon.port}", "--tls")
    assert ran.status == 2
    assert "does this port speak TLS? If not, leave out --tls" in ran.err


def test_check_finds_a_version_that_differs_between_row_and_events(data: Path) -> None:
    change(data, "UPDATE games SET black_version = 7 WHERE game_id = 2")
    ran = gmd("check", "--data", data)
    assert ran.status == 1
    assert "game 2: its row says that black_version is 7; its events say 1" in ran.out


def test_anchors_are_parsed() -> None:
    assert read_anchors(None) == read_anchors(" ") == {}
    assert read_anchors("Random-Bot=1000, trout=1600.5,") == {"random-bot": 1000.0, "trout": 1600.5}
    for text in ("a", "a=", "=1", "a=b", "a=nan", "a=inf", f"a={FURTHEST + 1}", "a=1,A=2"):
        with pytest.raises(BadAnchors, match="anchors: "):
            read_anchors(text)
