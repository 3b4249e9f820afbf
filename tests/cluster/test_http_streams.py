"""Streams of events at daemons that do not own what they show."""

from __future__ import annotations

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from gmd.cluster.shards import shard_of
from gmd.http.proxy.peers import ROLE
from tests.cluster.http_cluster import HttpCluster, http_cluster, made
from tests.http.helpers import leave, open_http
from tests.http.pages.event_reader import EventReader, begun, cookie_of, live, reading, until_readers
from tests.http.pages.test_events import play


async def test_events_are_the_same_bytes_at_the_owner_and_elsewhere() -> None:
    async with http_cluster(2) as cluster:
        entry, owner = cluster.members
        game_id = await made(owner)
        path = f"/games/{game_id}/events"
        for player in (None, 1, 2):
            cookie = cookie_of(entry, player)
            async with reading(entry, path, cookie) as one, reading(owner, path, cookie) as other:
                assert without_date(one.head) == without_date(other.head)
                assert (await one.state())["seq"] == (await other.state())["seq"]
        async with reading(entry, path) as one, reading(owner, path) as other:
            await one.state(), await other.state()
            for ply, move in enumerate(["e4", "e5", "Nf3"]):
                await play(owner, game_id, move, first=ply)
                assert await one.state() == await other.state()
        assert entry.forwarded == 4


def without_date(head: bytes) -> list[bytes]:
    return [line for line in head.split(b"\r\n") if not line.startswith(b"date:")]


async def test_head_of_a_stream_leaves_no_reader() -> None:
    async with http_cluster(2) as cluster:
        game_id = await made(cluster[1])
        async with await open_http(cluster[0]) as stream:
            await stream.send_all(b"HEAD /games/%d/events HTTP/1.1\r\nHost: here\r\n\r\n" % game_id)
            reader = EventReader(stream)
            await reader.begin()
            assert await reader.to_end() == b""
        await until_no_streams(cluster)


@pytest.mark.parametrize("how", ["close", "reset", "half"])
async def test_reader_that_closes_at_the_entry_is_gone_at_the_owner(how: str) -> None:
    async with http_cluster(2) as cluster:
        game_id = await made(cluster[1])
        async with await open_http(cluster[0]) as stream:
            reader = await begun(stream, f"/games/{game_id}/events")
            await reader.state()
            assert live(cluster[1]).readers == 1
            await leave(stream, how)
            await until_no_streams(cluster)


async def until_no_streams(cluster: HttpCluster) -> None:
    """Return once no stream is read, nor any connection between daemons left."""
    for member in cluster.members:
        await until_readers(member, 0)
        while member.others.server.connections:
            await wait_all_tasks_blocked()


async def test_stream_ends_when_its_game_changes_hands_and_goes_on_at_the_new_owner() -> None:
    async with http_cluster(3) as cluster:
        game_id = await made(cluster[1])
        await play(cluster[1], game_id, "e4", "e5")
        path = f"/games/{game_id}/events"
        for number, to in enumerate((2, 0, 1)):
            async with reading(cluster[0], path) as one, reading(cluster[1], path) as other:
                seqs = {(await reader.state())["seq"] for reader in (one, other)}
                await cluster.games.hand_over([shard_of(game_id)], cluster[to].member)
                assert await one.to_end() == await other.to_end() == b""
            move = ["Nf3", "Nc6", "Bb5"][number]
            await play(cluster[0], game_id, move, first=2 + number)
            (last,) = seqs
            async with reading(cluster[0], path, last=str(last)) as again:
                state = await again.state()
                assert state["seq"] > last
                assert [each["san"] for each in state["moves"]] == [move]
        await until_no_streams(cluster)


async def test_stream_ends_when_its_owner_is_cut_off_or_dies() -> None:
    async with http_cluster(3) as cluster:
        game_id = await made(cluster[1])
        path = f"/games/{game_id}/events"
        async with reading(cluster[0], path) as reader:
            await reader.state()
            await cluster.cut(cluster[1])
            assert await reader.to_end() == b""
        async with reading(cluster[0], path) as reader:
            await reader.state()
            await cluster.games.kill(cluster[1].member, cluster[2].member)
            assert await reader.to_end() == b""
        async with reading(cluster[0], path) as reader:
            await reader.state()
            assert live(cluster[2]).readers == 1


async def test_streams_end_everywhere_when_their_visitor_signs_out_anywhere() -> None:
    async with http_cluster(3) as cluster:
        game_id = await made(cluster[1])
        path, cookie = f"/games/{game_id}/events", cookie_of(cluster[2], 1)
        async with (
            reading(cluster[0], path, cookie) as mine,
            reading(cluster[2], path, cookie_of(cluster[0], 1)) as other,
        ):
            await mine.state(), await other.state()
            live(cluster[0]).sign_out(cookie)
            assert await mine.to_end() == b""
            await play(cluster[1], game_id, "e4")
            assert (await other.state())["seq"] > 0


async def test_slow_reader_keeps_nobody_from_its_events() -> None:
    async with http_cluster(2) as cluster:
        game_id = await made(cluster[1])
        path = f"/games/{game_id}/events"
        async with reading(cluster[0], path) as slow, reading(cluster[0], path) as quick:
            assert slow.head
            await quick.state()
            for ply, move in enumerate(["Nf3", "Nf6", "Ng1", "Ng8"] * 2):
                await play(cluster[1], game_id, move, first=ply)
                await quick.state()


# --- A response without end -------------------------------------------------------------------------------------------

READERS = 500
#: Bytes of one stream that may be on their way: in two kernels' buffers on each connection, and one piece in memory.
MOST_ON_THE_WAY = 2_500_000


class Firehose:
    """A false owner, which sends as much as the reader takes.

    :ivar sent: the bytes that each connection has taken.
    """

    def __init__(self) -> None:
        self.sent: list[int] = []

    async def serve(self, stream: trio.abc.Stream, _daemon: int) -> None:
        await stream.receive_some(65_536)
        number = len(self.sent)
        self.sent.append(0)
        await stream.send_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        while True:
            await stream.send_all(b":" * 16_384)
            self.sent[number] += 16_384


@pytest.mark.long
async def test_five_hundred_slow_readers_hold_bounded_memory() -> None:
    hose = Firehose()
    async with http_cluster(2, http_max_connections=READERS + 50) as cluster:
        entry, owner = cluster.members
        owner.member.links.on_connection(ROLE, hose.serve)
        game_id = await made(owner)
        async with trio.open_nursery() as nursery:
            streams: list[trio.SocketStream] = []
            for _ in range(READERS):
                stream = await open_http(entry)
                streams.append(stream)
                nursery.start_soon(begun, stream, f"/games/{game_id}/events")
            while len(hose.sent) < READERS:
                await wait_all_tasks_blocked()
            before = -1
            while (total := sum(hose.sent)) != before:
                before = total
                await wait_all_tasks_blocked(0.05)
            assert max(hose.sent) < MOST_ON_THE_WAY
            assert entry.member.services.memory.held <= READERS * 131_072
            await (await open_http(entry)).aclose()
            for stream in streams:
                await trio.aclose_forcefully(stream)


async def test_response_whose_owner_breaks_off_is_seen_to_be_incomplete() -> None:
    async def serve(stream: trio.abc.Stream, _daemon: int) -> None:
        await stream.receive_some(65_536)
        await stream.send_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n" + b"x" * 500)

    async with http_cluster(2) as cluster:
        cluster[1].member.links.on_connection(ROLE, serve)
        game_id = await made(cluster[1])
        async with await open_http(cluster[0]) as stream:
            await stream.send_all(b"GET /games/%d HTTP/1.1\r\nHost: here\r\n\r\n" % game_id)
            received = b""
            while data := await stream.receive_some(65_536):
                received += data
            assert received.endswith(b"\r\n\r\n" + b"x" * 500)


async def test_readers_of_lists_see_moves_in_games_of_other_daemons() -> None:
    async with http_cluster(2) as cluster:
        game_id = await made(cluster[1])
        for member in cluster.members:
            async with reading(member, "/events") as reader:
                before = await reader.event()
                assert before.name == "lists"
                await play(cluster[1], game_id, "e4" if member is cluster[0] else "e5", first=member is cluster[1])
                after = await reader.event()
                assert after.name == "lists"
                assert after.data != before.data
