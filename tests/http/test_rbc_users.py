"""Registration and authentication over HTTP."""

from __future__ import annotations

from base64 import b64encode

import httpx
import pytest
import reconchess
import trio

from tests.helpers import Client
from tests.http.contract import BODIES, DOCUMENTED
from tests.http.helpers import http_client, http_daemon
from tests.http.rbc import answered, rbc_table

#: The body that ``rc-register`` sends.
REGISTRATION = {
    "username": "my-bot",
    "email": "me@example.org",
    "affiliation": "An Institute",
    "password": "correct horse",
}


async def test_version_is_that_of_the_installed_client() -> None:
    async with http_daemon() as (_, client):
        assert answered(await client.get("/api/version")) == {"version": reconchess.__version__}


async def test_registered_player_plays_with_its_password_and_keeps_its_name() -> None:
    async with http_daemon() as (daemon, client):
        assert answered(await client.post("/api/users/", json=REGISTRATION)) == {"username": "my-bot"}
        account = daemon.authenticator.registry.named("my-bot")
        assert account is not None
        assert account.password is not None
        auth = ("my-bot", "correct horse")
        assert (await client.get("/api/games/1/color", auth=auth)).status_code == 404
        for name in ("my-bot", "MY-BOT"):
            response = await client.post("/api/users/", json={**REGISTRATION, "username": name})
            assert (response.status_code, response.json()["code"]) == (409, "not_available")


async def test_name_may_have_spaces_between_words() -> None:
    name = "My First Bot v1.2"
    assert len(name) < 64
    async with http_daemon() as (_, client):
        for username in (name, "x" * 31 + " " + "y" * 32):
            registered = await client.post("/api/users/", json={**REGISTRATION, "username": username})
            assert answered(registered) == {"username": username}
        response = await client.post("/api/users/", json={**REGISTRATION, "username": name.lower()})
        assert (response.status_code, response.json()["code"]) == (409, "not_available")
        response = await client.get("/api/users/", auth=(name.upper(), "correct horse"))
        assert answered(response) == {"usernames": [name]}


async def test_invalid_registration_is_refused() -> None:
    async with http_daemon() as (daemon, client):
        for change in (
            {"username": ""},
            {"username": "two  words"},
            {"username": "two\u00a0words"},
            {"username": " leading"},
            {"username": "trailing "},
            {"username": " "},
            {"username": "tab\tbed"},
            {"username": "line\n"},
            {"username": "x" * 65},
            {"username": 7},
            {"username": None},
            {"password": "short"},
            {"password": "x" * 257},
            {"password": None},
        ):
            response = await client.post("/api/users/", json={**REGISTRATION, **change})
            assert response.status_code == 400, change
            assert "correct horse" not in response.text
        for body in (b"", b"[]", b"{", b'{"username": "my-bot"}'):
            assert (await client.post("/api/users/", content=body)).status_code == 400
        assert len(daemon.authenticator.registry) == 0


async def test_wrong_passwords_of_neighbours_do_not_lock_out_a_known_player() -> None:
    async with http_daemon(max_failures_per_minute=2) as (daemon, client):
        await client.post("/api/users/", json=REGISTRATION)
        for status in (401, 401, 503, 503):
            response = await client.get("/api/users/", auth=("somebody", "wrong horse"))
            assert response.status_code == status
        assert response.json()["code"] == "too_many"
        assert response.json()["error"] == (
            "max_failures_per_minute: 2 from this address are used up; try again later: too many wrong keys and "
            "passwords have come from this address, so this password was not checked"
        )
        assert int(response.headers["retry-after"]) == response.json()["retry_after"] == 30
        async with httpx.AsyncClient(base_url=client.base_url, trust_env=False) as another:
            response = await another.get("/api/users/", auth=("my-bot", "correct horse"))
            assert answered(response) == {"usernames": ["my-bot"]}
        assert daemon.authenticator.passwords.verified == 3


async def test_address_is_limited_in_registrations_per_day() -> None:
    async with http_daemon(max_registrations_per_day=1) as (_, client):
        answered(await client.post("/api/users/", json=REGISTRATION))
        response = await client.post("/api/users/", json={**REGISTRATION, "username": "another-bot"})
        refusal = response.json()
        assert (response.status_code, refusal["code"]) == (503, "too_many")
        assert refusal["error"] == "max_registrations_per_day: 1 from this address are used up; try again later"
        assert int(response.headers["retry-after"]) == refusal["retry_after"] == 86_400


async def test_registration_reserved_for_the_operator_is_refused() -> None:
    async with http_daemon(max_registrations_per_hour=0) as (_, client):
        response = await client.post("/api/users/", json=REGISTRATION)
        assert (response.status_code, response.json()["code"]) == (403, "unauthorized")


async def test_invalid_authorization_is_401() -> None:
    headers = ["", "Basic", "Basic !!!!", f"Bearer {b64encode(b'white-bot:key').decode()}"]
    headers += [f"Basic {b64encode(pair).decode()}" for pair in (b"white-bot", b"\xff\xfe:\xfd", b":", b"")]
    async with rbc_table() as table:
        for header in headers:
            response = await table.client.get("/api/games/1/color", headers={"authorization": header.strip()})
            assert (response.status_code, response.json()["code"]) == (401, "unauthorized")


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
async def test_non_ascii_password_is_accepted_in_both_encodings(encoding: str) -> None:
    password = "garçon à l'été"
    async with http_daemon() as (_, client):
        answered(await client.post("/api/users/", json={**REGISTRATION, "password": password}))
        header = b"Basic " + b64encode(f"my-bot:{password}".encode(encoding))
        response = await client.get("/api/games/1/color", headers={b"authorization": header})
        assert response.status_code == 404


async def test_revoked_player_is_refused() -> None:
    async with rbc_table() as table:
        game_id = await table.new_game()
        assert answered(await table.white.get(game_id, "color")) == {"color": True}
        await table.daemon.ask_as_operator("revoke", name="white-bot")
        assert (await table.white.get(game_id, "color")).status_code == 401


async def test_stopping_daemon_answers_every_route_with_retry_after() -> None:
    stopping = trio.Event()

    async def serve(task_status: trio.TaskStatus[tuple[int, int, tuple[str, str]]]) -> None:
        async with rbc_table(stop_timeout=60) as table:
            assert table.daemon.http_port is not None
            task_status.started((table.daemon.port, table.daemon.http_port, table.white.auth))
            await stopping.wait()

    async with trio.open_nursery() as nursery:
        port, http_port, auth = await nursery.start(serve)
        client = Client(await trio.open_tcp_stream("127.0.0.1", port))
        await client.ask("hello")
        await client.send({"kind": "new_game", "player_white": 1, "player_black": 2})
        async with trio.open_nursery() as asking:
            asking.start_soon(client.send, *[{"kind": "state", "game_id": 1}] * 30_000)  # and reads no reply
            await trio.testing.wait_all_tasks_blocked(0.05)
            stopping.set()
            async with http_client(http_port) as http:
                while (health := await http.get("/healthz")).status_code == 200:
                    pass  # the daemon does not know yet
                reason = "the daemon is finishing the requests in progress and takes no new ones"
                assert (health.status_code, health.json()) == (503, {"status": "stopping", "reason": reason})
                page = await http.get("/", headers={"accept": "text/html"})
                assert (page.status_code, "The daemon is closed." in page.text) == (503, True)
                for method, path in DOCUMENTED:
                    url, body = path.format(game_id=1, invitation_id=1), BODIES.get(path)
                    response = await http.request(method, url, auth=auth, json=body if method == "POST" else None)
                    assert (response.status_code, response.json()["code"]) == (503, "shutting_down")
                    assert response.headers["retry-after"] == "1"
            asking.cancel_scope.cancel()
        await client.aclose()


async def test_server_with_a_code_takes_it_as_the_affiliation() -> None:
    async with http_daemon(invite="spring term") as (_, client):
        refused = await client.post("/api/users/", json=REGISTRATION)
        assert refused.status_code == 403
        right = await client.post("/api/users/", json={**REGISTRATION, "affiliation": "spring term"})
        assert answered(right) == {"username": REGISTRATION["username"]}
