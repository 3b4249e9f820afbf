"""``gmd serve --database --http``: browsers at daemons in processes of their own on one PostgreSQL."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest
import trio

from gmd.cluster.lobby.makers import LOAD_SECONDS
from gmd.cluster.shards import LOBBY
from tests.cluster.test_daemons import Daemons, daemons  # noqa: F401 (a fixture)
from tests.http.pages.browser import Browser
from tests.http.pages.event_reader import EventReader, begun
from tests.http.pages.test_home import play_form
from tests.http.pages.test_playing import act
from tests.http.rbc import PATIENCE_SECONDS
from tests.serving import Served

PASSWORD = "correct horse"
FLAGS = ("--http", "--http-port", "0")


def _api(daemon: Served) -> httpx.AsyncClient:
    """Return a client of reconchess's API at a daemon."""
    return httpx.AsyncClient(base_url=daemon.http, trust_env=False, timeout=PATIENCE_SECONDS)


class Opened:
    """Clients that are closed at the end of a test."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack

    async def browser(self, daemon: Served, cookies: httpx.Cookies | None = None) -> Browser:
        """Return a browser at a daemon."""
        client = httpx.AsyncClient(
            base_url=daemon.http, cookies=cookies, trust_env=False, follow_redirects=True, timeout=PATIENCE_SECONDS
        )
        return Browser(await self._stack.enter_async_context(client))

    async def events(self, daemon: Served, path: str) -> EventReader:
        """Return a reader of events."""
        url = httpx.URL(daemon.http)
        assert url.port is not None
        return await begun(await self._stack.enter_async_context(await trio.open_tcp_stream(url.host, url.port)), path)


@asynccontextmanager
async def opened() -> AsyncIterator[Opened]:
    async with AsyncExitStack() as stack:
        yield Opened(stack)


@pytest.mark.long
async def test_visitors_play_on_at_the_other_daemon_when_theirs_is_killed(daemons: Daemons) -> None:  # noqa: F811
    async with opened() as clients:
        one, two = await daemons.two(*FLAGS)
        white, black = await clients.browser(one), await clients.browser(two)
        form = play_form(await white.get("/"), "standard")
        path = (await white.submit(form, opponent="link", variant="standard", color="white")).path
        await black.submit((await black.get(path)).form(f"{path}/join"), seat="black")
        readers = [await clients.events(daemon, f"{path}/events") for daemon in (one, two)]
        for reader in readers:
            await reader.state()
        for ply, move in enumerate(["e4", "e5", "Nf3"]):
            await act((white, black)[ply % 2], "move", path, move=move)
            assert await readers[0].state() == await readers[1].state()

        game_id = int(path.removeprefix("/games/"))
        owner = next(each for each in (one, two) if each.port == daemons.owners()[game_id % 256])
        heir = two if owner is one else one
        owner.process.send_signal(signal.SIGKILL)
        with trio.fail_after(PATIENCE_SECONDS):
            for reader in readers:
                await reader.to_end()
        await daemons.until(heir)
        white, black = [await clients.browser(heir, each.client.cookies) for each in (white, black)]
        reader = await clients.events(heir, f"{path}/events")
        assert (await reader.state())["ply"] == 3
        for ply, move in enumerate(["Nc6", "Bb5"]):
            await act((black, white)[ply % 2], "move", path, move=move)
        assert (await reader.state())["ply"] in (4, 5)
        assert heir.stop(signal.SIGTERM) == 0


async def test_visitors_see_no_refusal_while_a_daemon_hands_over_and_stops(daemons: Daemons) -> None:  # noqa: F811
    async with opened() as clients:
        one, two = await daemons.two(*FLAGS)
        async with one.client() as client:
            games = [(await client.new_game())["game_id"] for _ in range(4)]
        browser = await clients.browser(two)
        statuses: list[int] = []
        async with trio.open_nursery() as nursery:

            async def look() -> None:
                while True:
                    for path in ("/", *(f"/games/{game_id}" for game_id in games)):
                        statuses.append((await browser.get(path)).status)

            nursery.start_soon(look)
            while len(statuses) < 5:
                await trio.lowlevel.checkpoint()
            assert await trio.to_thread.run_sync(one.stop, signal.SIGTERM) == 0
            await daemons.until(two)
            seen = len(statuses)
            while len(statuses) < seen + 6:
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        assert set(statuses) == {200}
        assert two.stop(signal.SIGTERM) == 0


async def test_invitations_of_reconchess_are_finished_wherever_their_games_are(daemons: Daemons) -> None:  # noqa: F811
    async with AsyncExitStack() as stack:
        started = [daemons.start(*FLAGS) for _ in range(2)]
        await daemons.until(*started)
        ann, bob = [await stack.enter_async_context(_api(daemon)) for daemon in started]
        for name, client in (("ann", ann), ("bob", bob)):
            made = await client.post("/api/users/", json={"username": name, "password": PASSWORD})
            assert made.status_code < 300, made.text
            client.auth = (name, PASSWORD)
            assert (await client.post("/api/users/me/max_games", json={"max_games": 10})).status_code == 200
        games, owners = [], daemons.owners()
        while len(games) < 4 or len({owners[game_id % 256] for game_id in games}) < 2:
            counted = trio.current_time()
            while len(games) >= 4 and trio.current_time() < counted + LOAD_SECONDS:
                await bob.get("/api/invitations/")  # the lobby makes games itself until it asks a slow daemon again
            sent = await ann.post("/api/invitations/", json={"opponent": "bob", "color": False})
            games.append(sent.json()["game_id"])
        assert (await bob.get("/api/invitations/")).json()["invitations"] == sorted(games)
        for game_id in games:
            early = await bob.post(f"/api/invitations/{game_id}/finish")
            assert early.status_code == 400, early.text
            assert (await bob.post(f"/api/invitations/{game_id}")).json() == {"game_id": game_id}
            assert (await bob.post(f"/api/invitations/{game_id}/finish")).status_code == 200
        assert (await bob.get("/api/invitations/")).json()["invitations"] == []
        for kills in (False, True):  # claims on invitations die with the lobby's owner
            daemon = await _heir(daemons, started) if kills else started[0]
            async with _api(daemon) as other:  # another program of Bob's
                other.auth = ("bob", PASSWORD)
                for game_id in games:
                    assert (await other.post(f"/api/invitations/{game_id}")).status_code == 401


async def _heir(daemons: Daemons, started: list[Served]) -> Served:  # noqa: F811
    """Kill the owner of the lobby, and return the other daemon once it has everything."""
    lobby = next(daemon for daemon in started if daemon.port == daemons.owners()[LOBBY])
    [heir] = [daemon for daemon in started if daemon is not lobby]
    lobby.process.send_signal(signal.SIGKILL)
    await daemons.until(heir)
    return heir
