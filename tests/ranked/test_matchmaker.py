"""The matchmaker in a daemon: the players that it invites, and when."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from gmd.event_log.memory import MemoryLog
from gmd.lobby.invitation import Offer
from gmd.lobby.matchmaker import APART_SECONDS, GATHER_SECONDS
from gmd.lobby.strengths import MEAN, SPREAD
from tests.helpers import Client, MemoryDaemon
from tests.lobbying import ALICE, BOB, CAROL, house

#: Longer than the time for which the matchmaker gathers events.
MOMENT = 2 * GATHER_SECONDS


async def want_ranked(client: Client, max_games: int = 1, **settings: Any) -> None:
    """Accept ranked games from now on."""
    reply = await client.ask("settings", **{"ranked": True, "max_games": max_games} | settings)
    assert reply["error"] is None, reply


async def received(client: Client) -> list[int]:
    """Return the games to which a player is invited."""
    await trio.sleep(MOMENT)
    rows = (await client.ask("invitations"))["received"]
    assert all(row["ranked"] for row in rows)
    return [row["game_id"] for row in rows]


async def take(client: Client, game_id: int) -> None:
    assert (await client.ask("accept", game_id=game_id))["error"] is None


async def resign(daemon: MemoryDaemon, client: Client, player: int, game_id: int) -> None:
    """End a game in progress."""
    live = await daemon.arbiter.live_game(game_id)
    color = "white" if live.game.named[True] == player else "black"
    reply = await client.ask("end_game", game_id=game_id, termination=f"resignation_{color}")
    assert reply["error"] is None, reply


async def test_two_players_are_invited_to_as_many_ranked_games_as_both_accept(autojump_clock: MockClock) -> None:
    async with house() as (daemon, alice, bob, carol):
        await want_ranked(alice, 3)
        assert await received(alice) == []
        await want_ranked(bob, 2)
        assert await received(alice) == await received(bob) == [1, 2]
        assert await received(carol) == []
        games = [(await daemon.arbiter.live_game(game_id)).game for game_id in (1, 2)]
        assert {game.named for game in games} == {(ALICE, BOB), (BOB, ALICE)}
        assert all(game.created.ranked and game.options.variant == "rbc" for game in games)


async def test_players_meet_again_with_alternating_colours(autojump_clock: MockClock) -> None:
    async with house() as (daemon, alice, bob, _):
        await want_ranked(alice)
        await want_ranked(bob)
        seen = []
        for game_id in range(1, 7):
            assert await received(alice) == [game_id]
            await take(alice, game_id)
            await take(bob, game_id)
            seen.append((await daemon.arbiter.live_game(game_id)).game.named)
            await resign(daemon, bob, BOB, game_id)
        assert seen in ([(ALICE, BOB), (BOB, ALICE)] * 3, [(BOB, ALICE), (ALICE, BOB)] * 3)
        entries = daemon.services.ranked.ratings.ladder.entries
        assert [(each.entrant.player, *each.score) for each in entries] == [(ALICE, 6, 0, 0), (BOB, 0, 0, 6)]


async def test_colours_keep_alternating_after_a_restart(autojump_clock: MockClock) -> None:
    for ends in (True, False):
        log = MemoryLog()
        async with house(log) as (daemon, alice, bob, _):
            await want_ranked(alice)
            await want_ranked(bob)
            (game_id,) = await received(alice)
            await take(alice, game_id)
            await take(bob, game_id)
            if ends:
                await bob.ask("settings", ranked=False)
                await resign(daemon, bob, BOB, game_id)
            first = (await daemon.arbiter.live_game(game_id)).game.named
        async with house(log) as (daemon, alice, bob, _):
            await want_ranked(alice, 2 - ends)
            await want_ranked(bob, 2 - ends)
            (second,) = await received(alice)
            assert (await daemon.arbiter.live_game(second)).game.named == first[::-1]


async def test_draining_player_gets_no_more_invitations_and_keeps_its_games(autojump_clock: MockClock) -> None:
    async with house() as (daemon, alice, bob, _):
        await want_ranked(alice, 2)
        await want_ranked(bob, 2)
        first, second = await received(alice)
        await take(alice, first)
        await take(alice, second)
        await take(bob, first)
        assert (await alice.ask("settings", ranked=False))["ranked"] is False
        assert await received(bob) == [second]
        await take(bob, second)
        for game_id in (first, second):
            await resign(daemon, alice, ALICE, game_id)
        assert await received(alice) == await received(bob) == []
        assert daemon.services.ranked.ratings.ladder.games == 2


async def test_unaccepted_invitations_of_a_draining_player_are_cancelled(autojump_clock: MockClock) -> None:
    """Only the matchmaker's invitations are cancelled; those of others stay."""
    async with house() as (daemon, alice, bob, carol):
        await want_ranked(alice, 2)
        await want_ranked(bob, 1)
        (game_id,) = await received(alice)
        await take(bob, game_id)
        challenge = (await carol.ask("challenge", opponent="alice", variant="rbc", brief=True))["game_id"]
        tournament = await daemon.lobby.offer(Offer(ALICE, CAROL, ranked=True))  # as when the operator pairs them
        await alice.ask("settings", ranked=False)
        await trio.sleep(MOMENT)
        left = [row["game_id"] for row in (await alice.ask("invitations"))["received"]]
        assert left == [challenge, tournament.game.id]
        assert (await bob.ask("state", game_id=game_id))["state"]["termination"] == "declined"
        assert daemon.lobby.room(BOB) == 1
        await want_ranked(alice, 4)  # draining has no later disadvantage
        assert await received_ranked(alice) != []


async def received_ranked(client: Client) -> list[int]:
    """Return the ranked games among those to which a player is invited."""
    await trio.sleep(MOMENT)
    return [row["game_id"] for row in (await client.ask("invitations"))["received"] if row["name"] == "bob"]


async def test_absent_player_is_not_invited_until_it_comes(autojump_clock: MockClock) -> None:
    async with house() as (daemon, alice, bob, _):
        await want_ranked(alice)
        await want_ranked(bob, 0)
        await bob.aclose()
        await daemon.authenticator.registry.set(BOB, max_games=1)
        assert await received(alice) == []
        daemon.lobby.presence.seen(BOB)
        assert len(await received(alice)) == 1


async def accept_all(daemon: MemoryDaemon, player: int) -> None:
    """Accept every invitation and stay present, as reconchess's client does."""
    while True:
        for invitation in daemon.lobby.book.received(player):
            await daemon.lobby.accept(invitation.game_id, player, trio.current_time())
        await trio.sleep(30)


@pytest.mark.slow
async def test_unanswered_invitation_is_repeated_at_growing_intervals(autojump_clock: MockClock) -> None:
    async with house(invitation_timeout=300.0, idle_timeout=10**6) as (daemon, alice, bob, _):
        await want_ranked(alice)
        await want_ranked(bob)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(accept_all, daemon, ALICE)  # and bob does not answer for a day
            made = []
            for _ in range(24):
                await trio.sleep(3600)
                made.append(max(row["game_id"] for row in (await alice.ask("games"))["games"]))
            assert made[0] == 6  # each lasts five minutes and is followed by a pause of one, two, four... minutes
            assert made[-1] - made[-2] <= 1
            await trio.sleep(300)
            await want_ranked(bob)  # bob is present again
            (latest,) = await received(bob)
            assert latest == made[-1] + 1
            nursery.cancel_scope.cancel()


async def test_player_who_declines_everything_is_left_alone_while_others_play(autojump_clock: MockClock) -> None:
    async with house() as (daemon, alice, bob, carol):
        for client in (alice, bob, carol):
            await want_ranked(client)
        declined = 0
        for _ in range(60):
            for game_id in await received(carol):
                assert (await carol.ask("decline", game_id=game_id))["error"] is None
                declined += 1
            both = set(await received(alice)) & set(await received(bob))
            for game_id in both:
                await take(alice, game_id)
                await take(bob, game_id)
                await resign(daemon, bob, BOB, game_id)
        assert 1 <= declined <= 3
        assert daemon.services.ranked.ratings.ladder.games >= 5


@pytest.mark.slow
async def test_player_who_keeps_asking_but_never_accepts_is_left_alone(autojump_clock: MockClock) -> None:
    async with house() as (_, alice, bob, _):
        await want_ranked(alice)
        for second in range(600):  # a little more than ten minutes
            await want_ranked(bob, ranked=bool(second % 2))
            for game_id in await received(bob):
                assert (await bob.ask("decline", game_id=game_id))["error"] is None
        made = max(row["game_id"] for row in (await alice.ask("games"))["games"])
        assert 1 <= made <= 12


async def test_two_players_who_have_just_met_wait_for_others(
    autojump_clock: MockClock,
) -> None:
    async with house() as (daemon, alice, bob, carol):
        for client in (alice, bob):
            await want_ranked(client)
        await want_ranked(carol, 0)
        (game_id,) = await received(alice)
        await take(alice, game_id)
        await take(bob, game_id)
        await resign(daemon, bob, BOB, game_id)
        assert await received(alice) == await received(bob) == []
        await trio.sleep(APART_SECONDS)
        assert len(await received(alice)) == len(await received(bob)) == 1


async def test_version_at_the_creation_of_the_game_counts(
    autojump_clock: MockClock,
) -> None:
    async with house() as (daemon, alice, bob, _):
        await want_ranked(alice, version=1)
        await want_ranked(bob)
        (game_id,) = await received(alice)
        await take(alice, game_id)
        await take(bob, game_id)
        await alice.ask("settings", version=2, ranked=False)
        await resign(daemon, bob, BOB, game_id)
        await trio.sleep(MOMENT)
        ratings = daemon.services.ranked.ratings
        assert [each.entrant for each in ratings.ladder.entries] == [(ALICE, 1), (BOB, 0)]
        assert (ratings.of(ALICE, 2).rating, ratings.of(ALICE, 2).deviation) == (MEAN, SPREAD)
        assert ratings.of(ALICE, 1).rating > MEAN > ratings.of(BOB, 0).rating
        assert ratings.record.whites(ALICE, BOB) + ratings.record.whites(BOB, ALICE) == 1


async def test_end_of_another_game_makes_room_too(autojump_clock: MockClock) -> None:
    async with house() as (daemon, alice, bob, carol):
        game_id = (await carol.ask("challenge", opponent="bob", variant="rbc"))["game_id"]
        await take(bob, game_id)
        await want_ranked(alice)
        await want_ranked(bob)
        assert await received(alice) == []
        await resign(daemon, bob, BOB, game_id)
        assert len(await received(alice)) == len(await received(bob)) == 1


async def test_unanswered_invitations_of_the_matchmaker_are_limited_too(autojump_clock: MockClock) -> None:
    async with house(max_invitations=3) as (_, alice, bob, _):
        await want_ranked(alice, 10_000)
        await want_ranked(bob, 10_000)
        assert await received(alice) == await received(bob) == [1, 2, 3]
        await take(alice, 1)
        assert await received(alice) == [2, 3]
        await take(bob, 1)
        assert await received(alice) == await received(bob) == [2, 3, 4]
