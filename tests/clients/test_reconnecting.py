"""Sessions of every client go on over connections that break, servers that stop or fall silent, and restarts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from signal import SIGKILL

import pytest

from gm_client import blocking
from tests.clients.python_clients import HELLO, OK, Dialogue, Json, JsonPeer, dialogues, framed
from tests.clients.running import PATIENCE
from tests.clients.sessions import Failed, Opener, Refused, all_but
from tests.serving import reserved_port, served

PING: Json = {"kind": "ping"}
STOPPING: Json = {"code": "shutting_down", "error": "the server is stopping"}
REVOKED: Json = {"code": "unauthorized", "error": "the key was revoked"}

#: Requests that may be sent twice. The client adds a token to some.
REPEATABLE: list[tuple[str, Json]] = [
    ("state", {"game_id": 1}),
    ("move", {"game_id": 1, "move": "e4", "ply": 0}),
    ("sense", {"game_id": 2, "square": None, "ply": 0}),
    ("end_game", {"game_id": 3, "termination": "resignation_white", "ply": 4}),
    ("new_game", {"player_white": 1, "player_black": 2}),
    ("game_from_pgn", {"player_white": 1, "player_black": 2, "pgn": "", "token": "mine"}),
    ("register", {"name": "bot"}),
    ("join", {"game_id": 1}),
    ("wait", {"any": True, "except": [4]}),
]


def heard(*exchanges: tuple[Json, Json], greeting: Json = HELLO, then: Callable[[JsonPeer], object] = id) -> Dialogue:
    """Return a script that answers the hello of player 5, and then these requests; then it closes."""

    def script(peer: JsonPeer) -> None:
        hello = peer.greet(greeting)
        assert hello is not None
        assert hello["player"] == 5
        for request, reply in exchanges:
            peer.expect(request)
            peer.write(reply)
        then(peer)

    return script


def read_and_reset(peer: JsonPeer) -> None:
    """Read a request, and end the connection as a crash does."""
    assert peer.read() is not None
    peer.reset()


def test_repeatable_request_is_sent_again_after_a_break_before_or_inside_its_reply(opened: Opener) -> None:
    lost: list[Json] = []

    def script(number: int) -> Dialogue:
        """Answer the request that the last connection lost, and lose another."""

        def then(peer: JsonPeer) -> None:
            if number > 0:
                peer.expect(lost[-1])
                peer.write({**OK, "id": number})
            if number < len(REPEATABLE):
                request = peer.read()
                assert request is not None
                lost.append(request)
                peer.write_bytes(framed(OK)[: 3 * (number % 3)])
                peer.reset()

        return heard(then=then)

    with dialogues(*map(script, range(len(REPEATABLE) + 1))) as server, opened(server.port, player=5) as session:
        for number, (kind, fields) in enumerate(REPEATABLE, 1):
            assert session.ask(kind, **fields) == {**OK, "id": number}
    for request, (kind, fields) in zip(lost, REPEATABLE, strict=True):
        token = {"token": request["token"]} if kind in blocking.MAKING else {}
        assert request == {"kind": kind, **token, **fields}


@all_but("c")
@pytest.mark.parametrize("kind", ["move", "sense", "end_game"])
def test_action_without_a_ply_is_not_sent_again(kind: str, opened: Opener) -> None:
    """It may have been carried out. Users of the client for C send none."""
    with dialogues(heard(then=read_and_reset)) as first, dialogues() as second:
        with opened(first.port, second.port, player=5) as session, pytest.raises(Failed):
            session.ask(kind, game_id=1)
        assert second.sessions == []


@all_but("node")  # its own tests do this: its driver may read a line before it sees the end of the connection
def test_lost_idle_connection_is_replaced_before_a_request_is_sent(opened: Opener) -> None:
    """Therefore even a move without a ply is never in doubt."""
    gone = threading.Event()
    move = {"kind": "move", "game_id": 1, "move": "e4"}

    def leave(peer: JsonPeer) -> None:
        peer.reset()
        gone.set()

    with (
        dialogues(heard((PING, OK), then=leave), heard((move, OK))) as server,
        opened(server.port, player=5) as session,
    ):
        session.ask("ping")
        assert gone.wait(PATIENCE)
        assert session.ask("move", game_id=1, move="e4") == OK


def test_client_waits_for_a_server_that_stops_and_repeats_what_it_did_not_carry_out(opened: Opener) -> None:
    full = {"code": "too_many", "error": "full", "retry_after": 0.01}
    move = {"kind": "move", "game_id": 1, "move": "e4"}
    scripts = [heard((move, STOPPING)), JsonPeer.reset, heard(greeting=full), heard(greeting=STOPPING)]
    with dialogues(*scripts, heard((move, OK))) as server, opened(server.port, player=5) as session:
        assert session.ask("move", game_id=1, move="e4") == OK


WITHOUT: Json = {"code": "internal", "error": "game 1: the database cannot be reached now", "retry_after": 0.0}


@all_but("gmcat")
def test_request_refused_by_a_server_without_its_database_is_repeated(opened: Opener) -> None:
    move = {"kind": "move", "game_id": 1, "move": "e4", "ply": 0}
    scripts = [heard((move, WITHOUT)), heard(greeting=WITHOUT), heard((move, OK))]
    with dialogues(*scripts) as server, opened(server.port, player=5) as session:
        assert session.ask("move", game_id=1, move="e4", ply=0) == OK


@all_but("gmcat", "c")
def test_move_without_a_ply_refused_by_a_server_without_its_database_is_not_repeated(opened: Opener) -> None:
    """It may have been carried out."""
    move = {"kind": "move", "game_id": 1, "move": "e4"}
    with dialogues(heard((move, WITHOUT))) as first, dialogues() as second:
        with opened(first.port, second.port, player=5) as session, pytest.raises(Failed):
            session.ask("move", game_id=1, move="e4")
        assert second.sessions == []


def test_refusal_of_the_player_at_a_reconnect_is_reported_at_once(opened: Opener) -> None:
    scripts = [heard(then=read_and_reset), heard(greeting=REVOKED)]
    with (
        dialogues(*scripts) as server,
        opened(server.port, player=5) as session,
        pytest.raises((Refused, Failed), match="the key was revoked"),
    ):
        session.ask("ping")


def test_refused_player_is_not_sought_at_another_server(opened: Opener) -> None:
    with dialogues(heard(greeting=REVOKED)) as first, dialogues() as second:
        with (
            pytest.raises(Refused, match="the key was revoked"),
            opened(first.port, second.port, player=5) as session,
        ):
            session.ask("ping")
        assert second.sessions == []


def test_client_gives_up_when_its_patience_ends(opened: Opener) -> None:
    with (
        dialogues(heard(then=read_and_reset)) as server,
        opened(server.port, player=5, patience=0.5) as session,
        pytest.raises(Failed),
    ):
        session.ask("ping")


@pytest.mark.parametrize("data", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff" * 4], ids=["web", "negative"])
def test_server_that_is_no_gm_server_is_detected(data: bytes, opened: Opener) -> None:
    def script(peer: JsonPeer) -> None:
        peer.read()
        peer.write_bytes(data)
        peer.read()

    with dialogues(heard((PING, OK), then=script)) as server, opened(server.port, player=5) as session:
        session.ask("ping")
        with pytest.raises(Failed, match="gm server"):
            session.ask("ping")


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the Python clients wait for the answer of each of several servers for a short time only."""
    monkeypatch.setattr(blocking, "ANSWER_SECONDS", 0.5)


#: Patience of sessions with a frozen server: gmcat leaves such a server after this time.
SHORT = {"gmcat": 1.0}


def frozen(peer: JsonPeer) -> None:
    """Accept a connection, and never answer."""
    assert peer.read() is not None
    assert peer.read() is None  # the client gives up


@all_but("node")  # its own tests do this: it waits for five seconds for each server
@pytest.mark.usefixtures("_soon")
def test_servers_are_tried_in_turn_from_the_one_that_answered_last(language: str, opened: Opener) -> None:
    with (
        reserved_port() as closed,
        dialogues(frozen) as silent,
        dialogues(heard(greeting=STOPPING)) as stops,
        dialogues(heard((PING, OK), then=read_and_reset), heard((PING, OK))) as serves,
        opened(closed, silent.port, stops.port, serves.port, player=5, patience=SHORT.get(language, 10)) as session,
    ):
        assert session.ask("ping") == OK
        assert session.ask("ping") == OK


@all_but("c", "node")  # both wait for longer, and their own tests do this
@pytest.mark.usefixtures("_soon")
def test_server_that_falls_silent_after_its_hello_is_left(language: str, opened: Opener) -> None:
    # gmcat adds five seconds to the longest wait, and the Python clients the half second from above.
    greeting = {**HELLO, "limits": {"max_wait_seconds": -4.5 if language == "gmcat" else 0.1}}

    def silent(peer: JsonPeer) -> None:
        peer.expect(PING)
        assert peer.read() is None

    with (
        dialogues(heard(greeting=greeting, then=silent)) as first,
        dialogues(heard((PING, OK))) as second,
        opened(first.port, second.port, player=5) as session,
    ):
        assert session.ask("ping") == OK


@pytest.mark.parametrize(("text", "wrong"), [("a,b:x", "b:x"), ("a:0", "a:0"), ("::1,b", "::1")])
def test_wrong_address_of_a_server_is_named(text: str, wrong: str, opened: Opener) -> None:
    with pytest.raises(Failed, match=f"'{wrong}.*'|is not HOST:PORT") as failure, opened(text) as session:
        session.ask("ping")
    assert wrong in str(failure.value)


@all_but("blocking", "c", "node")  # the random bots do this with theirs
@pytest.mark.slow
def test_session_goes_on_at_the_daemon_that_takes_over(opened: Opener, tmp_path: Path) -> None:
    """The first daemon is killed between two requests, and the second one while a ``wait`` is under way."""
    data = ("--data", str(tmp_path), "--port")
    with reserved_port() as one, reserved_port() as two, ExitStack() as stack:
        with served(*data, str(one)) as daemon:
            session = stack.enter_context(opened(one, two, player=1, patience=PATIENCE))
            game = session.ask("new_game", player_white=1, player_black=2)["game_id"]
            daemon.stop(SIGKILL)
        waited: list[Json] = []
        waiting = threading.Thread(target=lambda: waited.append(session.ask("wait", game_id=game)))
        with served(*data, str(two)) as daemon:
            assert session.ask("move", game_id=game, move="e4", ply=0)["state"]["last_move"] == "e2e4"
            waiting.start()
            daemon.stop(SIGKILL)
        with served(*data, str(one)), blocking.connect(port=one, player=2) as black:
            black.move(game, "e5", ply=1)
            waiting.join(PATIENCE)
    assert waited[0]["state"]["last_move"] == "e7e5"
