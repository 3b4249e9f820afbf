"""Plain routes, whose handlers are called directly, give the same responses as through litestar, byte for byte."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import structlog
import trio
import trio.testing
from litestar import Litestar
from trio.testing import MockClock

from tests.helpers import troubles
from tests.http.contract import DOCUMENTED
from tests.http.helpers import open_http, read_to_end
from tests.http.rbc import Table, as_move, rbc_table

GAME = "/api/games/{game_id}/"
#: Routes of a game, by method and the last part of the path.
ROUTES = {(method, path.removeprefix(GAME)) for method, path in DOCUMENTED if path.startswith(GAME)}
#: The refusal by the full application of a body that does not arrive.
TOO_LATE = b'{"error":"the whole body did not arrive within 30 seconds","code":"bad_request"}'
#: Bodies that are valid JSON, and some that are not.
BODIES: tuple[bytes, ...] = (b"", b"{}", b"[", b"\xff", b'{"square": "e4"}', b'{"requested_move": 1}', b"[" * 2_000)


def basic(name: str, secret: str) -> bytes:
    return b"Authorization: Basic " + b64encode(f"{name}:{secret}".encode()) + b"\r\n"


def request(method: str, path: str, headers: bytes = b"", body: bytes | None = None) -> bytes:
    """Return a request as reconchess's client writes it: the body is JSON, without a content type."""
    length = b"" if body is None else b"Content-Length: %d\r\n" % len(body)
    return f"{method} {path} HTTP/1.1\r\nHost: here\r\n".encode() + headers + length + b"\r\n" + (body or b"")


class Asker:
    """A connection on which every request is sent both ways."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._data = b""

    async def response(self) -> bytes:
        """Return the next response without its date."""
        while b"\r\n\r\n" not in self._data:
            await self._more()
        head, _, rest = self._data.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        (length,) = (int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length:"))
        while len(rest) < length:
            await self._more()
            rest = self._data.partition(b"\r\n\r\n")[2]
        self._data = rest[length:]
        return b"\r\n".join([line for line in lines if not line.startswith(b"date:")]) + b"\r\n\r\n" + rest[:length]

    async def ask(self, method: str, path: str, headers: bytes = b"", body: bytes | None = None) -> bytes:
        """Return the response, which must be the same both ways."""
        responses = []
        for target in (path, f"{path}?by=litestar"):
            await self._stream.send_all(request(method, target, headers, body))
            responses.append(await self.response())
        assert responses[0] == responses[1], (method, path, headers, body, responses)
        return responses[0]

    async def _more(self) -> None:
        data = await self._stream.receive_some()
        assert data
        self._data += data


@asynccontextmanager
async def asker(table: Table) -> AsyncIterator[Asker]:
    async with await open_http(table.daemon) as stream:
        yield Asker(stream)


def status(response: bytes) -> int:
    return int(response.split(b" ", 2)[1])


async def ask_everything(asker: Asker, game_id: int, headers: bytes) -> set[tuple[int, str, str]]:
    """Request every route of a game that does not end it; return the statuses by route."""
    found = set()
    for method, what in sorted(ROUTES):
        if what not in ("resign", "error_resign"):
            body = None if method == "GET" else b'{"square": 12, "requested_move": {"type": "Move", "value": "a2a3"}}'
            response = await asker.ask(method, f"/api/games/{game_id}/{what}", headers, body)
            found.add((status(response), method, what))
    return found


async def test_every_route_of_a_game_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    by_litestar: list[tuple[str, str]] = []
    handle = Litestar.__call__

    async def noting(app: Litestar, scope: Any, receive: Any, send: Any) -> None:
        by_litestar.append((scope["method"], scope["path"]))
        await handle(app, scope, receive, send)

    monkeypatch.setattr(Litestar, "__call__", noting)
    async with rbc_table() as table, await open_http(table.daemon) as stream:
        others = [
            ("GET", "sense"),
            ("POST", "color"),
            ("OPTIONS", "color"),
            ("GET", "no_such_thing"),
            ("GET", "color?x"),
        ]
        asker = Asker(stream)
        for method, what in [*ROUTES, *others]:
            await stream.send_all(request(method, f"/api/games/7/{what}"))
            await asker.response()
    assert by_litestar == [(method, f"/api/games/7/{what.partition('?')[0]}") for method, what in others]


async def test_both_ways_answer_the_same_in_every_state_of_a_game(autojump_clock: MockClock) -> None:
    async with rbc_table() as table, asker(table) as both:
        white, black = (basic(*player.auth) for player in (table.white, table.black))
        game_id = await table.new_game()
        path = f"/api/games/{game_id}"
        found = set()
        for first in ("e2e4", "d2d4"):  # before and after the players' first turns
            for mover, other, square, uci in ((white, black, 12, first), (black, white, 52, None)):
                found |= await ask_everything(both, game_id, other)
                assert status(await both.ask("GET", f"{path}/game_status", mover)) == 200
                sensed = await both.ask("POST", f"{path}/sense", mover, json.dumps({"square": square}).encode())
                assert status(sensed) == 200
                moved = json.dumps({"requested_move": as_move(uci)}).encode()
                assert status(await both.ask("POST", f"{path}/move", mover, moved)) == 200
        assert status(await both.ask("POST", f"{path}/resign", white, b"{}")) == 200
        assert status(await both.ask("POST", f"{path}/error_resign", white, b"{}")) == 200
        for headers in (white, black, basic(*table.other.auth)):
            found |= await ask_everything(both, game_id, headers)
        assert {(method, what) for code, method, what in found if code == 200} >= ROUTES - {
            ("POST", what) for what in ("resign", "error_resign", "sense", "move")
        }


async def test_both_ways_refuse_the_same_requests() -> None:
    async with rbc_table() as table, asker(table) as both:
        game_id, white = await table.new_game(), basic(*table.white.auth)
        chess_id = await table.new_game(variant="standard")
        stranger, nobody = basic(*table.other.auth), basic(table.white.auth[0], "wrong")
        latin = b"Authorization: Basic " + b64encode("Ä:ö".encode("latin-1")) + b"\r\n"
        odd = (b"", b"Authorization: Bearer x\r\n", b"Authorization: Basic ???\r\n", latin, nobody)
        for headers, expected in (*((each, 401) for each in odd), (stranger, 401), (white, 404)):
            ids = (chess_id, chess_id + 1, 2**53, 10**16 - 1) if expected == 404 else (game_id,)
            for path in (f"/api/games/{each}/color" for each in ids):
                assert status(await both.ask("GET", path, headers)) == expected
        for body in BODIES:
            for what in ("sense", "move"):
                assert status(await both.ask("POST", f"/api/games/{game_id}/{what}", white, body)) == 400
        response = await both.ask("GET", f"/api/games/{game_id}/winner_color", white)
        assert response.endswith(f'{{"error":"game {game_id} is not over","code":"not_available"}}'.encode())


async def test_both_ways_log_an_internal_failure_without_showing_it_to_the_client() -> None:
    async with rbc_table() as table, asker(table) as both:
        game_id, white = await table.new_game(), basic(*table.white.auth)
        presence, table.daemon.lobby.presence = table.daemon.lobby.presence, None  # type: ignore[assignment]
        with structlog.testing.capture_logs() as logged:
            response = await both.ask("GET", f"/api/games/{game_id}/color", white)
        table.daemon.lobby.presence = presence
    assert status(response) == 500
    assert response.endswith(b'{"error":"the server failed on this request; its log says why","code":"internal"}')
    short, long = troubles(logged)
    assert {type(each.pop("exc_info")) for each in (short, long)} == {AttributeError}
    route = {"method": "GET", "route": "/api/games/{game_id}/color"}  # and nothing of the request's data
    assert short == long == {"event": "http request failed", "log_level": "error", **route}


async def test_both_ways_trust_a_proxy() -> None:
    async with rbc_table(trusted_proxies="127.0.0.1", max_failures_per_minute=1) as table, asker(table) as both:
        path = f"/api/games/{await table.new_game()}/color"
        wrong = basic(table.white.auth[0], "wrong")
        for _ in range(2):
            elsewhere = b"X-Forwarded-For: 192.0.2.1\r\n"
            await both._stream.send_all(request("GET", path, elsewhere + wrong))
            last = await both.response()
        assert status(last) == 503
        await both._stream.send_all(request("GET", path, b"X-Forwarded-For: 192.0.2.2\r\n" + wrong))
        assert status(await both.response()) == 401


async def test_pipelined_requests_are_answered_in_order_whichever_way_they_take() -> None:
    async with rbc_table() as table, asker(table) as both:
        game_id, white = await table.new_game(), basic(*table.white.auth)
        asked = [
            (request("GET", f"/api/games/{game_id}/color", white), b'{"color":true}'),
            (request("GET", f"/api/games/{game_id}/is_over?by=litestar", white), b'{"is_over":false}'),
            (request("POST", f"/api/games/{game_id}/sense", white, b'{"square": null}'), b'{"sense_result":[]}'),
            (request("GET", "/api/version"), b'{"version":"1.6.9"}'),
            (request("GET", f"/api/games/{game_id}/is_my_turn", white), b'{"is_my_turn":true}'),
        ]
        everything = b"".join(data for data, _ in asked)
        for size in (len(everything), 1, 100):
            for start in range(0, len(everything), size):
                await both._stream.send_all(everything[start : start + size])
            for _, expected in asked:
                response = await both.response()
                assert (status(response), response.partition(b"\r\n\r\n")[2]) == (200, expected)


async def test_late_body_is_waited_for_and_a_missing_one_refused(
    autojump_clock: MockClock,
) -> None:
    async with rbc_table(frame_timeout=30) as table:
        game_id, white = await table.new_game(), basic(*table.white.auth)
        data = request("POST", f"/api/games/{game_id}/sense", white, b'{"square": null}')
        async with asker(table) as both:
            for piece in (data[:-12], data[-12:-6], data[-6:]):
                await both._stream.send_all(piece)
                await trio.sleep(14)
            assert status(await both.response()) == 200
        async with await open_http(table.daemon) as stream:
            await stream.send_all(data[:-6])
            response = await read_to_end(stream)
            assert (status(response), response.partition(b"\r\n\r\n")[2]) == (408, TOO_LATE)
        async with await open_http(table.daemon) as stream:
            await stream.send_all(data[:-6])
            await stream.send_eof()
            assert status(await read_to_end(stream)) == 400
