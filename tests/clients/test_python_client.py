"""The Python clients with scripted servers: requests, errors, and loops of turns.

Lost connections are in ``test_reconnecting.py`` and ``test_lost_replies.py``.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gm_client import BadReply, ClientError, ConnectionLost, GmError, blocking, trio_client, trio_connection
from tests.clients.python_clients import HELLO, OK, Clients, Dialogue, Json, JsonPeer, dialogues, framed
from tests.serving import Served, reserved_port

CLIENT = f"gm_client/{blocking.VERSION}"


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
    "challenge": (("bot",), {"opponent": "bot"}),
    "seek": ((), {}),
    "accept": ((3,), {"game_id": 3}),
    "decline": ((3,), {"game_id": 3}),
    "invitations": ((), {}),
    "settings": ((), {}),
    "leaderboard": ((), {}),
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
        peer.expect({"kind": "wait", "any": True, "except": [4]})
        peer.write(OK)

    with dialogues(script) as server:
        client = clients.connect(server.port)
        assert KINDS.keys() == blocking.READING | blocking.ACTING | blocking.MAKING
        for kind, (arguments, _) in KINDS.items():
            assert getattr(client, kind)(*arguments, id="x", player=None) == HELLO
        assert client.wait(any=True, except_=[4]) == OK


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
    pgn = "1.e4 " * 1_000_000

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
    def script(peer: JsonPeer) -> None:
        peer.greet()
        peer.expect({"kind": "move", "game_id": 1, "move": "e4"})
        peer.write(REFUSAL)
        peer.expect({"kind": "ping"})
        peer.write(OK)

    with dialogues(script) as server:
        client = clients.connect(server.port)
        with pytest.raises(GmError, match=r"^slow down$") as caught:
            client.move(1, "e4")
        error = caught.value
        assert (error.code, error.kind, error.retry_after, error.reply) == ("too_many", "move", 1.5, REFUSAL)
        assert client.ping() == OK


REFUSAL = {"state": None, "code": "too_many", "error": "slow down", "retry_after": 1.5}


@pytest.mark.parametrize(
    "error",
    [
        GmError(REFUSAL, "move"),
        GmError({"error": "no"}, "ping"),
        ConnectionLost("gone", sent=True),
        BadReply("no JSON"),
    ],
)
@pytest.mark.parametrize("copied", [lambda error: pickle.loads(pickle.dumps(error)), copy.deepcopy])
def test_error_is_the_same_in_another_process(error: Exception, copied: Callable[[Exception], Exception]) -> None:
    error.add_note("in game 3")
    other = copied(error)
    assert type(other) is type(error)
    assert (str(other), other.args, vars(other)) == (str(error), error.args, vars(error))


def test_every_error_of_the_client_is_a_client_error_and_a_lost_connection_is_python_s_too() -> None:
    assert {error for error in vars(blocking).values() if isinstance(error, type) and issubclass(error, Exception)} == {
        ClientError, GmError, ConnectionLost, BadReply,
    }  # fmt: skip
    assert all(issubclass(error, ClientError) for error in (GmError, ConnectionLost, BadReply))
    assert issubclass(ConnectionLost, ConnectionError)


def test_too_long_request_is_refused_before_it_is_sent(clients: Clients) -> None:
    with dialogues(pings(greeting={**HELLO, "limits": {"max_message": 100}})) as server:
        client = clients.connect(server.port)
        with pytest.raises(GmError, match=r"^the request has \d+ bytes; the server accepts at most 100") as caught:
            client.game_from_pgn(1, 2, pgn="1.e4 " * 100)
        assert caught.value.code == "bad_frame"
        assert client.ping() == OK


def test_unknown_outcome_of_an_action_is_explained_and_the_session_goes_on(clients: Clients) -> None:
    def breaks(peer: JsonPeer) -> None:
        peer.greet()
        peer.expect({"kind": "move", "game_id": 1, "move": "e4"})
        peer.reset()

    with dialogues(breaks, pings()) as server:
        client = clients.connect(server.port)
        with pytest.raises(ConnectionLost, match="it is not known whether this move was carried out") as caught:
            client.move(1, "e4")
        assert caught.value.sent
        assert 'with "ply" the client would have retried it' in str(caught.value)
        assert client.ping() == OK


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


@pytest.mark.parametrize("data", [b"\0\0\0\5hello", b"\0\0\0\2[]"], ids=["no JSON", "no object"])
def test_reply_that_is_no_object_is_an_error(clients: Clients, data: bytes) -> None:
    with dialogues(lambda peer: (peer.read(), peer.write_bytes(data))) as server, pytest.raises(BadReply):
        clients.connect(server.port)


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
        peer.expect({**MOVE, "move": "d2d4", "offer_draw": True, "claim_draw": True, "ply": 2}, WAIT)
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
        next(turns).move("d2d4", offer_draw=True, claim_draw=True)
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
            turn.sense("e7")
            assert turn.reply["sense_result"] == seen
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
            assert turn.sense(None) == turn.reply["sense_result"] == []
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
    client.ping()
print("ssl" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_addresses_of_servers_are_read() -> None:
    for text, expected in (
        ("a:7100,b,[::1]:7101,[fe80::1%eth0]", [("a", 7100), ("b", 7), ("::1", 7101), ("fe80::1%eth0", 7)]),
        ("::1", [("::1", 7)]),
        (":65535", [("127.0.0.1", 65535)]),
    ):
        assert blocking.addresses(text, 7) == expected


def test_failure_at_every_server_is_reported(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "ANSWER_SECONDS", 0.1)
    full = {"code": "too_many", "error": "full", "retry_after": 60}

    def frozen(peer: JsonPeer) -> None:
        assert peer.read() is not None
        assert peer.read() is None  # the client gives up

    with reserved_port() as closed, dialogues(frozen) as silent, pytest.raises(ConnectionLost) as raised:
        clients.connect(7100, host=f"127.0.0.1:{silent.port},127.0.0.1:{closed}")
    late, refused = str(raised.value).split("; ")
    assert late == "the server did not answer in time"
    assert refused.startswith(f"cannot connect to 127.0.0.1:{closed}: ")
    with (
        reserved_port() as closed,
        dialogues(lambda peer: peer.greet(full)) as server,
        pytest.raises(GmError, match=r"^full$"),
    ):
        clients.connect(7100, host=f"127.0.0.1:{server.port},127.0.0.1:{closed}")
