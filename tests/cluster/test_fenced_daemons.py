"""A daemon that is fenced starts again in its process, on the same sockets and with nothing in memory."""

from __future__ import annotations

import signal
from pathlib import Path

import httpx
import psycopg
import pytest
import trio

from gmd.cluster.listening import listen
from tests.cluster.members import PATIENCE, take_over
from tests.cluster.test_daemons import Daemons, ask_until_done, daemons  # noqa: F401 (a fixture)
from tests.cluster.test_http_daemons import FLAGS, opened
from tests.helpers_proof import proof_size
from tests.http.pages.test_home import play_form
from tests.http.pages.test_playing import act
from tests.serving import Served, reserved_port

#: Bytes that the process may grow by from the fourth start on, and with each further one, as allocators keep some. One
#: daemon whose garbage is not collected leaves 220 KB.
GROWTH, GROWTH_EACH = 1 << 20, 128 << 10


def daemon_of(url: str) -> tuple[int, str, str, str] | None:
    """Return the id and the addresses of the only daemon; None while there is none, or it does not own all shards."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT daemon, link, game, http FROM daemons WHERE daemon = ALL(SELECT coalesce(daemon, 0) FROM shards)"
        ).fetchall()
    return found[0] if len(found) == 1 else None


async def fenced(url: str) -> tuple[int, str, str, str]:
    """Fence the only daemon, and return it as it is when it owns all shards again."""
    before = daemon_of(url)
    assert before is not None
    changed = trio.Event()

    def note() -> None:
        changed.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(listen, url, {"gmd_shards": note})
        take_over(url, before[0])
        with trio.fail_after(PATIENCE):
            while (now := daemon_of(url)) is None or now[0] == before[0]:
                with trio.move_on_after(1):
                    await changed.wait()
                changed = trio.Event()
        nursery.cancel_scope.cancel()
    return now


def resident_bytes(daemon: Served) -> int:
    status = Path(f"/proc/{daemon.process.pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) << 10


def descriptors(daemon: Served) -> int:
    return len(list(Path(f"/proc/{daemon.process.pid}/fd").iterdir()))


async def test_fenced_daemon_keeps_its_sockets_and_browsers_reconnect(daemons: Daemons) -> None:  # noqa: F811
    with reserved_port() as health:
        daemon = daemons.start(*FLAGS, "--health-port", str(health))
        await daemons.until(daemon)
        before = daemon_of(daemons.url)
        assert before is not None
        async with opened() as clients:
            white, black = await clients.browser(daemon), await clients.browser(daemon)
            form = play_form(await white.get("/"), "standard")
            path = (await white.submit(form, opponent="link", variant="standard", color="white")).path
            await black.submit((await black.get(path)).form(f"{path}/join"), seat="black")
            reader = await clients.events(daemon, f"{path}/events")
            await reader.state()
            await act(white, "move", path, move="e4")
            assert (await reader.state())["ply"] == 1
            after = await fenced(daemons.url)
            assert after[1:] == before[1:]
            with trio.fail_after(PATIENCE):
                await reader.to_end()
                again = await clients.events(daemon, f"{path}/events")
                assert (await again.state())["ply"] == 1
                await act(black, "move", path, move="e5")
                while (await again.state())["ply"] < 2:
                    pass
            async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
                assert (await client.get(f"http://127.0.0.1:{health}/healthz")).status_code == 200
        async with daemon.client() as client:
            game_id = int(path.removeprefix("/games/"))
            assert (await ask_until_done(client, "state", game_id=game_id))["state"]["ply_index"] == 2
        assert daemon.stop(signal.SIGTERM) == 0


@pytest.mark.long
@pytest.mark.proof
async def test_memory_and_descriptors_do_not_grow_with_each_fence(daemons: Daemons) -> None:  # noqa: F811
    daemon = daemons.start(*FLAGS)
    await daemons.until(daemon)
    used: list[int] = []
    open_files: list[int] = []
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as browser:
        for _ in range(proof_size(8, 20)):
            async with daemon.client() as client:
                game_id = (await ask_until_done(client, "new_game", player_white=1, player_black=2))["game_id"]
                assert (await ask_until_done(client, "move", game_id=game_id, player=1, move="e4"))["error"] is None
            assert (await browser.get(f"{daemon.http}/games/{game_id}")).status_code == 200
            await fenced(daemons.url)
            used.append(resident_bytes(daemon))
            open_files.append(descriptors(daemon))
    assert used[-1] - used[3] < GROWTH + GROWTH_EACH * len(used[4:]), used
    assert open_files[-1] <= open_files[3] + 4, open_files
    assert daemon.stop(signal.SIGTERM) == 0
