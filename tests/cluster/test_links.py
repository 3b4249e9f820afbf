"""Links: what is asked is answered in any order, notes come once and in order, and strangers get nothing."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

import msgspec
import pytest
import structlog.testing
import trio
import trio.testing

from gm_protocol.errors import Internal, NotAvailable, TooMany
from gm_protocol.framing import FrameDecoder, encode_frame
from gmd.addresses import separate_loopback
from gmd.cluster.calling import LinkLost
from gmd.cluster.directory import Peer
from gmd.cluster.handshake import HANDSHAKE_SECONDS, HandshakeRefused
from gmd.cluster.link_messages import LINK_VERSION, MAX_BODY, Greeting, LinkMessage, Nonce, Proof, encode, proof_of
from gmd.cluster.links import Links, running_links
from gmd.cluster.unproved import MAX_UNPROVED_FROM_ADDRESS
from tests.cluster.static_directory import ClusterMap, StaticDirectory

SECRET = b"s" * 32


class Question(LinkMessage, frozen=True, gc=False):
    number: int


class Reply(LinkMessage, frozen=True, gc=False):
    number: int
    asked_by: int


class Enlarge(LinkMessage, frozen=True, gc=False):
    size: int


class Enlarged(LinkMessage, frozen=True, gc=False):
    data: bytes


class Remark(LinkMessage, frozen=True, gc=False):
    number: int


class Pair:
    """Two daemons' links over streams in memory, which tests can cut.

    :ivar remarks: the notes that each has taken, with their senders.
    """

    def __init__(self, nursery: trio.Nursery) -> None:
        self.map = ClusterMap({1: Peer("a:1", "a:2"), 2: Peer("b:1", "b:2")})
        self.nursery = nursery
        self.streams: list[trio.abc.Stream] = []
        self.remarks: dict[int, list[tuple[int, int]]] = {1: [], 2: []}
        self.gates: dict[int, trio.Event] = {}
        self.links = {me: Links(StaticDirectory(self.map, me), SECRET, self.dial) for me in (1, 2)}
        for me, links in self.links.items():
            links.on_ask(Question, self.reply)
            links.on_note(Remark, lambda note, daemon, me=me: self.remarks[me].append((note.number, daemon)))
        self.reachable = True

    async def dial(self, daemon: int) -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        if not self.reachable:
            raise OSError("unreachable")
        ours, theirs = trio.testing.memory_stream_pair()
        self.streams += ours, theirs
        self.nursery.start_soon(self.links[daemon].serve, theirs)
        return ours

    async def reply(self, question: Question, daemon: int) -> Reply:
        if question.number in self.gates:
            await self.gates[question.number].wait()
        if question.number < 0:
            raise NotAvailable("number: it is negative")
        if question.number > 1_000:
            raise TooMany("number: it is too large", 7.0)
        return Reply(question.number, daemon)

    async def cut(self) -> None:
        """Cut all connections."""
        for stream in self.streams:
            await trio.aclose_forcefully(stream)
        self.streams.clear()
        await trio.testing.wait_all_tasks_blocked()


@asynccontextmanager
async def pair() -> AsyncIterator[Pair]:
    async with trio.open_nursery() as nursery:
        both = Pair(nursery)
        async with running_links(both.links[1]), running_links(both.links[2]):
            yield both
        nursery.cancel_scope.cancel()


async def test_asks_are_answered_in_any_order(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:
        both.gates[1] = trio.Event()
        answers: list[LinkMessage] = []

        async def ask(number: int) -> None:
            answers.append(await both.links[1].ask(2, Question(number)))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, 1)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(ask, 2)
            await trio.testing.wait_all_tasks_blocked()
            assert answers == [Reply(2, 1)]
            both.gates[1].set()
        assert answers == [Reply(2, 1), Reply(1, 1)]
        assert await both.links[2].ask(2, Question(3)) == Reply(3, 2)  # of itself


async def test_a_refusal_comes_back_as_the_same_error(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:
        with pytest.raises(NotAvailable, match="number: it is negative"):
            await both.links[1].ask(2, Question(-1))
        with pytest.raises(TooMany, match="number: it is too large") as raised:
            await both.links[2].ask(1, Question(2_000))
        assert raised.value.retry_after == 7.0


async def test_an_answer_that_is_too_large_is_refused_and_the_link_goes_on(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:

        async def enlarge(enlarged: Enlarge, daemon: int) -> Enlarged:
            return Enlarged(bytes(enlarged.size))

        both.links[2].on_ask(Enlarge, enlarge)
        both.gates[1] = trio.Event()

        async def meanwhile() -> None:
            assert await both.links[1].ask(2, Question(1)) == Reply(1, 1)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(meanwhile)
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(Internal, match="servers send each other at most"):
                await both.links[1].ask(2, Enlarge(MAX_BODY))
            both.gates[1].set()
        assert await both.links[1].ask(2, Enlarge(10)) == Enlarged(bytes(10))


async def test_an_ask_whose_link_is_cut_is_lost_and_says_whether_it_was_sent(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:
        both.gates[1] = trio.Event()
        lost: list[LinkLost] = []

        async def ask(number: int) -> None:
            with pytest.raises(LinkLost) as raised:
                await both.links[1].ask(2, Question(number))
            lost.append(raised.value)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, 1)
            await trio.testing.wait_all_tasks_blocked()
            both.reachable = False
            await both.cut()
            nursery.start_soon(ask, 2)
            await trio.testing.wait_all_tasks_blocked()
            both.map.peers.pop(2)  # it is dead now
            both.map.tell()
        assert [error.sent for error in lost] == [True, False]


async def test_an_ask_waits_for_the_link_of_a_living_daemon(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:
        await trio.testing.wait_all_tasks_blocked()
        both.reachable = False
        await both.cut()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(both.links[1].ask, 2, Question(1))
            await trio.sleep(1)
            both.reachable = True


async def test_notes_come_once_and_in_order_over_cut_links(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:
        for number in range(3_000):
            both.links[1].tell(2, Remark(number))
            if number % 700 == 0:
                await trio.testing.wait_all_tasks_blocked()
            if number % 1_000 == 500:
                await both.cut()
        await trio.sleep(1)
        assert both.remarks[2] == [(number, 1) for number in range(3_000)]


async def test_a_peer_that_falls_silent_is_given_up_within_a_lease(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:
        await trio.testing.wait_all_tasks_blocked()
        both.reachable = False
        begun = trio.current_time()
        for stream in both.streams:  # what is sent from now on goes nowhere
            assert isinstance(stream, trio.StapledStream)
            stream.send_stream = Nowhere()
        both.gates[1] = trio.Event()
        with pytest.raises(LinkLost):
            await both.links[1].ask(2, Question(1))
        assert trio.current_time() - begun <= 3.0


class Nowhere(trio.abc.SendStream):
    """A stream that loses all bytes."""

    async def send_all(self, data: object) -> None:
        await trio.lowlevel.checkpoint()

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


async def _received(stream: trio.abc.Stream) -> bytes:
    data = b""
    while more := await stream.receive_some():
        data += more
    return data


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        encode_frame(b'{"kind":"hello"}'),
        encode_frame(b"x" * 257),
        encode_frame(encode(Proof(b"p" * 32))),
        encode_frame(encode(Greeting(1, 2, 3, b"n" * 32))),  # for another daemon
        encode_frame(encode(Greeting(2, 2, 1, b"n" * 32))),  # of another version
        encode_frame(encode(Greeting(1, 2, 1, b"n"))),
        encode_frame(encode(Greeting(1, 2, 1, b"n" * 32, "link"))[:-4] + b"\xff\xfe\xff\xfe"),  # text that is not UTF-8
        b"\0\0",  # and no more
    ],
)
async def test_a_stranger_gets_nothing(autojump_clock: trio.abc.Clock, data: bytes) -> None:
    async with pair() as both:
        stranger = await both.dial(1)
        await stranger.send_all(data)
        assert await _received(stranger) == b""


async def test_a_client_without_the_secret_gets_a_nonce_and_no_more(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:
        for role, secret in (("connects", b"t" * 32), ("listens", SECRET)):
            stranger = await both.dial(1)
            mine = b"n" * 32
            await stranger.send_all(encode_frame(encode(Greeting(1, 2, 1, mine))))
            decoder = FrameDecoder()
            while (body := decoder.next_frame()) is None:
                decoder.feed(await stranger.receive_some())
            (theirs,) = msgspec.msgpack.decode(body)
            await stranger.send_all(encode_frame(encode(Proof(proof_of(secret, role, 2, 1, mine, theirs)))))
            assert await _received(stranger) == b""


async def test_a_listener_without_the_secret_is_sent_nothing_but_the_handshake(
    autojump_clock: trio.abc.Clock,
) -> None:
    async with trio.open_nursery() as nursery:
        ours, theirs = trio.testing.memory_stream_pair()

        async def dial(daemon: int) -> trio.abc.Stream:
            return theirs

        shared = ClusterMap({1: Peer("a:1", "a:2"), 2: Peer("b:1", "b:2")})
        links = Links(StaticDirectory(shared, 1), SECRET, dial)
        async with running_links(links):
            links.tell(2, Remark(1))
            greeting = await ours.receive_some()
            await ours.send_all(encode_frame(encode(Nonce(b"m" * 32))))
            proof = await ours.receive_some()
            await ours.send_all(encode_frame(proof[4:]))  # its own proof, reflected
            assert await _received(ours) == b""
            assert (len(greeting), len(proof)) < (100, 100)
        nursery.cancel_scope.cancel()


async def test_a_daemon_that_is_dead_and_does_not_know_it_is_heard_no_more(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:
        await both.links[1].ask(2, Question(1))
        await both.links[2].ask(1, Question(1))
        directory = both.links[1]._directory
        assert isinstance(directory, StaticDirectory)
        directory.shared = ClusterMap({1: both.map.peers[1]})  # the first has learnt of the death, the second has not
        both.map.tell()
        await trio.testing.wait_all_tasks_blocked()
        both.links[2].tell(1, Remark(1))
        with trio.move_on_after(60), pytest.raises(LinkLost):
            await both.links[2].ask(1, Question(2))
        assert both.remarks[1] == []


async def test_connections_of_another_role_reach_who_serves_it(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:
        served: list[int] = []

        async def echo(stream: trio.abc.Stream, daemon: int) -> None:
            served.append(daemon)
            await stream.send_all(await stream.receive_some())

        both.links[2].on_connection("echo", echo)
        stream = await both.links[1].open(2, "echo")
        await stream.send_all(b"any bytes")
        assert await _received(stream) == b"any bytes"
        assert served == [1]
        assert await _received(await both.links[1].open(2, "nobody's")) == b""


async def test_a_proof_for_one_role_is_none_for_another(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:
        served: list[int] = []

        async def serve(stream: trio.abc.Stream, daemon: int) -> None:
            served.append(daemon)

        both.links[1].on_connection("echo", serve)
        stranger = await both.dial(1)
        mine = b"n" * 32
        await stranger.send_all(encode_frame(encode(Greeting(1, 2, 1, mine, "echo"))))
        decoder = FrameDecoder()
        while (body := decoder.next_frame()) is None:
            decoder.feed(await stranger.receive_some())
        (theirs,) = msgspec.msgpack.decode(body)
        await stranger.send_all(encode_frame(encode(Proof(proof_of(SECRET, "connects", 2, 1, mine, theirs)))))
        assert await _received(stranger) == b""
        assert served == []


async def test_other_version_of_the_links_is_logged_once_until_it_changes(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:

        async def greet(version: int) -> None:
            stream = await both.dial(1)
            await stream.send_all(encode_frame(encode(Greeting(version, 2, 1, b"n" * 32))))
            assert await _received(stream) == b""

        with structlog.testing.capture_logs() as logged:
            for version in (LINK_VERSION + 1, LINK_VERSION + 1, LINK_VERSION + 2):
                await greet(version)
            await both.cut()
            await both.links[2].ask(1, Question(1))
            await greet(LINK_VERSION + 2)
        reason = (
            f"it speaks version {LINK_VERSION + 1} of the links, and this daemon version {LINK_VERSION}: requests "
            "between the two fail as moved; run the same version of gmd at all daemons"
        )
        assert [entry["daemon"] for entry in logged if entry["event"] == "no link from a daemon"] == [2, 2, 2]
        assert [entry.get("reason") for entry in logged].count(reason) == 1


async def test_refusal_by_another_daemon_is_logged_once_until_there_was_a_link(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:
        await trio.testing.wait_all_tasks_blocked()
        with structlog.testing.capture_logs() as logged:
            for _ in range(2):
                both.links[2]._secret = b"x" * 32
                await both.cut()
                await trio.sleep(10)  # for many attempts
                both.links[2]._secret = SECRET
                await both.links[2].ask(1, Question(1))
        refusals = [entry for entry in logged if entry["event"] == "no link to a daemon" and entry["daemon"] == 1]
        assert [entry["reason"] for entry in refusals] == ["it ended the connection; its log may say more"] * 2


async def test_connections_in_their_handshake_are_few_and_have_little_time(autojump_clock: trio.abc.Clock) -> None:
    async with pair() as both:
        await trio.testing.wait_all_tasks_blocked()
        begun = trio.current_time()
        idle = [await both.dial(1) for _ in range(MAX_UNPROVED_FROM_ADDRESS)]
        await trio.testing.wait_all_tasks_blocked()
        assert await _received(await both.dial(1)) == b""
        assert trio.current_time() == begun
        await both.links[2].ask(1, Question(1))  # links that stand are not affected
        for stream in idle:
            assert await _received(stream) == b""
        assert trio.current_time() - begun == pytest.approx(HANDSHAKE_SECONDS)
        assert await both.links[2].ask(1, Question(2)) == Reply(2, 2)


@asynccontextmanager
async def _idle(port: int, address: str, count: int) -> AsyncIterator[None]:
    """Hold connections from an address that say nothing."""
    with ExitStack() as stack:
        for _ in range(count):
            client = stack.enter_context(trio.socket.socket())
            await client.bind((address, 0))
            await client.connect(("127.0.0.1", port))
        yield


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
async def test_idle_connections_of_one_address_keep_no_other_address_out() -> None:
    with trio.fail_after(60), separate_loopback():
        async with pair() as both, trio.open_nursery() as nursery:
            [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
            port = listener.socket.getsockname()[1]
            nursery.start_soon(trio.serve_listeners, both.links[1].serve, [listener])

            async def dial(daemon: int) -> trio.abc.Stream:
                return await trio.open_tcp_stream("127.0.0.1", port)

            both.links[2]._dial = dial
            async with _idle(port, "127.0.0.2", MAX_UNPROVED_FROM_ADDRESS + 10):
                stream = await both.links[2].open(1, "link")
                await stream.aclose()
                async with _idle(port, "127.0.0.1", MAX_UNPROVED_FROM_ADDRESS):
                    with pytest.raises((HandshakeRefused, trio.BrokenResourceError)):
                        await both.links[2].open(1, "link")
            nursery.cancel_scope.cancel()
