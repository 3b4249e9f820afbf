"""The connections of those who read events: how they end, what they may hold, and whom they make present."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gmd.daemon import Daemon
from gmd.http import streaming
from gmd.http.pages import live_events
from tests.helpers import running_daemon
from tests.http.helpers import leave, open_http
from tests.http.pages.browser import pages
from tests.http.pages.event_reader import EventReader, begun, live, pages_at_rest, reading, until_readers
from tests.http.pages.test_events import new_game, play
from tests.tls import Certificates

SHUFFLE = ["Nf3", "Nf6", "Ng1", "Ng8"]


async def until_gone(daemon: Daemon) -> None:
    """Return once no connection of HTTP is left, nor anything that one held."""
    assert daemon.http is not None
    while daemon.http.server.connections or live(daemon).readers or daemon.memory.held:
        await wait_all_tasks_blocked()
    assert live(daemon).channels == 0


@pytest.mark.parametrize("path", ["/games/1/events", "/events"])
@pytest.mark.parametrize("how", ["close", "reset", "half"])
async def test_reader_that_closes_is_gone_without_a_further_event(path: str, how: str, mock_clock: MockClock) -> None:
    async with pages_at_rest(mock_clock) as (daemon, _):
        await new_game(daemon)
        async with await open_http(daemon) as stream:
            reader = await begun(stream, path)
            await reader.drained()
            assert (live(daemon).readers, live(daemon).channels) == (1, 1)
            await leave(stream, how)
            await until_readers(daemon, 0)
            assert live(daemon).channels == 0
        mock_clock.rate = 100.0
        await until_gone(daemon)
        assert not daemon.arbiter.watchers.watched(1)


async def test_channel_stays_for_the_other_readers_when_one_has_gone(mock_clock: MockClock) -> None:
    async with pages_at_rest(mock_clock) as (daemon, _):
        game_id = await new_game(daemon)
        async with reading(daemon, f"/games/{game_id}/events") as one:
            async with reading(daemon, f"/games/{game_id}/events"):
                await until_readers(daemon, 2)
            await until_readers(daemon, 1)
            await one.drained()
            mock_clock.jump(1.0)
            await play(daemon, game_id, "e4")
            assert b'"san":"e4"' in await one.drained()


async def test_reader_that_sends_without_end_is_ended() -> None:
    async with pages() as (daemon, _):
        game_id = await new_game(daemon)
        async with await open_http(daemon) as stream:
            reader = await begun(stream, f"/games/{game_id}/events")
            await reader.state()
            try:
                for _ in range(40):
                    await stream.send_all(b"x" * 65_536)
                    await wait_all_tasks_blocked()
            except trio.BrokenResourceError:
                pass
            await until_readers(daemon, 0)


async def flood(daemon: Daemon, game_id: int, clock: MockClock, is_stuck: Callable[[], bool]) -> int:
    """Play on until a reader has been stuck for twenty moves; return the number of moves."""
    stuck = ply = 0
    while stuck < 20:
        assert ply < 10_000, "the reader's buffers never filled"
        await play(daemon, game_id, SHUFFLE[ply % 4], first=ply)
        await wait_all_tasks_blocked()
        clock.jump(live_events.LEAST_SECONDS)
        await wait_all_tasks_blocked()
        stuck = stuck + 1 if is_stuck() else 0
        ply += 1
    return ply


async def test_reader_that_reads_nothing_holds_little_and_is_cut_off(
    mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = [0]

    async def read_on(reader: EventReader) -> None:
        while True:
            seen.append((await reader.state())["ply"])

    async with pages_at_rest(mock_clock, frame_timeout=50, idle_timeout=10_000) as (daemon, _):
        game_id = await new_game(daemon)
        path = f"/games/{game_id}/events"
        async with reading(daemon, path) as other, await open_http(daemon) as stream, trio.open_nursery() as nursery:
            nursery.start_soon(read_on, other)  # or its buffers, too, would be full in the end
            monkeypatch.setattr(streaming, "SEND_BUFFER", 4_096)
            stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4_096)
            await begun(stream, path)
            await until_readers(daemon, 2)
            (channel,) = live(daemon)._channels.values()
            stuck = list(channel.group)[-1]
            plies = await flood(daemon, game_id, mock_clock, lambda: stuck._resting is None)
            more = 0
            while live(daemon).readers == 2:  # the kernel may yet take an event: then the next one is stuck
                assert daemon.memory.held < 16_384  # there is no queue: however many moves follow, it holds one event
                assert more < 1_000, "the reader is not cut off"
                await play(daemon, game_id, SHUFFLE[(plies + more) % 4], first=plies + more)
                mock_clock.jump(1.0)
                await wait_all_tasks_blocked()
                more += 1
            assert more > 40  # frame_timeout is fifty seconds
            mock_clock.rate = 10.0
            while seen[-1] < plies + more:
                await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        mock_clock.rate = 100.0
        await until_gone(daemon)


async def test_reader_that_reads_again_in_time_is_sent_whole_events(
    mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "SEND_BUFFER", 4_096)
    async with pages_at_rest(mock_clock, frame_timeout=10_000, idle_timeout=10_000) as (daemon, _):
        game_id = await new_game(daemon)
        async with await open_http(daemon) as stream:
            stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4_096)
            reader = await begun(stream, f"/games/{game_id}/events?since=0")
            await until_readers(daemon, 1)
            (channel,) = live(daemon)._channels.values()
            (stuck,) = channel.group
            plies = await flood(daemon, game_id, mock_clock, lambda: stuck._resting is None)
            for ply in range(plies, plies + 9):
                await play(daemon, game_id, SHUFFLE[ply % 4], first=ply)
            mock_clock.rate = 10.0  # from here on: nothing says when the channel begins to wait for its next event
            moves, state = list[int](), {"ply": 0}
            while state["ply"] < plies + 9:
                state = await reader.state()
                moves += [move["ply"] for move in state["moves"]]
            assert moves == list(range(1, plies + 10))  # each once, in order


async def test_streams_end_when_the_daemon_stops_and_it_does_not_wait_for_them() -> None:
    async with running_daemon(http=True, http_port=0, stop_timeout=600) as daemon:
        game_id = await new_game(daemon)
        streams = [await open_http(daemon) for _ in range(4)]
        paths = ["/events", *[f"/games/{game_id}/events"] * 3]
        readers = [await begun(stream, path) for stream, path in zip(streams, paths, strict=True)]
        await until_readers(daemon, 4)
    for reader in readers:
        assert b"event: end" not in await reader.to_end()  # so the browser connects again, to the next daemon
        await reader.stream.aclose()


async def test_reader_gives_its_place_to_a_newcomer(mock_clock: MockClock) -> None:
    async with pages_at_rest(mock_clock, http_max_connections=2) as (daemon, _):
        game_id = await new_game(daemon)
        async with reading(daemon, f"/games/{game_id}/events") as one, reading(daemon, "/events") as other:
            await until_readers(daemon, 2)
            mock_clock.jump(6.0)  # a place counts as idle after five seconds
            async with await open_http(daemon) as stream:
                await stream.send_all(b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n")
                assert (await stream.receive_some()).startswith(b"HTTP/1.1 200 ")
                assert b"HTTP/1.1" not in await one.to_end()
                await until_readers(daemon, 1)
                assert b"event: lists" in await other.drained()


async def test_events_are_sent_over_tls(certificates: Certificates) -> None:
    async with running_daemon(http=True, http_port=0, **certificates.settings) as daemon:
        game_id = await new_game(daemon)
        bare = await open_http(daemon)
        async with trio.SSLStream(bare, certificates.trust(), server_hostname="localhost") as stream:
            reader = await begun(stream, f"/games/{game_id}/events")
            await reader.state()
            for ply, move in enumerate(("e4", "e5", "Nf3")):
                await play(daemon, game_id, move, first=ply)
                assert (await reader.state())["moves"][0]["san"] == move
        await until_readers(daemon, 0)
