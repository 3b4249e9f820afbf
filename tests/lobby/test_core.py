"""The lobby as other packages call it, without a message."""

from __future__ import annotations

import chess
import pytest
import trio
from trio.testing import MockClock

from gm_protocol.endings import CALLED_OFF, Cause, Ending
from gm_protocol.errors import BadRequest, GameIsOver, NotAvailable, TooMany
from gmd.lobby.invitation import CALLED_OFF_STATUS
from gmd.lobby.offer import Offer, terms
from tests.lobbying import ALICE, BOB, CAROL, house


async def test_invitation_is_a_game_with_the_inviter_seated() -> None:
    async with house() as (daemon, *_):
        lobby = daemon.lobby
        live = await lobby.invite(ALICE, "Bob", chess.BLACK)
        game = live.game
        assert (game.named, game.players, game.options.variant) == ((ALICE, BOB), (ALICE, None), "rbc")
        assert game.options.clock is not None
        assert (game.options.clock.initial, game.options.clock.increment) == (900.0, 5.0)
        (received,) = lobby.book.received(BOB)
        assert (received.game_id, received.status, received.ranked) == (game.id, "pending", False)
        assert lobby.book.sent(ALICE) == [received]
        assert lobby.book.received(ALICE) == lobby.book.sent(BOB) == []
        assert [each.game_id for each in await lobby.listed(BOB)] == [game.id]


async def test_invitation_is_listed_until_its_player_is_ready() -> None:
    async with house() as (daemon, *_):
        lobby, now = daemon.lobby, trio.current_time()
        game_id = (await lobby.invite(ALICE, BOB, chess.WHITE)).game.id
        for _ in range(2):
            live = await lobby.accept(game_id, BOB, now)
            assert live.game.begun
            assert lobby.book.received(BOB) == []
            assert [each.game_id for each in await lobby.listed(BOB)] == [game_id]
        lobby.ready(live, BOB, now)
        assert await lobby.listed(BOB) == []
        assert (await lobby.accept(game_id, BOB, now)) is live
        assert (await lobby.finish(game_id, BOB, now)) is live
        assert not live.game.over


async def test_only_an_accepted_invitation_can_be_finished() -> None:
    async with house() as (daemon, *_):
        lobby, now = daemon.lobby, trio.current_time()
        live = await lobby.invite(ALICE, BOB, chess.WHITE)
        for player in (ALICE, BOB, CAROL):
            with pytest.raises(NotAvailable):
                await lobby.finish(live.game.id, player, now)
        await lobby.accept(live.game.id, BOB, now)
        await lobby.finish(live.game.id, BOB, now)
        assert live.game.contacted == [True, False]
        assert await lobby.listed(BOB) == []


async def test_offer_of_the_matchmaker_invites_both_players() -> None:
    async with house() as (daemon, *_):
        lobby, now = daemon.lobby, trio.current_time()
        live = await lobby.offer(Offer(ALICE, BOB, ranked=True))
        for player in (ALICE, BOB):
            assert [(each.game_id, each.ranked) for each in await lobby.listed(player)] == [(live.game.id, True)]
        await lobby.accept(live.game.id, ALICE, now)
        assert not live.game.begun
        assert lobby.book.received(ALICE) == []
        assert len(await lobby.listed(ALICE)) == 1
        await lobby.accept(live.game.id, BOB, now)
        assert live.game.begun


async def test_player_is_not_invited_beyond_its_limit_of_games() -> None:
    async with house() as (daemon, *_):
        lobby, now = daemon.lobby, trio.current_time()
        await daemon.authenticator.registry.set(BOB, max_games=2)
        first = await lobby.invite(ALICE, BOB)
        await lobby.invite(CAROL, BOB)
        with pytest.raises(NotAvailable, match="'bob' has as many games as its max_games allows; try again later"):
            await lobby.invite(CAROL, "bob")
        assert lobby.room(BOB) == 0
        await lobby.accept(first.game.id, BOB, now)
        assert lobby.room(BOB) == 0
        await daemon.authenticator.registry.set(BOB, max_games=3)
        assert lobby.room(BOB) == 1
        await lobby.decline(lobby.book.received(BOB)[0].game_id, BOB, now)
        assert lobby.room(BOB) == 2


async def test_player_has_a_limit_of_unanswered_invitations() -> None:
    async with house(max_invitations=2) as (daemon, *_):
        lobby, now = daemon.lobby, trio.current_time()
        live = await lobby.invite(ALICE, BOB)
        await lobby.invite(ALICE, CAROL)
        with pytest.raises(TooMany):
            await lobby.invite(ALICE, CAROL)
        await lobby.accept(live.game.id, BOB, now)
        await lobby.invite(ALICE, CAROL)


async def test_invitation_expires(autojump_clock: MockClock) -> None:
    async with house(invitation_timeout=300.0) as (daemon, *_):
        lobby = daemon.lobby
        live = await lobby.invite(ALICE, BOB, terms=terms(variant="standard"))
        await trio.sleep(299)
        assert not live.game.over
        await trio.sleep(2)
        assert live.game.now.ending == Ending(Cause.EXPIRED)
        assert lobby.book.received(BOB) == lobby.book.sent(ALICE) == []
        assert lobby.room(BOB) == lobby.room(ALICE) == 4
        with pytest.raises(GameIsOver, match=r"game 1 is over: expired"):
            await lobby.accept(live.game.id, BOB, trio.current_time())


async def test_player_cannot_invite_itself() -> None:
    async with house() as (daemon, *_):
        with pytest.raises(BadRequest):
            await daemon.lobby.invite(ALICE, "alice")


def test_every_cause_that_cancels_an_invitation_has_its_status() -> None:
    assert {cause: Ending(cause).termination for cause in CALLED_OFF} == CALLED_OFF_STATUS
