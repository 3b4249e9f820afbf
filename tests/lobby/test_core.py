"""The lobby as other packages call it, without a message."""

from __future__ import annotations

import chess
import pytest
import trio

from gm_protocol.errors import NotAvailable
from gmd.lobby.invitation import Offer
from tests.lobbying import ALICE, BOB, CAROL, house


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
