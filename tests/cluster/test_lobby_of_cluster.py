"""The lobby of a cluster: players meet whichever daemons they are connected to, and its owner may die."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import structlog
import trio
from trio.testing import MockClock

from gm_protocol.errors import TooMany
from gmd.ranked.matchmaker import GATHER_SECONDS
from gmd.retention import prune_all
from tests.cluster.opening import open_game
from tests.cluster.whole_cluster import WholeCluster, settled, whole_cluster
from tests.helpers import Client, Json


async def ok(client: Client, kind: str, **fields: object) -> Json:
    reply = await client.ask(kind, **fields)
    assert reply["error"] is None, reply
    return reply


async def received(client: Client) -> list[int]:
    return [row["game_id"] for row in (await ok(client, "invitations"))["received"]]


async def sent(client: Client) -> list[int]:
    return [row["game_id"] for row in (await ok(client, "invitations"))["sent"]]


async def test_seekers_at_two_daemons_meet(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        alice, bob = await cluster.enter(1, "alice"), await cluster.enter(2, "bob")
        assert (await ok(alice, "seek"))["game_id"] is None
        game_id = (await ok(bob, "seek"))["game_id"]
        assert await received(alice) == [game_id]
        await ok(alice, "accept", game_id=game_id)
        assert {(await ok(each, "state", game_id=game_id))["state"]["phase"] for each in (alice, bob)} == {"move"}
        assert await received(alice) == await sent(bob) == []


@pytest.mark.parametrize("kind", ["accept", "decline", "withdraw"])
async def test_parties_of_an_invitation_are_at_different_daemons(autojump_clock: MockClock, kind: str) -> None:
    async with whole_cluster(3) as cluster:
        alice, bob = await cluster.enter(1, "alice"), await cluster.enter(2, "bob")
        game_id = (await ok(alice, "challenge", opponent="bob"))["game_id"]
        await cluster.hand_over([game_id % 256], cluster[2])  # its owner is neither the lobby's nor Alice's daemon
        assert await received(bob) == await sent(alice) == [game_id]
        if kind == "withdraw":
            await ok(alice, "decline", game_id=game_id)
        else:
            await ok(bob, kind, game_id=game_id)
        await settled()
        assert await received(bob) == await sent(alice) == []
        book = cluster.lobby.lobby.book
        assert [book.in_hand(each.player) for each in (alice, bob)] == [kind == "accept"] * 2  # type: ignore[attr-defined]


async def test_invitations_survive_the_death_of_the_lobby_s_owner(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        alice, bob = await cluster.enter(1, "alice"), await cluster.enter(2, "bob")
        first = (await ok(alice, "challenge", opponent="bob"))["game_id"]
        second = (await ok(bob, "challenge", opponent="alice"))["game_id"]
        await cluster.kill_lobby(cluster[1])
        assert await received(bob) == await sent(alice) == [first]
        assert await received(alice) == await sent(bob) == [second]
        await ok(bob, "accept", game_id=first)
        await ok(bob, "decline", game_id=second)
        await settled()
        assert await received(alice) == await received(bob) == []
        assert await received(bob) == []
        third = (await ok(alice, "challenge", opponent="bob"))["game_id"]  # Bob is known to be present
        assert await received(bob) == [third]


async def test_seek_waits_at_a_new_owner_of_the_lobby(autojump_clock: MockClock) -> None:
    async with whole_cluster(4) as cluster:
        alice, carol = await cluster.enter(1, "alice"), await cluster.enter(2, "carol")
        assert (await ok(alice, "seek", variant="rbc"))["game_id"] is None
        assert (await ok(carol, "seek", variant="dark_chess"))["game_id"] is None
        await carol.aclose()
        for _ in range(2):
            await settled()
            await cluster.kill_lobby(cluster[2])
            assert (await ok(alice, "invitations"))["seeking"]
        bob = await cluster.enter(0, "bob")
        assert (await ok(bob, "seek", variant="dark_chess"))["game_id"] is None
        assert (await ok(bob, "seek", variant="rbc"))["game_id"] is not None
        assert not (await ok(alice, "invitations"))["seeking"]


async def test_revocation_is_effective_everywhere_when_it_is_acknowledged(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        sessions = [await cluster.enter(index, "alice") for index in range(3)]
        player = sessions[0].player  # type: ignore[attr-defined]
        account = await cluster.lobby.authenticator.registry.revoke(player)
        assert account.key is None
        for member in cluster.members:
            assert member.authenticator.registry.get(player) == account
        await settled()
        for session in sessions:
            assert await session.closed()


async def test_change_of_an_account_is_acknowledged_when_a_dead_daemon_s_lease_is_over(
    autojump_clock: MockClock,
) -> None:
    async with whole_cluster(3) as cluster:
        alice = await cluster.enter(1, "alice")
        deaf = cluster[2]
        deaf.scope.cancel()
        cluster._reachable.discard(deaf.id)
        await cluster.cut(deaf)
        begun = trio.current_time()
        async with trio.open_nursery() as nursery:

            async def change() -> None:
                await ok(alice, "settings", max_games=7)
                assert trio.current_time() >= begun + 5

            nursery.start_soon(change)
            await trio.sleep(5)
            await cluster.kill(deaf, cluster[1])


async def test_daemon_that_joins_has_the_change_of_an_account_that_is_made_meanwhile(
    autojump_clock: MockClock,
) -> None:
    async with whole_cluster(2) as cluster:
        alice = await cluster.enter(1, "alice")
        registry = cluster[1].authenticator.registry
        store, gate = registry._store, trio.Event()

        async def slow() -> list[object]:
            loaded = await type(store).load(store)
            await gate.wait()
            return loaded  # as it was before the change

        store.load = slow  # type: ignore[method-assign]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(registry.reload)
            await trio.testing.wait_all_tasks_blocked()
            await ok(alice, "settings", max_games=9)
            gate.set()
        account = registry.named("alice")
        assert account is not None
        assert account.max_games == 9


async def test_limit_of_unfinished_games_is_exact_over_daemons(autojump_clock: MockClock) -> None:
    async with whole_cluster(3, max_unfinished_games=5) as cluster:
        quotas = cluster.lobby.lobby.quotas
        peer = "192.0.2.1:5"
        made: list[str | None] = []

        async def make(index: int) -> None:
            member = cluster[index % 3]
            place = await member.lobby.quotas.place_for(peer)
            made.append(open_game(member, peer, place))

        async with trio.open_nursery() as nursery:
            for index in range(12):
                nursery.start_soon(_counting, make, index, made)
        assert sorted(map(str, made)).count("TooMany") == 7
        await settled()
        assert quotas.games.size(peer) == 5


async def _counting(make: Callable[[int], Awaitable[None]], index: int, made: list[str | None]) -> None:
    try:
        await make(index)
    except TooMany:
        made.append("TooMany")


async def test_ranked_players_at_three_daemons_are_paired_and_rated(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        players = [await cluster.enter(index, name) for index, name in enumerate(("alice", "bob", "carol"))]
        for client in players:
            await ok(client, "settings", ranked=True, max_games=1)
        ended = 0
        for turn in range(6):
            await trio.sleep(60 + 2 * GATHER_SECONDS)
            games = {game_id for client in players for game_id in await received(client)}
            for game_id in games:
                parties = [client for client in players if game_id in await received(client)]
                for client in parties:
                    await ok(client, "accept", game_id=game_id)
                if turn % 2:
                    await cluster.hand_over([game_id % 256], cluster[-1])
                seat = (await ok(parties[0], "join", game_id=game_id))["seat"]
                await ok(parties[0], "end_game", game_id=game_id, termination=f"resignation_{seat}")
                ended += 1
            if turn == 3:
                await cluster.kill_lobby(cluster[1])
                players = players[1:]
        await settled()
        assert ended >= 5
        assert cluster.lobby.services.ranked.ratings.record.games == ended


async def test_end_of_a_game_whose_owner_died_before_it_told_is_read_from_the_log(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        alice, bob = await cluster.enter(1, "alice"), await cluster.enter(2, "bob")
        game_id = (await ok(alice, "challenge", opponent="bob"))["game_id"]
        await cluster.hand_over([game_id % 256], cluster[2])
        await ok(bob, "accept", game_id=game_id)
        await settled()
        owner, book = cluster[2], cluster.lobby.lobby.book
        owner.service._reporter.lobby = None  # as if its notes were lost with it
        seat = (await ok(alice, "join", game_id=game_id))["seat"]
        await ok(alice, "end_game", game_id=game_id, termination=f"resignation_{seat}")
        await settled()
        assert book.in_hand(alice.player) == 1  # type: ignore[attr-defined]
        await cluster.die(owner, cluster[1])
        assert book.in_hand(alice.player) == 0  # type: ignore[attr-defined]


async def test_wait_for_any_game_sees_turns_in_games_of_all_daemons(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        alice, bob = await cluster.enter(1, "alice"), await cluster.enter(2, "bob")
        game_id = (await ok(alice, "challenge", opponent="bob", color="white"))["game_id"]
        await cluster.hand_over([game_id % 256], cluster[2])
        assert (await ok(bob, "wait", any=True))["game_id"] == game_id
        await ok(bob, "accept", game_id=game_id)
        assert (await ok(alice, "wait", any=True))["game_id"] == game_id
        async with trio.open_nursery() as nursery:
            shown: list[Json] = []

            async def wait() -> None:
                shown.append(await ok(bob, "wait", any=True, timeout=20))

            nursery.start_soon(wait)
            await trio.sleep(1)
            await ok(alice, "move", game_id=game_id, move="e2e4")
        assert shown[0]["game_id"] == game_id
        await ok(bob, "move", game_id=game_id, move="e7e5")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await trio.sleep(1)
            await cluster.kill_lobby(cluster[1])
            await ok(alice, "move", game_id=game_id, move="g1f3")
        assert shown[1]["game_id"] == game_id


async def test_places_of_a_daemon_that_dies_before_it_creates_the_games_are_free_again(
    autojump_clock: MockClock,
) -> None:
    async with whole_cluster(3, max_unfinished_games=2, max_games_per_hour=2) as cluster:
        quotas, peer = cluster.lobby.lobby.quotas, "192.0.2.1:5"
        for _ in range(2):
            await cluster[1].lobby.quotas.place_for(peer)
        with pytest.raises(TooMany):
            await cluster[2].lobby.quotas.place_for(peer)
        await cluster.die(cluster[1], cluster[1 + 1])
        assert quotas.games.size(peer) == 0
        assert await cluster[1].lobby.quotas.place_for(peer) is not None


async def test_games_made_elsewhere_count_until_they_are_over(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        quotas, peer = cluster.lobby.lobby.quotas, "192.0.2.1:5"
        open_game(cluster[1], peer, await cluster[1].lobby.quotas.place_for(peer))
        await settled()
        assert quotas.games.size(peer) == 1
        [game_id] = quotas.games
        await cluster.hand_over([game_id % 256], cluster[2])
        client = await cluster[1].connect(player=1)
        await ok(client, "end_game", game_id=game_id, termination="resignation_white")
        await settled()
        assert quotas.games.size(peer) == 0


async def test_invitation_expires_although_its_game_s_owner_and_the_lobby_s_died(autojump_clock: MockClock) -> None:
    async with whole_cluster(4, invitation_timeout=100) as cluster:
        alice, bob = await cluster.enter(1, "alice"), await cluster.enter(1, "bob")
        game_id = (await ok(alice, "challenge", opponent="bob"))["game_id"]
        await cluster.hand_over([game_id % 256], cluster[3])
        await cluster.die(cluster[3], cluster[2])
        await cluster.kill_lobby(cluster[1])
        assert await received(bob) == [game_id]
        await trio.sleep(101)
        assert await received(bob) == []
        assert (await ok(alice, "state", game_id=game_id))["state"]["termination"] == "expired"


async def test_lobby_is_handed_over_and_back(autojump_clock: MockClock) -> None:
    async with whole_cluster(2) as cluster:
        alice, bob = await cluster.enter(0, "alice"), await cluster.enter(1, "bob")
        assert (await ok(alice, "seek"))["game_id"] is None
        game_id = (await ok(bob, "challenge", opponent="alice"))["game_id"]
        for to in (cluster[1], cluster[0], cluster[1]):
            await cluster.hand_lobby_over(to)
            await settled()
            assert await received(alice) == [game_id]
            assert (await ok(alice, "invitations"))["seeking"]
        await ok(alice, "accept", game_id=game_id)
        assert (await ok(bob, "seek"))["game_id"] is not None


async def test_key_is_used_at_any_daemon_and_not_shown_again(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        client = await cluster[1].connect()
        made = await ok(client, "register", name="alice", token="t" * 20)
        again = await ok(client, "register", name="alice", token="t" * 20)
        assert again["key"] == made["key"] is not None
        await ok(await cluster[2].connect(), "hello", name="alice", key=made["key"])
        await settled()
        assert (await ok(client, "register", name="alice", token="t" * 20))["key"] is None


async def test_pruned_games_are_forgotten_by_their_owners(autojump_clock: MockClock) -> None:
    async with whole_cluster(2) as cluster:
        client = await cluster[1].connect(player=1)
        game_id = (await client.new_game(1, 1))["game_id"]
        await ok(client, "end_game", game_id=game_id, termination="resignation_white")
        assert cluster[1].arbiter.at_hand(game_id) is not None
        await prune_all(cluster.lobby.arbiter, 0.0, cluster.lobby.service.games.removed)
        await settled()
        assert cluster[1].arbiter.at_hand(game_id) is None
        assert (await client.ask("state", game_id=game_id))["code"] == "no_such_game"


async def _live_games(cluster: WholeCluster, count: int) -> tuple[Client, Client, list[int]]:
    """Have two players begin games at the third daemon, which owns them; return the players and the games."""
    alice, bob = await cluster.enter(2, "alice"), await cluster.enter(2, "bob")
    game_ids = []
    for _ in range(count):
        game_ids.append((await ok(alice, "challenge", opponent="bob", color="white"))["game_id"])
        await ok(bob, "accept", game_id=game_ids[-1])
    await cluster.hand_over({game_id % 256 for game_id in game_ids}, cluster[2])
    await settled()
    return alice, bob, game_ids


async def test_reports_that_are_too_many_while_the_lobby_starts_are_read_from_the_log(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gmd.cluster.lobby.news.MAX_KEPT", 0)
    async with whole_cluster(3) as cluster:
        alice, _, [game_id] = await _live_games(cluster, 1)
        heir, playing, gate = cluster[1], cluster.log.playing, trio.Event()

        async def slowly() -> Any:
            rows = await playing()
            await gate.wait()
            return rows

        monkeypatch.setattr(cluster.log, "playing", slowly)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(cluster.kill_lobby, heir)
            await trio.sleep(1)
            await ok(alice, "end_game", game_id=game_id, termination="resignation_white")
            gate.set()
        assert cluster.lobby is heir
        assert heir.lobby.book.unfinished() == set()


async def test_reports_that_were_dropped_are_read_from_the_log(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gmd.cluster.calling.MAX_NOTES", 2)
    async with whole_cluster(3) as cluster:
        alice, _, game_ids = await _live_games(cluster, 4)
        book = cluster.lobby.lobby.book
        assert book.unfinished() == {*game_ids}
        cluster._reachable.discard(cluster.lobby.id)
        await cluster.cut(cluster.lobby)
        for game_id in game_ids:
            await ok(alice, "end_game", game_id=game_id, termination="resignation_white")
        assert book.unfinished() == {*game_ids}
        cluster._reachable.add(cluster.lobby.id)
        await settled()
        assert book.unfinished() == set()


async def test_daemon_that_cannot_be_reached_is_expelled_and_stops_nobody(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        alice = await cluster.enter(1, "alice")
        cluster._reachable.discard(cluster[2].id)
        await cluster.cut(cluster[2])
        with structlog.testing.capture_logs() as logged, trio.fail_after(30):
            assert (await alice.ask("wait", any=True, timeout=0))["error"] is None
            bob = await cluster.enter(1, "bob")
            assert (await bob.ask("rekey"))["error"] is None
        assert cluster[2].id not in cluster.map.peers
        (said,) = (entry for entry in logged if "--reached-at" in entry.get("advice", ""))
        assert said["address"] == f"link-{cluster[2].id}:1"


async def test_owner_of_the_lobby_that_reaches_nobody_leaves(autojump_clock: MockClock) -> None:
    async with whole_cluster(4) as cluster:
        first, heir = cluster[0], cluster[1]
        reachable = cluster._reachable
        cluster._reachable = reachable & {first.id}
        for member in cluster.members[1:]:
            await cluster.cut(member)
        with trio.fail_after(30):
            while first.id in cluster.map.peers:
                await cluster.map.changed()
        assert cluster.map.peers.keys() == {member.id for member in cluster.members[1:]}
        cluster._reachable = reachable - {first.id}
        with trio.fail_after(30):
            await heir.service.started()
            await cluster.enter(2, "bob")


async def test_daemon_that_cannot_be_reached_is_not_taken_in(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        last = cluster[2]
        cluster.map.peers[last.id] = cluster.map.peers[last.id]._replace(joining=True)
        cluster._reachable.discard(last.id)
        await cluster.cut(last)
        with structlog.testing.capture_logs() as logged:
            with trio.move_on_after(20) as scope:
                await last.service.attach()
            assert scope.cancelled_caught
            await cluster.enter(1, "alice")  # it keeps nobody waiting
        (said,) = (entry for entry in logged if entry["event"] == "the other servers cannot reach this one")
        assert said["address"] == f"link-{last.id}:1"
        assert "--reached-at" in said["advice"]
        cluster._reachable.add(last.id)
        with trio.fail_after(20):
            assert await last.service.attach() == cluster[0].id
