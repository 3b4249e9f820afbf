"""Concurrent answers, and requests while something is not yet durable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gm_protocol.endings import Cause, Ending
from gm_protocol.errors import GmError, NotAvailable
from gmd.lobby.invitation import Offer, terms
from tests.helpers import FaultyStore, durable_daemon, memory_daemon, store_in
from tests.lobbying import ALICE, BOB, CAROL, enter, house, housed
from tests.proofs import cases

CHESS = terms(variant="standard")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FaultyStore]:
    with store_in(tmp_path) as store:
        yield store


async def test_concurrent_accepts_in_two_sessions_each_begin_one_game() -> None:
    async with house() as (daemon, alice, bob, _carol):
        await daemon.lobby.offer(Offer(ALICE, BOB, terms=CHESS))
        others = [await enter(daemon, name) for name in ("alice", "bob")]
        clients = [alice, bob, *others]
        for client in clients:
            await client.send(*[{"kind": "accept", "game_id": 1, "brief": True}] * 2)
        replies = [[await client.receive() for _ in range(2)] for client in clients]
        assert [[reply["seat"] for reply in two] for two in replies] == [["white"] * 2, ["black"] * 2] * 2
        live = await daemon.arbiter.live_game(1)
        assert (live.game.begun, live.seq) == (True, 3)


async def test_first_of_an_answer_and_a_withdrawal_counts() -> None:
    async with house() as (daemon, alice, bob, _carol):
        for game_id, first, second in ((1, bob, alice), (2, alice, bob)):
            await alice.ask("challenge", opponent="bob", color="white", variant="rbc", brief=True)
            kinds = {id(alice): "decline", id(bob): "accept"}
            for client in (first, second):
                await client.send({"kind": kinds[id(client)], "game_id": game_id, "brief": True})
                await wait_all_tasks_blocked()
            won, lost = await first.receive(), await second.receive()
            assert won["error"] is None
            assert lost["code"] == ("not_available" if first is bob else "game_over")
        ends = [(await daemon.arbiter.live_game(game_id)).game.now.ending for game_id in (1, 2)]
        assert ends == [None, Ending(Cause.WITHDRAWN)]


async def test_accept_at_the_deadline_is_either_in_time_or_refused(autojump_clock: MockClock) -> None:
    outcomes = {None: None, "game_over": Ending(Cause.EXPIRED)}
    for _ in range(cases(8)):  # trio wakes tasks with the same deadline in any order
        async with house(invitation_timeout=10.0) as (daemon, _alice, bob, _carol):
            live = await daemon.lobby.invite(ALICE, BOB, terms=CHESS)
            await trio.sleep(10)
            code = (await bob.ask("accept", game_id=1)).get("code")
            await trio.sleep(100)
            assert outcomes[code] == live.game.now.ending


async def test_refused_join_does_not_extend_the_deadline(autojump_clock: MockClock) -> None:
    async with house(invitation_timeout=10.0) as (daemon, _alice, _bob, carol):
        live = await daemon.lobby.invite(ALICE, BOB, terms=CHESS)
        await trio.sleep(9)
        assert (await carol.ask("join", game_id=1))["code"] == "not_available"
        await daemon.lobby.decline((await daemon.lobby.invite(ALICE, CAROL)).game.id, CAROL, trio.current_time())
        await trio.sleep(1.5)
        assert live.game.now.ending == Ending(Cause.EXPIRED)


async def test_limits_count_pending_invitations_that_lists_do_not_show_yet(store: FaultyStore) -> None:
    async with durable_daemon(store, max_invitations=1) as daemon:
        await housed(daemon)
        lobby, refused = daemon.lobby, []
        await daemon.authenticator.registry.set(CAROL, max_games=1)

        async def invite(inviter: int) -> None:
            try:
                await lobby.invite(inviter, CAROL)
            except GmError as error:
                refused.append((inviter, error.code))

        async with trio.open_nursery() as nursery:
            with store.held():
                nursery.start_soon(invite, ALICE)
                await wait_all_tasks_blocked()
                assert lobby.book.received(CAROL) == lobby.book.sent(ALICE) == []
                for inviter in (ALICE, BOB):
                    nursery.start_soon(invite, inviter)
                    await wait_all_tasks_blocked()
                assert refused == [(ALICE, "too_many"), (BOB, "not_available")]
        assert len(lobby.book.received(CAROL)) == 1


async def test_invitation_that_cannot_be_written_does_not_exist(store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon:
        _, alice, bob, _ = await housed(daemon)
        await alice.ask("seek", variant="rbc", color="white")
        store.fault = OSError("the disk is full")
        for kind, fields in (("challenge", {"opponent": "alice"}), ("seek", {"variant": "rbc"})):
            assert (await bob.ask(kind, **fields))["code"] == "internal"
        assert [daemon.lobby.room(player) for player in (ALICE, BOB)] == [4, 4]
        store.fault = None
        assert (await alice.ask("invitations"))["received"] == []
        assert (await alice.ask("invitations"))["seeking"] is True
        found = await bob.ask("seek", variant="rbc", brief=True)
        assert (found["error"], found["seat"]) == (None, "black")


async def test_revocation_cancels_an_invitation_whose_game_was_not_in_memory() -> None:
    async with memory_daemon(idle_games=0.01) as daemon:
        await housed(daemon)
        await daemon.lobby.invite(ALICE, BOB)
        with pytest.raises(NotAvailable):
            await daemon.lobby.accept(1, CAROL, trio.current_time())
        await daemon.authenticator.registry.revoke(ALICE)
        await wait_all_tasks_blocked()
        assert (await daemon.arbiter.live_game(1)).game.now.ending == Ending(Cause.WITHDRAWN)
        assert daemon.lobby.book.received(BOB) == []


async def test_revocation_cancels_an_invitation_that_was_not_yet_durable(store: FaultyStore) -> None:
    async with durable_daemon(store) as daemon:
        _, alice, _, carol = await housed(daemon)
        async with trio.open_nursery() as nursery:
            with store.held():
                await carol.send({"kind": "new_game", "player_white": CAROL, "player_black": CAROL})
                await wait_all_tasks_blocked()  # this request is being written, and the next ones wait for it
                await alice.send({"kind": "challenge", "opponent": "bob", "brief": True})
                await wait_all_tasks_blocked()
                nursery.start_soon(daemon.authenticator.registry.revoke, BOB)
                await wait_all_tasks_blocked()
                assert daemon.lobby.book.in_hand(BOB) == 1
        assert (await alice.receive())["game_id"] == 2
        ended = await alice.ask("wait", any=True, timeout=10, brief=True)
        assert (ended["game_id"], ended["state"]["termination"]) == (2, "declined")
