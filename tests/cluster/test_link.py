"""One connection between daemons: both sides may have much to send at the same time."""

from __future__ import annotations

import trio
import trio.testing
from msgspec import Raw

from gmd.cluster.link import MAX_UNSENT, Link
from gmd.cluster.link_messages import Answer, Ask, Envelope, encode
from tests.cluster.members import PATIENCE

PIECE = Raw(encode(b"x" * (MAX_UNSENT // 4)))


async def test_two_sides_that_both_have_too_much_to_send_go_on(autojump_clock: trio.testing.MockClock) -> None:
    ours, theirs = trio.testing.lockstep_stream_pair()  # nothing is sent that the other side does not read
    taken: list[Envelope] = []
    asked: list[Envelope] = []
    caller, answerer = Link(ours, taken.append, answers=False), Link(theirs, asked.append, answers=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(caller.run)
        nursery.start_soon(answerer.run)
        for number in range(1, 31):
            caller.post(Ask(number, "Question", PIECE))
            answerer.post(Answer(number, "Reply", PIECE))
        assert caller.is_full
        assert answerer.is_full
        await trio.sleep(10)
        assert len([each for each in taken if isinstance(each, Answer)]) == 30
        assert len([each for each in asked if isinstance(each, Ask)]) == 30
        assert caller.is_open
        assert answerer.is_open
        nursery.cancel_scope.cancel()


async def test_connection_that_is_closed_while_a_message_is_taken_ends_the_link() -> None:
    one, other = trio.socket.socketpair()
    theirs = trio.SocketStream(other)
    caller = Link(
        trio.SocketStream(one), lambda envelope: one.close(), answers=False
    )  # as if another task did in this very turn
    answerer = Link(theirs, lambda envelope: None, answers=True)
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(answerer.run)
            answerer.post(Answer(1, "Reply", PIECE))
            await caller.run()
    await theirs.aclose()
    assert not caller.is_open
