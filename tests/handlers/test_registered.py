"""Registered players in the protocol: register, hello, rekey, revoke, and the players that the server authenticates."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import structlog
import trio
import trio.testing
from rich.pretty import pretty_repr
from trio.testing import MockClock

from gmd.handlers.context import Authority
from gmd.handlers.dispatch import HANDLERS
from gmd.handlers.in_process import InProcessClient, Refused, Sender
from gmd.players.account import FIRST_PLAYER
from gmd.players.passwords import AT_A_TIME
from gmd.tcp.listener import SessionServer
from tests.helpers import Client, Json, MemoryDaemon, durable_daemon, memory_daemon, running_daemon, store_in

PASSWORD = "correct horse"


class House(NamedTuple):
    """A daemon, its operator, and a client that has sent only a hello."""

    daemon: MemoryDaemon
    operator: Client
    client: Client


@asynccontextmanager
async def house(**settings: Any) -> AsyncIterator[House]:
    async with memory_daemon(**settings) as daemon, trio.open_nursery() as nursery:
        server = SessionServer(daemon.services, authority=Authority.OPERATOR)
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(server.handle, theirs)
        operator = Client(ours)
        await operator.ask("hello")
        yield House(daemon, operator, await daemon.connect())
        nursery.cancel_scope.cancel()


async def register(client: Client, name: str = "bot", **fields: Any) -> tuple[int, str]:
    reply = await client.ask("register", name=name, **fields)
    assert reply["error"] is None, reply
    return reply["player"], reply["key"]


def refused(player: int) -> Json:
    """Return the refusal of a request with a wrong key."""
    return {
        "code": "unauthorized",
        "error": f"player: the key does not belong to player {player}; check the key (GM_KEY, or --key @FILE)",
    }


def refused_without_key(player: int) -> Json:
    return {
        "code": "unauthorized",
        "error": f"player: {player} is a registered player's id; send the player's key with it",
    }


async def test_registration_returns_an_id_and_a_valid_key() -> None:
    async with house() as (daemon, _operator, client):
        reply = await client.ask("register", name="My-Bot", id=5)
        assert reply == {"id": 5, "player": FIRST_PLAYER, "name": "My-Bot", "key": reply["key"], "error": None}
        await client.new_game(FIRST_PLAYER, 2, player=FIRST_PLAYER, key=reply["key"])
        moved = await client.ask("move", game_id=1, player=FIRST_PLAYER, key=reply["key"], move="e4")
        assert moved["error"] is None
        one_shot = await (await daemon.connect(hello=False)).ask(
            "state", game_id=1, player=FIRST_PLAYER, key=reply["key"]
        )
        assert one_shot["error"] is None


@pytest.mark.parametrize("way", ["player and key", "name and key", "name and password"])
async def test_hello_authenticates_the_player_of_the_session(way: str) -> None:
    async with house() as (_, _operator, client):
        player, key = await register(client, "My-Bot", password=PASSWORD)
        fields: Json = {
            "player and key": {"player": player, "key": key},
            "name and key": {"name": "my-bot", "key": key},
            "name and password": {"name": "MY-BOT", "password": PASSWORD},
        }[way]
        assert (await client.ask("hello", **fields))["player"] == player
        made = await client.new_game(player, 2)
        assert made["state"]["phase"] == "move"
        assert (await client.ask("move", game_id=1, move="e4"))["error"] is None
        assert (await client.ask("state", game_id=1, player=player))["error"] is None
        wrong = await client.ask("state", game_id=1, key="x")
        assert wrong == refused(player)
        await client.ask("hello", player=2)
        assert await client.ask("state", game_id=1, player=player) == refused_without_key(player)


async def test_contradicting_fields_of_hello_are_refused() -> None:
    wrong: list[tuple[Json, str]] = [
        ({"name": "bot", "player": 5, "key": "x"}, "name: 'bot' and player are both given; send one of them"),
        ({"name": "bot", "key": "x", "password": "y"}, "password: key is given, too; send one of them"),
        ({"player": 5, "password": "y"}, "password: it needs a name; send both"),
        ({"password": "y"}, "password: it needs a name; send both"),
    ]
    async with house() as (_, _operator, client):
        for fields, error in wrong:
            assert await client.ask("hello", **fields) == {"code": "bad_request", "error": error}


async def test_password_is_accepted_only_in_hello() -> None:
    async with house() as (_, _operator, client):
        player, _ = await register(client, password=PASSWORD)
        await client.new_game(1, 2)
        for fields in ({"password": PASSWORD}, {"key": PASSWORD}, {"name": "bot", "password": PASSWORD}):
            assert await client.ask("state", game_id=1, player=player, **fields) == (
                refused(player) if "key" in fields else refused_without_key(player)
            )


@pytest.mark.parametrize("name", ["the operator", "The Operator", "a guest", "Guest 17", "player 9", "open seat"])
async def test_name_that_pages_use_for_others_is_refused(name: str) -> None:
    async with house() as (_, operator, client):
        for each in (client, operator):
            assert await each.ask("register", name=name) == {
                "code": "not_available",
                "error": f"name: {name!r} is what pages call others; choose another",
            }
        for allowed in ("operator", "guest", "player-9", "Guest of honour"):
            assert (await client.ask("register", name=allowed))["error"] is None


async def test_invalid_registration_is_refused() -> None:
    wrong: list[tuple[Json, str]] = [
        *(({"name": name}, "name: ") for name in ("two  spaces", " space", "", "x" * 65, "bot\n")),
        ({"name": "bot", "password": "short"}, "password: 5 characters are not between 8 and 256"),
        ({"name": "bot", "token": ""}, "token: 0 characters are not between 1 and 256"),
        ({"name": "bot", "token": "t" * 257}, "token: 257 characters are not between 1 and 256"),
    ]
    async with house() as (daemon, _operator, client):
        for fields, error in wrong:
            reply = await client.ask("register", **fields)
            assert (reply["code"], reply["error"][: len(error)]) == ("bad_request", error)
        assert len(daemon.authenticator.registry) == 0


async def test_registration_can_be_repeated_with_its_token_and_password() -> None:
    async with house() as (_, _operator, client):
        first = await client.ask("register", name="bot", token="t", password=PASSWORD)
        assert await client.ask("register", name="bot", token="t", password=PASSWORD) == first
        for other in ({}, {"password": "another one"}):
            assert await client.ask("register", name="bot", token="t", **other) == {
                "code": "bad_request",
                "error": "token: it was used for a registration with another password",
            }
        assert await client.ask("register", name="bot", token="u", password=PASSWORD) == {
            "code": "not_available",
            "error": "name: 'bot' is taken; choose another",
        }
        await client.ask("hello", name="bot", key=first["key"])
        again = await client.ask("register", name="bot", token="t", password=PASSWORD)
        assert again == {**first, "key": None}


async def test_player_rekeys_itself_and_its_session_continues() -> None:
    async with house() as (daemon, _operator, client):
        player, old = await register(client)
        await client.ask("hello", player=player, key=old)
        other = await daemon.connect()
        await other.ask("hello", player=player, key=old)
        new = (await client.ask("rekey", token="t"))["key"]
        assert await client.ask("rekey", token="t") == {"player": player, "name": "bot", "key": new, "error": None}
        assert (await client.ask("new_game", player_white=player, player_black=2))["error"] is None
        assert await other.ask("state", game_id=1) == refused_without_key(player)  # the session began with the old key
        lost = await other.ask("rekey", player=player, key=old, token="t")  # the first reply may have been lost
        assert lost["key"] == new
        assert (await other.ask("hello", player=player, key=new))["player"] == player
        assert await client.ask("rekey", player=player, key=old, token="t") == refused(player)


class Held(str):
    """A password whose hashing begins only when all such passwords are released."""

    released = threading.Event()

    def encode(self, *arguments: str) -> bytes:
        assert self.released.wait(60), "the test has ended without releasing the password"
        return super().encode(*arguments)


async def test_cancelled_registration_does_not_count_against_its_address() -> None:
    limits = {"max_registrations_per_hour": 1, "max_registrations_per_day": 1}
    async with memory_daemon(**limits) as daemon:
        in_process, sender = InProcessClient(daemon.services), Sender(None, "192.0.2.1:4711", trio.current_time())
        fields = {"name": "bot", "password": PASSWORD}
        async with trio.open_nursery() as nursery:
            for _ in range(AT_A_TIME):  # everyone else waits for a turn
                nursery.start_soon(daemon.authenticator.passwords.hash, Held(PASSWORD))
            await trio.testing.wait_all_tasks_blocked()
            async with trio.open_nursery() as requests:
                requests.start_soon(in_process.ask, Authority.CLIENT, "register", fields, sender)
                await trio.testing.wait_all_tasks_blocked()
                requests.cancel_scope.cancel()
            Held.released.set()
        reply = await in_process.ask(Authority.CLIENT, "register", fields, sender)
        assert (reply["name"], reply["error"]) == ("bot", None)
        with pytest.raises(Refused, match="max_registrations_per_"):
            await in_process.ask(Authority.CLIENT, "register", {"name": "second"}, sender)


async def test_only_a_registered_player_can_rekey() -> None:
    async with house() as (_, operator, client):
        await register(client)
        assert (await client.ask("rekey"))["code"] == "bad_request"
        assert (await client.ask("rekey", player=5))["code"] == "bad_request"
        assert (await client.ask("rekey", name="bot"))["code"] == "bad_request"
        assert (await operator.ask("rekey"))["error"] == "player: missing; give it, or a name"
        assert (await operator.ask("rekey", name="b"))["error"] == "name: nobody is registered as 'b'"
        assert (await operator.ask("rekey", name="BOT"))["player"] == FIRST_PLAYER


async def test_revocation_ends_the_sessions_of_a_player_but_not_its_games(autojump_clock: MockClock) -> None:
    async with house() as (daemon, operator, client):
        player, key = await register(client)
        await client.ask("hello", player=player, key=key)
        await client.new_game(player, 2, clock={"initial": 60})
        waiting = await daemon.connect()
        await waiting.ask("hello", player=player, key=key)
        await waiting.send({"kind": "wait", "game_id": 1, "seat": "white"}, {"kind": "state", "game_id": 1})
        assert (await waiting.receive())["error"] is None
        assert (await waiting.receive())["error"] is None
        asleep = await daemon.connect()
        await asleep.ask("hello", player=player, key=key)
        await asleep.send({"kind": "wait", "any": True, "except": [1]})
        await trio.testing.wait_all_tasks_blocked()
        with structlog.testing.capture_logs() as logged:
            reply = await operator.ask("revoke", name="bot")
            assert await asleep.receive() == refused_without_key(player)
            for ended in (client, waiting, asleep):
                assert await ended.closed()
        assert reply == {"player": player, "name": "bot", "error": None}
        revocation = {"event": "revoked by the operator", "log_level": "info", "player": player}
        assert revocation in logged
        assert [line["reason"] for line in logged if line["event"] == "session ended"] == ["revoked"] * 3
        anybody = await daemon.connect()
        assert (await anybody.ask("state", game_id=1))["state"]["termination"] == "available_move"
        assert await anybody.ask("hello", player=player, key=key) == refused(player)
        assert (await anybody.ask("new_game", player_white=2, player_black=player))["code"] == "not_available"
        new = (await operator.ask("rekey", player=player))["key"]
        assert (await anybody.ask("state", game_id=1, player=player, key=new))["error"] is None


async def test_some_kinds_are_reserved_for_the_operator() -> None:
    async with house() as (_, _operator, client):
        player, key = await register(client)
        for kind, fields in {"revoke": {"player": player, "key": key}, "players": {}}.items():
            assert await client.ask(kind, **fields) == {
                "code": "unauthorized",
                "error": f"kind: {kind} is for the operator only, over the operator's socket",
            }


async def test_operator_lists_all_players_in_pages() -> None:
    async with house() as (_, operator, client):
        for number in range(5):
            await register(client, f"bot-{number}", **({"password": PASSWORD} if number == 4 else {}))
        await operator.ask("revoke", name="bot-3")
        page = await operator.ask("players", limit=2)
        assert page["before"] == FIRST_PLAYER + 3
        assert page["players"] == [
            {
                "player": FIRST_PLAYER + number,
                "name": f"bot-{number}",
                "password": number == 4,
                "revoked": number == 3,
                "here": False,
                "room": 4,
                "created": row["created"],  # the second in which each was created
            }
            for number, row in zip((4, 3), page["players"], strict=True)
        ]
        rest = await operator.ask("players", before=page["before"])
        assert [row["name"] for row in rest["players"]] == ["bot-2", "bot-1", "bot-0"]
        assert rest["before"] is None
        assert (await operator.ask("players", before=2**63 - 1))["players"] == page["players"] + rest["players"]
        assert (await operator.ask("players", before=-5))["players"] == []


async def test_only_registered_players_may_act_if_registration_is_required() -> None:
    async with house(require_registration=True) as (daemon, _operator, client):
        player, key = await register(client)
        mine = {"player": player, "key": key}
        await client.new_game(player, None, **mine)
        words = "is an open id, and this server takes only registered players"
        for kind, fields in {"join": {}, "state": {}, "move": {"move": "e4"}, "wait": {"timeout": 0}}.items():
            reply = await client.ask(kind, game_id=1, player=7, **fields)
            assert (reply["code"], reply["error"]) == ("unauthorized", f"player: 7 {words}")
        assert (await client.ask("hello", player=7))["code"] == "unauthorized"
        named = await client.ask("new_game", player_white=player, player_black=7, **mine)
        assert (named["code"], named["error"]) == ("not_available", f"player_black: 7 {words}")
        nobody = await client.ask("new_game", player_white=None, player_black=None)
        assert nobody["error"] == "player: missing; on this server only registered players create games"
        assert (await client.ask("state", game_id=1))["error"] is None
        assert (await (await daemon.connect()).ask("games"))["error"] is None


async def test_players_and_keys_survive_a_restart(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            player, key = await register(client, "Bot", password=PASSWORD)
        async with durable_daemon(store) as daemon:
            client = await daemon.connect()
            for fields in ({"player": player, "key": key}, {"name": "bot", "password": PASSWORD}):
                assert (await client.ask("hello", **fields))["player"] == player
            assert (await client.ask("register", name="BOT"))["code"] == "not_available"
            assert (await register(client, "other"))[0] == player + 1


async def test_registration_is_durable_before_it_is_acknowledged(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            player, key = await register(await daemon.connect())
            async with durable_daemon(store) as other:  # reads what another process would find now
                assert (await (await other.connect()).ask("hello", player=player, key=key))["player"] == player


# --- Attempts ---------------------------------------------------------------------------------------------------


async def connect(port: int, source: str) -> Client:
    """Return a session from an address of this machine."""
    client = Client(await trio.open_tcp_stream("127.0.0.1", port, local_address=source))
    assert (await client.ask("hello"))["error"] is None
    return client


@pytest.mark.usefixtures("separate_loopback")
async def test_failed_attempts_are_limited_by_address_but_a_right_key_is_accepted() -> None:
    async with running_daemon(max_failures_per_minute=3) as daemon:
        one, other = await connect(daemon.port, "127.0.0.1"), await connect(daemon.port, "127.0.0.2")
        player, key = await register(one)
        for target in (player, player + 1, player):
            assert await one.ask("hello", player=target, key="x") == refused(target)
        for target in (player, player + 1):
            reply = await one.ask("hello", player=target, key="x")
            assert 0 < reply.pop("retry_after") <= 20
            assert reply == {
                "code": "too_many",
                "error": "max_failures_per_minute: 3 from this address are used up; try again later",
            }
        assert (await one.ask("hello", player=player, key=key))["error"] is None
        assert await other.ask("hello", player=player, key="x") == refused(player)
        for client in (one, other):
            await client.aclose()


async def test_passwords_are_not_compared_after_too_many_failures() -> None:
    async with running_daemon(max_failures_per_minute=2) as daemon:
        client = await connect(daemon.port, "127.0.0.1")
        await register(client, password=PASSWORD)
        for _ in range(5):
            assert (await client.ask("hello", name="bot", password=PASSWORD))["error"] is None
        for name in ("bot", "nobody"):
            assert await client.ask("hello", name=name, password="wrong") == {
                "code": "unauthorized",
                "error": f"password: wrong password for '{name}'; check both",
            }
        looked_at = daemon.authenticator.passwords.verified
        reply = await client.ask("hello", name="nobody", password="wrong")
        assert 0 < reply.pop("retry_after") <= 30
        assert reply == {
            "code": "too_many",
            "error": "max_failures_per_minute: 2 from this address are used up; try again later: too many wrong keys "
            "and passwords have come from this address, so this password was not checked",
        }
        assert daemon.authenticator.passwords.verified == looked_at
        # this player is known at the address
        assert (await client.ask("hello", name="bot", password=PASSWORD))["error"] is None
        await client.aclose()


@pytest.mark.usefixtures("separate_loopback")
async def test_wrong_tokens_count_as_failed_attempts() -> None:
    """Until its key is used, the token of a registration is as valuable as the key."""
    async with running_daemon(max_failures_per_minute=3) as daemon:
        one, other = await connect(daemon.port, "127.0.0.1"), await connect(daemon.port, "127.0.0.2")
        first = await one.ask("register", name="bot", token="t")
        for _ in range(5):
            assert (await one.ask("register", name="bot"))["code"] == "not_available"  # this guesses nothing
        for token in "abc":
            assert (await one.ask("register", name="bot", token=token))["code"] == "not_available"
        for token in "de":
            assert (await one.ask("register", name="bot", token=token))["code"] == "too_many"
        assert await one.ask("register", name="bot", token="t") == first
        assert (await other.ask("register", name="bot", token="e"))["code"] == "not_available"
        for client in (one, other):
            await client.aclose()


async def test_no_password_is_hashed_if_there_is_no_room() -> None:
    """Otherwise anyone could request this work without end, because a refused attempt is not counted."""
    async with house(max_players=1) as (daemon, _operator, client):
        await register(client)
        daemon.authenticator.passwords.close()  # every use of it fails now
        for _ in range(2):
            reply = await client.ask("register", name="other", password=PASSWORD)
            assert (reply["code"], reply["retry_after"]) == ("too_many", 3600.0)
            assert reply["error"] == "max_players: the limit of 1 players is reached"


async def test_address_of_a_closed_connection_is_limited_too() -> None:
    """A connection may be reset before it is accepted; the server reads what it has sent anyway."""
    async with memory_daemon(max_registrations_per_hour=2) as daemon:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            for number in range(5):
                client = socket.create_connection(listener.getsockname())
                accepted, _ = listener.accept()
                client.sendall(_frame(f'{{"kind": "register", "name": "bot-{number}"}}'))
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.close()
                await daemon.session_server.handle(trio.SocketStream(trio.socket.from_stdlib_socket(accepted)))
        assert len(daemon.authenticator.registry) <= 2


async def test_operator_can_register_without_limit_if_others_may_not() -> None:
    async with house(max_registrations_per_hour=0) as (_, operator, client):
        assert await client.ask("register", name="bot") == {
            "code": "unauthorized",
            "error": "kind: on this server the operator registers the players",
        }
        for number in range(5):
            await register(operator, f"bot-{number}")


# --- Secrets ----------------------------------------------------------------------------------------------------


async def test_no_error_and_no_log_repeats_a_key_or_a_password() -> None:
    bodies = [
        '{"kind": "state", "game_id": 1, "player": 4503599627370497, "key": ["SECRET"]}',
        '{"kind": "hello", "name": "bot", "password": {"x": "SECRET"}}',
        '{"kind": "hello", "name": "bot", "password": "SECRET"}',
        '{"kind": "hello", "name": "bot", "key": "SECRET"}',
        '{"kind": "hello", "client": {"key": "SECRET"}}',
        '[{"kind": "hello", "key": "SECRET"}]',
        '{"kind": "register", "name": "b", "password": "SECRET"}',
        '{"kind": "move", "player": 4503599627370497, "key": "SECRET", "game_id": 1, "move": 5}',
        '{"kind": "nothing", "key": "SECRET"}',
        '{"kind": "rekey", "player": 4503599627370497, "key": "SECRET", "token": "SECRET"}',
    ]
    with structlog.testing.capture_logs() as logged:
        async with house() as (_, _operator, client):
            await register(client, password=PASSWORD)
            await client.new_game(1, 2)
            for body in bodies:
                await client.send_bytes(_frame(body))
                reply = await client.receive()
                assert reply["error"] is not None
                assert "SECRET" not in str(reply)
    assert "SECRET" not in str(logged)


def _frame(body: str) -> bytes:
    return len(body).to_bytes(4, "big") + body.encode()


async def test_internal_failure_logs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    async def fail(request: object, call: object) -> None:
        shown.append(f"{request!r} {call!r} {pretty_repr(request)} {pretty_repr(call)}")
        raise RuntimeError(shown[-1])

    with structlog.testing.capture_logs() as logged:
        async with house() as (_, _operator, client):
            player, key = await register(client)
            for request in list(HANDLERS):
                monkeypatch.setitem(HANDLERS, request, fail)
            for fields in ({"key": key}, {"name": "bot", "password": PASSWORD}):
                reply = await client.ask("hello", player=player, **fields)
                assert reply["code"] == "internal"
    assert len(shown) == 2
    for text in (*map(str, logged), *shown):
        assert key not in text
        assert PASSWORD not in text


async def test_server_with_a_code_registers_those_who_send_it_and_the_operators_players() -> None:
    async with house(invite="spring term") as (_, operator, client):
        missing = await client.ask("register", name="ann")
        assert (missing["code"], missing["error"].split(":")[0]) == ("unauthorized", "invite")
        assert "spring" not in missing["error"]
        first = await client.ask("register", name="ann", invite="spring term", token="a long token")
        assert first["error"] is None
        again = await client.ask("register", name="ann", invite="spring term", token="a long token")
        assert (again["player"], again["key"]) == (first["player"], first["key"])
        assert (await operator.ask("register", name="bob"))["error"] is None


async def test_wrong_codes_use_up_the_attempts_of_their_address() -> None:
    async with running_daemon(invite="spring term", max_failures_per_minute=3) as daemon:
        client = Client(await trio.open_tcp_stream("127.0.0.1", daemon.port))
        await client.ask("hello")
        for _ in range(3):
            assert (await client.ask("register", name="cyd", invite="summer term"))["code"] == "unauthorized"
        assert (await client.ask("register", name="cyd", invite="spring term"))["code"] == "too_many"
        await client.aclose()


async def test_wrong_keys_keep_no_neighbour_with_the_code_from_registering() -> None:
    async with running_daemon(invite="spring term", max_failures_per_minute=3) as daemon:
        client = Client(await trio.open_tcp_stream("127.0.0.1", daemon.port))
        await client.ask("hello")
        ann = await client.ask("register", name="ann", invite="spring term")
        codes = [(await client.ask("hello", player=ann["player"], key="wrong"))["code"] for _ in range(4)]
        assert codes == ["unauthorized"] * 3 + ["too_many"]
        assert (await client.ask("register", name="bob", invite="spring term"))["error"] is None
        await client.aclose()


async def test_class_registers_at_once_from_one_address() -> None:
    async with house(invite="spring term") as (daemon, _operator, _client):
        students = [await daemon.connect() for _ in range(30)]
        for number, student in enumerate(students):
            await student.send(
                {"kind": "register", "name": f"student-{number}", "password": PASSWORD, "invite": "spring term"}
            )
        assert [(await student.receive())["error"] for student in students] == [None] * 30
