"""Invitations, games in progress and settings after a daemon was stopped or killed."""

from __future__ import annotations

import signal
from pathlib import Path

import chess
import pytest
import trio
from msgspec import structs
from trio.testing import MockClock, wait_all_tasks_blocked

from gm_protocol.endings import Cause, Ending
from gmd.event_log.memory import MemoryLog
from gmd.lobby.invitation import ANYBODY, Offer, terms
from gmd.players.sql import SqlPlayers
from tests.helpers import Client, durable_daemon, running_log, store_in
from tests.lobbying import ALICE, BOB, CAROL, HERE, From, durable_house, house
from tests.serving import served

CHESS = terms(variant="standard")


async def test_pending_invitation_gets_its_full_time_again_after_a_restart(autojump_clock: MockClock) -> None:
    log = MemoryLog()
    async with house(log, invitation_timeout=100.0) as (daemon, *_):
        await daemon.lobby.invite(ALICE, BOB, terms=CHESS)
        await trio.sleep(90)
    async with house(log, invitation_timeout=5.0) as (daemon, *_):
        assert daemon.lobby.book.out(ALICE) == 1
        await trio.sleep(99)
        assert daemon.arbiter.games_in_memory == 0
        assert len(daemon.lobby.book.received(BOB)) == 1
        await trio.sleep(2)
        assert daemon.lobby.book.received(BOB) == daemon.lobby.book.sent(ALICE) == []
        assert daemon.lobby.book.out(ALICE) == daemon.lobby.book.in_hand(BOB) == 0


async def test_invitations_games_and_settings_survive_a_restart(tmp_path: Path) -> None:
    async with durable_house(tmp_path) as (daemon, *_):
        lobby, registry = daemon.lobby, daemon.authenticator.registry
        for _ in range(2):
            await registry.next_version(ALICE)
        await registry.set(ALICE, ranked=True)
        await registry.set(BOB, max_games=7)
        pending = (await lobby.invite(ALICE, BOB, chess.WHITE)).game.id
        accepted = (await lobby.invite(CAROL, BOB, chess.BLACK)).game.id
        await lobby.accept(accepted, BOB, trio.current_time())
        on = await lobby.offer(Offer(ALICE, CAROL))
        for player in (ALICE, CAROL):
            lobby.ready(await lobby.accept(on.game.id, player, trio.current_time()), player, trio.current_time())
        await lobby.decline((await lobby.offer(Offer(BOB, CAROL))).game.id, CAROL, trio.current_time())
        kept = [lobby.book.received(BOB), lobby.book.sent(ALICE), await lobby.listed(BOB)]
        in_hand = [lobby.book.in_hand(player) for player in (ALICE, BOB, CAROL)]
        assert ([each.game_id for each in kept[2]], in_hand) == ([pending, accepted], [2, 2, 2])
    async with durable_house(tmp_path) as (daemon, *_):
        lobby, registry = daemon.lobby, daemon.authenticator.registry
        alice, bob = registry.get(ALICE), registry.get(BOB)
        assert alice is not None
        assert bob is not None
        assert (alice.version, alice.ranked, alice.max_games) == (2, True, 4)
        assert (bob.version, bob.ranked, bob.max_games) == (0, False, 7)
        assert [lobby.book.received(BOB), lobby.book.sent(ALICE), await lobby.listed(BOB)] == kept
        assert [lobby.book.in_hand(player) for player in (ALICE, BOB, CAROL)] == in_hand
        table = await lobby.accept(accepted, BOB, trio.current_time())
        lobby.ready(table, BOB, trio.current_time())
        assert [each.game_id for each in await lobby.listed(BOB)] == [pending]
        assert (await lobby.accept(pending, BOB, trio.current_time())).game.begun


async def test_invitation_of_a_player_revoked_at_the_end_is_cancelled_after_the_restart(tmp_path: Path) -> None:
    async with durable_house(tmp_path) as (daemon, *_):
        await daemon.lobby.invite(ALICE, BOB)
        with store_in(tmp_path) as store:  # as if the daemon had ended before it could cancel the game
            async with running_log(store) as log:
                bob = structs.replace(daemon.authenticator.registry.named("bob"), key=None)
                await SqlPlayers(log).change(bob)
    with store_in(tmp_path) as store:
        async with durable_daemon(store) as daemon:
            await wait_all_tasks_blocked(0.05)
            with trio.fail_after(60):
                while not (await daemon.arbiter.live_game(1)).game.over:
                    await trio.lowlevel.checkpoint()
            assert (await daemon.arbiter.live_game(1)).game.now.ending == Ending(Cause.DECLINED)


@pytest.mark.slow
async def test_invitations_survive_a_kill(tmp_path: Path) -> None:
    keys: dict[str, str] = {}

    async def enter(port: int, name: str) -> Client:
        client = Client(await trio.open_tcp_stream("127.0.0.1", port))
        await client.ask("hello")
        if name not in keys:
            keys[name] = (await client.ask("register", name=name))["key"]
        assert (await client.ask("hello", name=name, key=keys[name]))["error"] is None
        return client

    with served("--data", str(tmp_path)) as daemon:
        alice, bob = [await enter(daemon.port, name) for name in ("alice", "bob")]
        assert (await bob.ask("settings", max_games=9))["max_games"] == 9
        for game_id in (1, 2, 3):
            asked = {"opponent": "bob", "color": "white", "variant": "rbc", "token": str(game_id)}
            assert (await alice.ask("challenge", **asked))["game_id"] == game_id
        accepted = await bob.ask("accept", game_id=2, brief=True)
        assert (await bob.ask("decline", game_id=3))["error"] is None
        before = [await client.ask("invitations") for client in (alice, bob)]
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait()
        for client in (alice, bob):
            await client.aclose()
    with served("--data", str(tmp_path)) as daemon:
        alice, bob = [await enter(daemon.port, name) for name in ("alice", "bob")]
        assert [await client.ask("invitations") for client in (alice, bob)] == before
        assert [row["game_id"] for row in before[1]["received"]] == [1]
        again = await bob.ask("accept", game_id=2, brief=True)
        assert (again["seat"], again["state"]["phase"]) == (accepted["seat"], accepted["state"]["phase"])
        assert (await alice.ask("challenge", **asked))["state"]["termination"] == "declined"
        assert (await alice.ask("sense", game_id=2, square="e7"))["error"] is None
        assert (await bob.ask("settings"))["max_games"] == 9
        for client in (alice, bob):
            await client.aclose()


async def test_long_list_survives_a_restart_and_its_pages_are_bounded() -> None:
    log = MemoryLog()
    async with house(log, max_invitations_received=1_000, max_invitations=1_000) as (daemon, *_):
        for _ in range(150):
            await From(daemon, HERE).ask("new_game", player_white=7, player_black=BOB, brief=True)
        for _ in range(2):
            await From(daemon, HERE, ALICE).ask("new_game", player_white=ALICE, player_black=BOB, brief=True)
        first = await From(daemon, HERE, BOB).ask("invitations")
    async with house(log, max_invitations_received=1_000) as (daemon, *_):
        book = daemon.lobby.book
        assert await From(daemon, HERE, BOB).ask("invitations") == first
        assert [row["game_id"] for row in first["received"]] == [*range(1, 99), 151, 152]
        assert (len(book.inbox(BOB)), book.inbox(BOB).count(ANYBODY), book.out(ALICE)) == (152, 150, 2)


async def test_invitations_beyond_a_lowered_limit_are_cancelled_except_the_first_of_each_inviter() -> None:
    log = MemoryLog()
    async with house(log, max_invitations_received=1_000) as (daemon, *_):
        for _ in range(60):
            await From(daemon, HERE).ask("new_game", player_white=7, player_black=BOB, brief=True)
        for _ in range(2):
            await From(daemon, HERE, ALICE).ask("new_game", player_white=ALICE, player_black=BOB, brief=True)
    async with house(log, max_invitations_received=20) as (daemon, *_):
        await wait_all_tasks_blocked()
        received = [each.game_id for each in daemon.lobby.book.received(BOB)]
        assert received == [*range(1, 19), 61, 62]
        assert (await daemon.arbiter.live_game(60)).game.now.ending == Ending(Cause.EXPIRED)
        carol = From(daemon, HERE, CAROL)
        assert (await carol.ask("new_game", player_white=CAROL, player_black=BOB, brief=True))["error"] is None


async def test_revocation_is_answered_before_a_long_list_is_cancelled(tmp_path: Path) -> None:
    async with durable_house(tmp_path) as (daemon, *_):
        for _ in range(60):
            await From(daemon, HERE).ask("new_game", player_white=7, player_black=BOB, brief=True)
        bob = daemon.lobby.book.inbox(BOB)
        waiting = list(bob.shown)
        await From(daemon, HERE, operator=True).ask("revoke", name="bob")
        assert len(bob) > len(waiting) - 20  # a few at a time, between other requests
        with trio.fail_after(60):
            while len(bob):
                await trio.lowlevel.checkpoint()
        for game_id in waiting:
            assert (await daemon.arbiter.live_game(game_id)).game.now.ending == Ending(Cause.DECLINED)
        assert len(daemon.lobby.quotas.pending) == 0
