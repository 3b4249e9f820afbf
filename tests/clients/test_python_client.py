"""The Python clients with servers that are slow, break connections, restart, or are no gm servers."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from gm_client import BadReply, ConnectionLost, GmError, blocking, trio_client, trio_connection
from gm_client.blocking import encode
from tests.clients.python_clients import HELLO, OK, Clients, Dialogue, Json, JsonPeer, dialogues
from tests.clients.running import PATIENCE
from tests.clients.scripted import ScriptedServer
from tests.serving import Served, reserved_port

CLIENT = f"gm_client/{blocking.VERSION}"


def framed(reply: Json) -> bytes:
    body = encode(reply)
    return len(body).to_bytes(4, "big") + body


def pings(*, greeting: Json = HELLO, reply: Json = OK) -> Dialogue:
    """Return a script that answers one ping."""

    def script(peer: JsonPeer) -> None:
        peer.greet(greeting)
        peer.expect({"kind": "ping"})
        peer.write(reply)

    return script


def test_hello_names_client_and_player_and_its_reply_is_kept(clients: Clients) -> None:
    reply = {**HELLO, "player": 7}
    asked: list[Json | None] = []
    with dialogues(lambda peer: asked.append(peer.greet(reply))) as server:
        client = clients.connect(server.port, client="mybot/1.0", player=7, key="k")
    assert asked == [{"kind": "hello", "protocol": 2, "client": "mybot/1.0", "player": 7, "key": "k"}]
    kept = {name: getattr(client, name) for name in ("server", "protocol", "kinds", "limits", "player")}
    assert {**kept, "error": None} == reply


#: Each kind, with the arguments of its method and the fields that they send.
KINDS: dict[str, tuple[tuple[Any, ...], Json]] = {
    "ping": ((), {}),
    "new_game": ((1, None), {"player_white": 1, "player_black": None}),
    "game_from_pgn": ((1, 2), {"player_white": 1, "player_black": 2}),
    "move": ((3, "e4"), {"game_id": 3, "move": "e4"}),
    "sense": ((3, None), {"game_id": 3, "square": None}),
    "end_game": ((3, "draw_agreed"), {"game_id": 3, "termination": "draw_agreed"}),
    "state": ((3,), {"game_id": 3}),
    "wait": ((3,), {"game_id": 3}),
    "actions": ((3,), {"game_id": 3}),
    "games": ((), {}),
    "history": ((3,), {"game_id": 3}),
    "belief": ((3,), {"game_id": 3}),
    "register": (("bot",), {"name": "bot"}),
    "rekey": ((), {}),
    "join": ((3,), {"game_id": 3}),
    "revoke": ((), {}),
    "players": ((), {}),
    "pair": (("one", 2), {"white": "one", "black": 2}),
    "contest": (("t" * 16, {"title": "x"}), {"report": {"title": "x"}}),
    "hello": ((), {}),
}


def test_every_kind_has_a_method(clients: Clients) -> None:
    def script(peer: JsonPeer) -> None:
        peer.greet()
        for kind, (_, fields) in KINDS.items():
            request = peer.read()
            assert request is not None
            request.pop("token", None)
            assert request == {"kind": kind, "id": "x", "player": None, **fields}
            peer.write(HELLO)

    with dialogues(script) as server:
        client = clients.connect(server.port)
        for kind, (arguments, _) in KINDS.items():
            assert getattr(client, kind)(*arguments, id="x", player=None) == HELLO


def test_both_clients_have_the_same_methods_and_signatures() -> None:
    for one, other in (
        (blocking.Client, trio_client.Client),
        (blocking.Turn, trio_client.Turn),
        (blocking.Connection, trio_connection.Connection),
    ):
        assert signatures(one) == signatures(other)
    assert inspect.signature(blocking.connect) == inspect.signature(trio_client.connect)


def signatures(cls: type) -> dict[str, inspect.Signature]:
    """Return the signatures of a class's public methods."""
    methods = {name: method for name, method in inspect.getmembers(cls, callable) if not name.startswith("_")}
    return {name.removeprefix("a") if name == "aclose" else name: inspect.signature(m) for name, m in methods.items()}


def test_replies_of_single_bytes_and_of_many_megabytes_are_read(clients: Clients) -> None:
    pgn = "1.e4 " * 2_000_000

    def script(peer: JsonPeer) -> None:
        peer.greet()
        peer.read()
        for byte in framed({**OK, "id": "é"}):
            peer.write_bytes(bytes([byte]))
        peer.read()
        peer.write({**OK, "pgn": pgn})

    with dialogues(script) as server:
        client = clients.connect(server.port)
        assert client.ping() == {**OK, "id": "é"}
        assert client.history(1)["pgn"] == pgn


def test_refusal_raises_an_error_with_the_code_and_text_of_the_server(clients: Clients) -> None:
    refusal = {"state": None, "code": "too_many", "error": "slow down", "retry_after": 1.5}

    def script(peer: JsonPeer) -> None:
        peer.greet()
        peer.expect({"kind": "move", "game_id": 1, "move": "e4"})
        peer.write(refusal)
        peer.expect({"kind": "ping"})
        peer.write(OK)

    with dialogues(script) as server:
        client = clients.connect(server.port)
        with pytest.raises(GmError, match=r"^slow down$") as caught:
            client.move(1, "e4")
        error = caught.value
        assert (error.code, error.kind, error.retry_after, error.reply) == ("too_many", "move", 1.5, refusal)
        assert client.ping() == OK


def test_too_long_request_is_refused_before_it_is_sent(clients: Clients) -> None:
    with dialogues(pings(greeting={**HELLO, "limits": {"max_message": 100}})) as server:
        client = clients.connect(server.port)
        with pytest.raises(GmError, match=r"^the request has \d+ bytes; the server accepts at most 100") as caught:
            client.game_from_pgn(1, 2, pgn="1.e4 " * 100)
        assert caught.value.code == "bad_frame"
        assert client.ping() == OK


REPEATABLE: list[tuple[str, Json]] = [
    ("state", {"game_id": 1}),
    ("move", {"game_id": 1, "move": "e4", "ply": 0}),
    ("sense", {"game_id": 2, "square": None, "ply": 0}),
    ("end_game", {"game_id": 3, "termination": "resignation_white", "ply": 4}),
    ("new_game", {"player_white": 1, "player_black": 2}),
    ("game_from_pgn", {"player_white": 1, "player_black": 2, "pgn": "", "token": "mine"}),
    ("register", {"name": "bot"}),
    ("rekey", {"name": "bot"}),
    ("join", {"game_id": 1}),
    ("wait", {"any": True, "except_": [4]}),
]


@pytest.mark.parametrize(("kind", "fields"), REPEATABLE, ids=[kind for kind, _ in REPEATABLE])
def test_repeatable_request_is_sent_again_after_any_break(clients: Clients, kind: str, fields: Json) -> None:
    seen: list[Json | None] = []

    def breaks(peer: JsonPeer) -> None:
        hello = peer.greet()
        assert hello is not None
        assert hello["player"] == 5
        seen.append(peer.read())
        peer.write_bytes(framed({**OK, "id": 0})[: 9 * len(seen) - 9])  # before the first reply, and inside it
        peer.reset()

    def answers(peer: JsonPeer) -> None:
        peer.greet()
        seen.append(peer.read())
        peer.write({**OK, "id": 1})

    with dialogues(breaks, breaks, answers) as server:
        client = clients.connect(server.port, player=5)
        assert client.request(kind, **fields) == {**OK, "id": 1}
    first = seen[0]
    assert first is not None
    assert seen == [first] * 3
    assert ("token" in first) == (kind in {"new_game", "game_from_pgn", "register", "rekey"})
    assert "except" in first or kind != "wait"
    assert first.get("token", "mine") == "mine" or len(first["token"]) == 32


@pytest.mark.parametrize("kind", ["move", "sense", "end_game"])
def test_request_that_may_not_be_repeated_is_not_sent_again(clients: Clients, kind: str) -> None:
    def breaks(peer: JsonPeer) -> None:
        peer.greet()
        peer.expect({"kind": kind})
        peer.reset()

    with dialogues(breaks, pings()) as server:
        client = clients.connect(server.port)
        with pytest.raises(ConnectionLost, match=f"it is not known whether this {kind} was carried out") as caught:
            client.request(kind)
        assert caught.value.sent
        assert 'with "ply" the client would have retried it' in str(caught.value)
        assert client.ping() == OK


def test_lost_idle_connection_is_replaced_before_a_request_is_sent(clients: Clients) -> None:
    """Therefore even a move without a ply is never in doubt."""
    gone = threading.Event()

    def leaves(peer: JsonPeer) -> None:
        peer.greet()
        peer.reset()
        gone.set()

    def move(peer: JsonPeer) -> None:
        peer.greet()
        peer.expect({"kind": "move", "game_id": 1, "move": "e4"})
        peer.write(OK)

    with dialogues(leaves, move) as server:
        client = clients.connect(server.port)
        assert gone.wait(PATIENCE)
        assert client.move(1, "e4") == OK


def test_client_waits_for_a_server_that_stops(clients: Clients) -> None:
    stopping = {"code": "shutting_down", "error": "the server is stopping"}

    def stops(peer: JsonPeer) -> None:
        peer.greet()
        peer.expect({"kind": "move", "game_id": 1, "move": "e4"})
        peer.write(stopping)

    def full(peer: JsonPeer) -> None:
        peer.greet({"code": "too_many", "error": "full", "retry_after": 0.01})

    def answers(peer: JsonPeer) -> None:
        peer.greet()
        peer.expect({"kind": "move", "game_id": 1, "move": "e4"})  # the first server did not carry it out
        peer.write(OK)

    with dialogues(stops, JsonPeer.reset, full, lambda peer: peer.greet(stopping), answers) as server:
        assert clients.connect(server.port).move(1, "e4") == OK


def test_request_refused_by_a_server_without_its_database_is_repeated_where_that_is_safe(clients: Clients) -> None:
    without = {"code": "internal", "error": "game 1: the database cannot be reached now", "retry_after": 0.0}

    def refuses(peer: JsonPeer) -> None:
        peer.greet()
        peer.expect({"kind": "move", "game_id": 1, "move": "e4", "ply": 0})
        peer.write(without)

    def answers(peer: JsonPeer) -> None:
        peer.greet()
        peer.expect({"kind": "move", "game_id": 1, "move": "e4", "ply": 0})
        peer.write(OK)
        peer.expect({"kind": "move", "game_id": 1, "move": "e5"})
        peer.write(without)

    with dialogues(refuses, lambda peer: peer.greet(without), answers) as server:
        client = clients.connect(server.port)
        assert client.move(1, "e4", ply=0) == OK
        with pytest.raises(ConnectionLost, match="it is not known whether this move was carried out"):
            client.move(1, "e5")


def test_refusal_of_the_player_at_a_reconnect_is_raised_at_once(clients: Clients) -> None:
    def refuses(peer: JsonPeer) -> None:
        peer.greet({"code": "unauthorized", "error": "no"})

    def breaks(peer: JsonPeer) -> None:
        peer.greet()
        peer.read()
        peer.reset()

    with dialogues(breaks, refuses, pings()) as server:
        client = clients.connect(server.port)
        with pytest.raises(GmError) as caught:
            client.ping()
        assert (caught.value.code, caught.value.kind) == ("unauthorized", "hello")
        assert client.ping() == OK


def test_client_gives_up_when_its_patience_ends(clients: Clients) -> None:
    def breaks(peer: JsonPeer) -> None:
        peer.greet()
        peer.read()
        peer.reset()

    with dialogues(breaks) as server:
        client = clients.connect(server.port, patience=0.2)
        with pytest.raises(ConnectionLost) as caught:
            client.ping()
    assert not caught.value.sent


def test_connect_is_tried_once_and_reports_the_reason(clients: Clients) -> None:
    refuses = {"code": "unauthorized", "error": "no"}
    with dialogues(lambda peer: peer.greet(refuses)) as server, pytest.raises(GmError, match=r"^no$"):
        clients.connect(server.port)
    with (
        reserved_port() as port,
        pytest.raises(
            ConnectionLost,
            match=rf"^cannot connect to 127\.0\.0\.1:{port}: (Error connecting .*: )?Connection refused$",
        ),
    ):
        clients.connect(port)


@pytest.mark.parametrize(
    "data",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\5hello", b"\0\0\0\2[]", b"\0\0\0\0"],
    ids=["a web server", "no JSON", "no object", "nothing"],
)
def test_server_that_is_no_gm_server_is_detected_at_any_time(clients: Clients, data: bytes) -> None:
    def later(peer: JsonPeer) -> None:
        peer.greet()
        peer.read()
        peer.write_bytes(data)
        peer.read()

    with dialogues(lambda peer: (peer.read(), peer.write_bytes(data)), later) as server:
        with pytest.raises(BadReply):
            clients.connect(server.port)
        client = clients.connect(server.port)
        with pytest.raises(BadReply):
            client.ping()
        clients.close(client)


def test_reconnect_repeats_the_latest_hello(clients: Clients) -> None:
    def first(peer: JsonPeer) -> None:
        peer.greet()
        assert peer.greet({**HELLO, "player": 2}) == {"kind": "hello", "player": 2, "id": 1}
        peer.reset()

    def second(peer: JsonPeer) -> None:
        assert peer.greet() == {"kind": "hello", "protocol": 2, "client": CLIENT, "player": 2}
        peer.expect({"kind": "ping"})
        peer.write(OK)

    with dialogues(first, second) as server:
        client = clients.connect(server.port, player=1, key="one's")
        assert client.hello(player=2, id=1)["player"] == 2
        assert client.player == 2
        assert client.ping() == OK


def test_reconnect_uses_the_new_key(clients: Clients) -> None:
    def first(peer: JsonPeer) -> None:
        peer.greet({**HELLO, "player": 9})
        request = peer.read()
        assert request is not None
        assert request == {"kind": "rekey", "token": request["token"]}
        peer.write({"player": 9, "name": "bot", "key": "new", "error": None})
        peer.reset()

    def second(peer: JsonPeer) -> None:
        assert peer.greet() == {"kind": "hello", "protocol": 2, "client": CLIENT, "name": "bot", "key": "new"}
        peer.expect({"kind": "ping"})
        peer.write(OK)

    with dialogues(first, second) as server:
        client = clients.connect(server.port, name="bot", password="secret")
        assert client.rekey()["key"] == "new"
        assert client.ping() == OK


def test_rekey_with_a_lost_reply_is_repeated_with_the_old_key(clients: Clients) -> None:
    rekeys: list[Json | None] = []
    hello = {"kind": "hello", "protocol": 2, "client": CLIENT, "name": "bot"}

    def first(peer: JsonPeer) -> None:
        peer.greet({**HELLO, "player": 9})
        rekeys.append(peer.read())
        peer.reset()

    def second(peer: JsonPeer) -> None:
        assert peer.greet({"code": "unauthorized", "error": "no"}) == {**hello, "key": "old"}
        rekeys.append(peer.read())
        peer.write({"player": 9, "name": "bot", "key": "new", "error": None})

    def third(peer: JsonPeer) -> None:
        assert peer.greet({**HELLO, "player": 9}) == {**hello, "key": "new"}
        peer.expect({"kind": "ping"})
        peer.write(OK)

    with dialogues(first, second, third) as server:
        client = clients.connect(server.port, name="bot", key="old")
        assert client.rekey()["key"] == "new"
        assert client.ping() == OK
    assert rekeys[0] is not None
    assert rekeys == [{"kind": "rekey", "player": 9, "key": "old", "token": rekeys[0]["token"]}] * 2


def test_silent_server_is_left(clients: Clients) -> None:
    def silent(peer: JsonPeer) -> None:
        peer.greet({**HELLO, "limits": {"max_wait_seconds": -29.9}})  # the client adds 30 seconds
        peer.expect({"kind": "ping"})
        assert peer.read() is None

    with dialogues(silent, pings()) as server:
        assert clients.connect(server.port).ping() == OK


def test_closed_client_refuses_requests(clients: Clients) -> None:
    with dialogues(lambda peer: (peer.greet(), peer.read())) as server:
        client = clients.connect(server.port)
        clients.close(client)
        for ask in (client.ping, client.open, lambda: next(client.turns(1))):
            with pytest.raises(ConnectionLost, match=r"^the client was closed$"):
                ask()


def test_ids_of_any_size_and_texts_of_any_script_are_kept(clients: Clients) -> None:
    def script(peer: JsonPeer) -> None:
        hello = peer.greet()
        assert hello is not None
        assert hello["player"] == -(2**63)
        peer.expect({"kind": "ping", "id": "Zug 1 – ♞"})
        peer.write({**OK, "player": 2**63 - 1})

    with dialogues(script) as server:
        assert clients.connect(server.port, player=-(2**63)).ping(id="Zug 1 – ♞")["player"] == 2**63 - 1


# Turns.


def state(ply_index: int, **more: Any) -> Json:
    return {"game_id": 4, "ply_index": ply_index, "turn": "white", "phase": "move", **more}


def due(ply_index: int) -> Json:
    return {"state": state(ply_index), "sense_actions": None, "move_actions": ["e2e4"], "error": None}


def idle(ply_index: int) -> Json:
    return {**due(ply_index), "move_actions": None}


def over(ply_index: int, **more: Any) -> Json:
    return {**idle(ply_index), "state": state(ply_index, phase="over", result="0-1"), **more}


WAIT: Json = {"kind": "wait", "game_id": 4, "actions": True}
MOVE: Json = {"kind": "move", "game_id": 4, "move": "e2e4", "ply": 0}


def greeted(dialogue: Dialogue) -> Dialogue:
    def script(peer: JsonPeer) -> None:
        peer.greet()
        dialogue(peer)

    return script


def test_loop_waits_for_its_turn_and_sends_the_next_wait_with_the_move(clients: Clients) -> None:
    def script(peer: JsonPeer) -> None:
        for reply in (idle(0), idle(0), due(0)):
            peer.expect(WAIT)
            peer.write(reply)
        peer.expect(MOVE, WAIT)
        peer.write({"state": state(1), "error": None}, due(2))
        peer.expect({**MOVE, "move": "d2d4", "offer_draw": True, "ply": 2}, WAIT)
        peer.write({"state": state(3), "error": None}, over(4))

    seen = []
    with dialogues(greeted(script)) as server:
        turns = clients.unconnected(server.port).turns(4, over=lambda last: seen.append(last))
        first = next(turns)
        assert (first.game_id, first.color, first.ply, first.move_actions) == (4, "white", 0, ["e2e4"])
        assert first.sense_actions == []
        reply = first.move("e2e4")
        assert reply["state"] == first.state == state(1)
        assert (reply["requested_move"], reply["taken_move"], reply["capture_square"]) == ("e2e4", None, None)
        next(turns).move("d2d4", offer_draw=True)
        assert seen == []
        for _ in range(2):
            with pytest.raises(StopIteration):
                next(turns)
    assert seen == [over(4)["state"]]


def test_turn_senses_and_moves_at_one_ply(clients: Clients) -> None:
    seen = [["e7", "bp"]]
    wait = {**WAIT, "seat": "white", "brief": True}
    seat = {"game_id": 4, "seat": "white", "brief": True, "ply": 6}
    results = {"requested_move": "e2e4", "taken_move": "e2e3", "capture_square": None}

    def script(peer: JsonPeer) -> None:
        peer.expect(wait)
        peer.write({**due(6), "state": state(6, phase="sense"), "sense_actions": ["e7"]})
        peer.expect({"kind": "sense", "square": "e7", **seat})
        peer.write({"sense_result": seen, "state": state(6), "error": None})
        peer.expect({"kind": "move", "move": "e2e4", **seat}, wait)
        peer.write({**results, "state": state(7), "error": None}, over(8))

    with dialogues(greeted(script)) as server:
        for turn in clients.unconnected(server.port).turns(4, seat="white", brief=True):
            assert turn.sense_actions == ["e7"]
            assert turn.sense("e7")["sense_result"] == seen
            assert turn.sense_actions == []
            assert turn.move("e2e4")["taken_move"] == "e2e3"


def test_game_that_ends_before_the_action_raises_no_error(clients: Clients) -> None:
    gone = {"state": None, "code": "game_over", "error": "game 4 is over: timeout_white"}

    def script(peer: JsonPeer) -> None:
        peer.expect(WAIT)
        peer.write({**due(0), "sense_actions": ["e7"]})
        peer.expect({"kind": "sense", "game_id": 4, "square": None, "ply": 0})
        peer.write(gone)
        peer.expect({"kind": "state", "game_id": 4})
        peer.write(over(0))
        peer.expect(MOVE, WAIT)
        peer.write(gone, over(0))
        peer.expect({"kind": "state", "game_id": 4})
        peer.write(over(0))

    ends = []
    with dialogues(greeted(script)) as server:
        for turn in clients.unconnected(server.port).turns(4, over=lambda last: ends.append(last)):
            assert turn.sense(None)["sense_result"] == []
            assert turn.move("e2e4")["state"]["result"] == "0-1"
    assert len(ends) == 1


def test_refused_move_leaves_the_turn_and_another_can_be_made(clients: Clients) -> None:
    def script(peer: JsonPeer) -> None:
        peer.expect(WAIT)
        peer.write(due(0))
        peer.expect({**MOVE, "move": "e2e5"}, WAIT)
        peer.write({"state": None, "code": "illegal_move", "error": "no"}, due(0))
        peer.expect(MOVE, WAIT)
        peer.write({"state": state(1), "error": None}, over(2))

    count = 0
    with dialogues(greeted(script)) as server:
        for turn in clients.unconnected(server.port).turns(4):
            count += 1
            with pytest.raises(GmError, match=r"^no$"):
                turn.move("e2e5")
            turn.move("e2e4")
    assert count == 1


def test_resignation_names_the_color(clients: Clients) -> None:
    def script(peer: JsonPeer) -> None:
        peer.expect(WAIT)
        peer.write(due(0))
        peer.expect({"kind": "end_game", "game_id": 4, "termination": "resignation_white", "ply": 0})
        peer.write({"state": over(0)["state"], "error": None})
        peer.expect(WAIT)
        peer.write(over(0))

    with dialogues(greeted(script)) as server:
        for turn in clients.unconnected(server.port).turns(4):
            turn.resign()


def test_loop_without_a_game_id_plays_all_games_without_end(clients: Clients) -> None:
    wait = {"kind": "wait", "any": True, "actions": True}
    last = state(1, game_id=5, phase="over")

    def script(peer: JsonPeer) -> None:
        peer.expect(wait)
        peer.write({"state": None, "sense_actions": None, "move_actions": None, "error": None})
        peer.expect(wait)
        peer.write(over(9, game_id=4))
        peer.expect(wait)
        peer.write({**due(0), "state": state(0, game_id=5), "game_id": 5})
        # If the reply to a move shows the end, a wait may or may not show it again.
        peer.expect({**MOVE, "game_id": 5}, wait)
        peer.write({"state": last, "error": None}, {**over(1), "state": last, "game_id": 5})
        peer.expect(wait)
        peer.write({**due(2), "game_id": 4})
        peer.read()

    ends: list[int] = []
    games = []
    with dialogues(greeted(script)) as server:
        client = clients.unconnected(server.port)
        for turn in client.turns(over=lambda state: ends.append(state["ply_index"])):
            games.append(turn.game_id)
            if turn.game_id == 4:
                break
            turn.move("e2e4")
            assert ends == [9, 1]
        clients.close(client)
    assert (games, ends) == ([5, 4], [9, 1])


def test_loop_survives_lost_connections(clients: Clients) -> None:
    def first(peer: JsonPeer) -> None:
        peer.expect(WAIT)
        peer.reset()

    def second(peer: JsonPeer) -> None:
        peer.expect(WAIT)
        peer.write(due(0))
        peer.expect(MOVE, WAIT)
        peer.reset()

    def third(peer: JsonPeer) -> None:
        peer.expect(MOVE, WAIT)
        peer.write({"state": state(1), "error": None}, over(2))

    with dialogues(*map(greeted, (first, second, third))) as server:
        plies = [turn.move("e2e4")["state"]["ply_index"] for turn in clients.unconnected(server.port).turns(4)]
    assert plies == [1]


# The single file.


def test_blocking_client_is_one_file_and_needs_only_the_standard_library(tmp_path: Path) -> None:
    copy = tmp_path / "my_copy.py"
    copy.write_bytes(Path(blocking.__file__).read_bytes())
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import my_copy; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert loaded - sys.stdlib_module_names - {"__main__"} == {"my_copy"}


def test_client_loads_tls_only_on_request(daemon_process: Served) -> None:
    code = f"""
import sys
from gm_client import connect
with connect(port={daemon_process.port}) as client:
    client.ping(), client.ping()
print("ssl" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_client_has_the_version_of_the_distribution() -> None:
    pyproject = (Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8")
    assert re.search(rf'^version = "{re.escape(blocking.VERSION)}"$', pyproject, re.MULTILINE)
    assert json.loads(encode({"kind": "ping"})) == {"kind": "ping"}


# --- Several servers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", [("a", 7)]),
        ("a:7100,b,[::1]:7101,[fe80::1%eth0]", [("a", 7100), ("b", 7), ("::1", 7101), ("fe80::1%eth0", 7)]),
        ("::1", [("::1", 7)]),
        (":65535", [("127.0.0.1", 65535)]),
    ],
)
def test_addresses_of_servers_are_read(text: str, expected: list[tuple[str, int]]) -> None:
    assert blocking.addresses(text, 7) == expected


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("a,,b", ""), ("a,b:x", "b:x"), ("a:0", "a:0"), ("a,b:65536", "b:65536"), ("a, b", " b"), ("::1,b", "::1")],
)
def test_wrong_address_among_several_is_named(clients: Clients, text: str, wrong: str) -> None:
    sentence = f"^{re.escape(repr(wrong))} is not HOST:PORT, with a port from 1 to 65535$"
    with pytest.raises(ValueError, match=sentence):
        clients.unconnected(7100, host=text)


def frozen(peer: JsonPeer) -> None:
    """Accept a connection, and never answer."""
    assert peer.read() is not None
    assert peer.read() is None  # the client gives up


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a client wait for the answer of each of several servers for a short time only."""
    monkeypatch.setattr(blocking, "ANSWER_SECONDS", 0.1)


def at(*servers: ScriptedServer | int) -> str:
    ports = (server if isinstance(server, int) else server.port for server in servers)
    return ",".join(f"127.0.0.1:{port}" for port in ports)


@pytest.mark.usefixtures("_soon")
def test_servers_are_tried_in_turn_from_the_one_that_answered_last(clients: Clients) -> None:
    tried: list[str] = []

    def stopping(name: str, *, greets: bool) -> Dialogue:
        def script(peer: JsonPeer) -> None:
            tried.append(name)
            stop = {"code": "shutting_down", "error": "stopping"}
            peer.greet(HELLO if greets else stop)
            if greets:
                peer.expect({"kind": "ping"})
                peer.write(stop)

        return script

    def answering(name: str) -> Dialogue:
        def script(peer: JsonPeer) -> None:
            tried.append(name)
            pings()(peer)

        return script

    with (
        reserved_port() as closed,
        dialogues(frozen) as first,
        dialogues(stopping("second", greets=False), answering("second")) as second,
        dialogues(stopping("third", greets=True), answering("third")) as third,
    ):
        client = clients.connect(7100, host=at(closed, first, second, third))
        assert client.ping() == OK
        assert client.ping() == OK  # the third server closes connections from now on
    assert tried == ["second", "third", "third", "second"]
    assert len(first.sessions) == 2


@pytest.mark.usefixtures("_soon")
def test_failure_at_every_server_is_reported(clients: Clients) -> None:
    full = {"code": "too_many", "error": "full", "retry_after": 60}
    with reserved_port() as closed, dialogues(frozen) as silent:
        with pytest.raises(ConnectionLost) as raised:
            clients.connect(7100, host=at(silent, closed))
        late, refused = str(raised.value).split("; ")
        assert late == "the server did not answer in time"
        assert refused.startswith(f"cannot connect to 127.0.0.1:{closed}: ")
        with dialogues(lambda peer: peer.greet(full)) as server, pytest.raises(GmError, match=r"^full$"):
            clients.connect(7100, host=at(server, closed))


def test_refusal_of_the_player_is_not_sought_at_another_server(clients: Clients) -> None:
    refusal = {"code": "unauthorized", "error": "no"}
    with dialogues(lambda peer: peer.greet(refusal)) as first, dialogues() as second:
        with pytest.raises(GmError, match=r"^no$"):
            clients.connect(7100, host=at(first, second))
        assert second.sessions == []


def test_action_without_a_ply_is_not_repeated_at_another_server(clients: Clients) -> None:
    def dies(peer: JsonPeer) -> None:
        peer.greet()
        peer.expect({"kind": "move", "game_id": 1, "move": "e4"})
        peer.reset()

    with dialogues(dies) as first, dialogues(pings()) as second:
        client = clients.connect(7100, host=at(first, second))
        with pytest.raises(ConnectionLost, match="it is not known whether this move was carried out"):
            client.move(1, "e4")
        assert client.ping() == OK
    assert len(second.sessions) == 1


@pytest.mark.usefixtures("_soon")
def test_server_that_freezes_after_its_hello_is_left_for_the_next(clients: Clients) -> None:
    def freezes(peer: JsonPeer) -> None:
        peer.greet({**HELLO, "limits": {"max_wait_seconds": 0.1}})
        peer.expect({"kind": "ping"})
        assert peer.read() is None  # the client gives up

    with dialogues(freezes) as first, dialogues(pings()) as second:
        client = clients.connect(7100, host=at(first, second))
        assert client.ping() == OK
    assert len(second.sessions) == 1
