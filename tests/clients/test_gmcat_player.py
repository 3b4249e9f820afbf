"""gmcat as a player: ``--player`` and ``--key``."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gm_client.gmcat import VERSION
from tests.clients.running import GMCAT, NEW_GAME, PATIENCE, PING, complaint, gmcat, replies
from tests.clients.scripted import Peer, answer_all, serving
from tests.serving import Served, served

HELLO = {"kind": "hello", "protocol": 2, "client": f"gmcat/{VERSION}"}


@pytest.mark.parametrize(
    ("arguments", "variable", "fields"),
    [
        (["--player", "7"], None, {"player": 7}),
        (["--player=-7"], None, {"player": -7}),
        (["--player", "4503599627370497", "--key", "abc"], None, {"player": 2**52 + 1, "key": "abc"}),
        (["--player", "my-bot", "--key", "abc"], "other", {"name": "my-bot", "key": "abc"}),
        (["--player", "my-bot"], "from the environment", {"name": "my-bot", "key": "from the environment"}),
        (["--player", "my-bot", "--key", "@key file"], "other", {"name": "my-bot", "key": "from the file"}),
        (["--player", "7"], "", {"player": 7}),
    ],
    ids=["open", "negative", "key", "name", "variable", "file", "empty variable"],
)
@pytest.mark.parametrize("requests", [[PING], [PING, NEW_GAME]], ids=["one request", "two"])
def test_hello_names_the_player(
    arguments: list[str],
    variable: str | None,
    fields: dict[str, Any],
    requests: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "key file").write_text("from the file\n")
    monkeypatch.chdir(tmp_path)
    if variable is not None:
        monkeypatch.setenv("GM_KEY", variable)
    with serving(answer_all) as server:
        run = gmcat(server, *arguments, *requests)
    assert (run.returncode, run.stderr) == (0, b"")
    ((hello, *others),) = server.sessions
    assert json.loads(hello) == {**HELLO, **fields}
    assert others == [request.encode() for request in requests]
    assert len(replies(run)) == len(requests)  # the reply to gmcat's own hello is not printed


def test_key_in_the_environment_is_not_sent_without_a_player(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GM_KEY", "secret")
    with serving(answer_all) as server:
        assert gmcat(server, PING, PING).returncode == 0
    assert json.loads(server.sessions[0][0]) == HELLO


def test_refused_player_exits_with_1_and_sends_no_request() -> None:
    refusal = b'{"code":"unauthorized","error":"no"}'

    def refuse(peer: Peer, requests: list[bytes]) -> None:
        requests.append(peer.read() or b"")
        peer.write(refusal)
        assert peer.read() is None

    with serving(refuse) as server:
        run = gmcat(server, "--player", "my-bot", PING)
    assert (run.returncode, run.stdout) == (1, refusal + b"\n")
    assert len(server.sessions[0]) == 1


def test_unreadable_key_file_exits_with_2() -> None:
    with serving(answer_all) as server:
        run = gmcat(server, "--player", "1", "--key", "@nowhere", PING)
    assert complaint(run) == "--key: nowhere: No such file or directory"
    assert server.sessions == []


def test_key_without_a_player_exits_with_2() -> None:
    run = subprocess.run([*GMCAT, "--key", "k", PING], capture_output=True, text=True, timeout=PATIENCE)
    assert (run.returncode, run.stderr.splitlines()[-1]) == (2, "gmcat: error: --key needs --player")


def test_requests_need_not_name_the_player_of_the_session(daemon_process: Served) -> None:
    (game,) = replies(gmcat(daemon_process, NEW_GAME))
    move = json.dumps({"kind": "move", "game_id": game["game_id"], "move": "e4"})
    (moved,) = replies(gmcat(daemon_process, "--player", "1", move))
    assert moved["state"]["last_move"] == "e2e4"


def test_registered_player_registers_plays_rekeys_and_is_revoked(tmp_path: Path) -> None:
    """The daemon accepts registered players only."""
    data = tmp_path / "data"
    with served("--data", str(data), "--require-registration") as daemon:

        def ask(*arguments: str, status: int = 0, **request: Any) -> Any:
            run = gmcat(daemon, *arguments, json.dumps(request))
            assert (run.returncode, run.stderr) == (status, b"")
            (reply,) = replies(run)
            return reply

        first = ask(kind="register", name="my-bot", token="1d0cbf2e")
        assert ask(kind="register", name="my-bot", token="1d0cbf2e") == first
        me = str(first["player"])
        (tmp_path / "key").write_text(first["key"] + "\n")
        mine = ["--player", "my-bot", "--key", f"@{tmp_path / 'key'}"]
        made = ask(*mine, kind="new_game", player_white=first["player"], player_black=None)
        assert made["state"]["phase"] == "open"

        other = ask(kind="register", name="other")
        others = ["--player", str(other["player"]), "--key", other["key"]]
        assert ask(*others, kind="join", game_id=1)["seat"] == "black"
        assert ask(*mine, kind="move", game_id=1, move="e4")["state"]["last_move"] == "e2e4"
        for arguments in (["--player", "7"], ["--player", me], ["--player", me, "--key", other["key"]]):
            refused = ask(*arguments, kind="move", game_id=1, move="e5", status=1)
            assert refused["code"] == "unauthorized"

        new = ask(*mine, kind="rekey", token="9ab3")["key"]
        assert ask(*mine, kind="state", game_id=1, status=1)["code"] == "unauthorized"
        (tmp_path / "key").write_text(new)
        assert ask(*mine, kind="state", game_id=1)["error"] is None
        operator = ["--socket", str(data)]
        assert ask(*operator, kind="revoke", name="my-bot")["error"] is None
        assert ask(*mine, kind="state", game_id=1, status=1)["code"] == "unauthorized"
        listed = ask(*operator, kind="players")["players"]
        assert [(row["name"], row["revoked"]) for row in listed] == [("other", False), ("my-bot", True)]
