"""Limits by address, and what the operator and runners of contests do, at any daemon of a cluster."""

from __future__ import annotations

from random import Random

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from tests.cluster.whole_cluster import settled, whole_cluster
from tests.contests.test_reports import report_of
from tests.helpers import Json
from tests.helpers_proof import proof_size
from tests.lobbying import HERE, THERE, From

CHESS: Json = {"player_white": 1, "player_black": 2, "brief": True}
TOKEN = "t" * 20


async def test_games_per_hour_are_counted_over_all_daemons(autojump_clock: MockClock) -> None:
    async with whole_cluster(3, max_games_per_hour=4) as cluster:
        clients = [From(member, HERE) for member in cluster.members]
        replies: list[Json] = []

        async def make(client: From) -> None:
            replies.append(await client.ask("new_game", **CHESS))

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                for client in clients:
                    nursery.start_soon(make, client)
        codes = [reply.get("code") for reply in replies]
        assert (codes.count(None), codes.count("too_many")) == (4, 5)
        assert (await From(cluster[2], THERE).ask("new_game", **CHESS))["error"] is None


async def test_token_of_a_new_game_takes_one_place_however_often_it_is_sent(autojump_clock: MockClock) -> None:
    async with whole_cluster(3, max_games_per_hour=3) as cluster:
        for _ in range(5):
            replies = [await From(cluster[1], HERE).ask("new_game", **CHESS, token=TOKEN) for _ in range(2)]
            assert {reply["game_id"] for reply in replies} == {replies[0]["game_id"]}
        for _ in range(2):
            assert (await From(cluster[2], HERE).ask("new_game", **CHESS))["error"] is None
        assert (await From(cluster[0], HERE).ask("new_game", **CHESS))["code"] == "too_many"


async def test_registrations_are_counted_over_all_daemons(autojump_clock: MockClock) -> None:
    async with whole_cluster(3, max_registrations_per_hour=2, max_registrations_per_day=2) as cluster:
        replies = [
            await From(member, HERE).ask("register", name=f"bot-{number}")
            for number, member in enumerate(cluster.members)
        ]
        assert [reply.get("code") for reply in replies] == [None, None, "too_many"]


async def test_operator_pairs_players_of_other_daemons(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        alice, bob = await cluster.enter(0, "alice"), await cluster.enter(1, "bob")
        operator = From(cluster[2], "", operator=True)
        made = await operator.ask("pair", white="alice", black="bob", token=TOKEN)
        assert made["error"] is None, made
        await cluster.kill_lobby(cluster[2])
        again = await From(cluster[1], "", operator=True).ask("pair", white="alice", black="bob", token=TOKEN)
        assert again["game_id"] == made["game_id"]
        rows = (await bob.ask("invitations"))["received"]
        assert [row["game_id"] for row in rows] == [made["game_id"]]
        await alice.aclose()


async def test_contest_goes_on_at_a_new_owner_of_the_lobby(autojump_clock: MockClock) -> None:
    async with whole_cluster(3) as cluster:
        numbers = []
        for member in cluster.members:
            reply = await From(member, HERE).ask("contest", token=TOKEN, report=report_of())
            numbers.append(reply["contest_id"])
        await cluster.kill_lobby(cluster[1])
        for token in (TOKEN, "u" * 20):
            reply = await From(cluster[1], HERE).ask("contest", token=token, report=report_of())
            numbers.append(reply["contest_id"])
        assert numbers == [1, 1, 1, 1, 2]


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(proof_size(5, 200)))
async def test_count_of_unfinished_games_is_exact_whoever_makes_ends_and_dies(
    seed: int, autojump_clock: MockClock
) -> None:
    random, most = Random(seed), 6
    async with whole_cluster(4, max_unfinished_games=most) as cluster:
        live: set[int] = set()
        for _ in range(30):
            member = random.choice(cluster.members)
            match random.choice(("make", "make", "end", "move", "die")):
                case "make":
                    reply = await From(member, HERE).ask("new_game", **CHESS)
                    assert (reply["error"] is None) is (len(live) < most), reply
                    if reply["error"] is None:
                        live.add(reply["game_id"])
                case "end" if live:
                    game_id = random.choice(sorted(live))
                    ending = {"game_id": game_id, "player": 1, "termination": "resignation_white"}
                    assert (await From(member, HERE).ask("end_game", **ending))["error"] is None
                    live.remove(game_id)
                case "move" if live:
                    await cluster.hand_over([random.choice(sorted(live)) % 256], member)
                case "die" if len(cluster) > 2 and member is not cluster.lobby and random.random() < 0.3:
                    if live and random.random() < 0.5:  # its last game ends, and it has no time to say so
                        game_id = random.choice(sorted(live))
                        await cluster.hand_over([game_id % 256], member)
                        member.service._reporter.lobby = None
                        ending = {"game_id": game_id, "player": 1, "termination": "resignation_white"}
                        assert (await From(member, HERE).ask("end_game", **ending))["error"] is None
                        live.remove(game_id)
                    await cluster.die(member, cluster.lobby)
            await settled()
            assert {*cluster.lobby.lobby.quotas.games} == live


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(proof_size(5, 200)))
async def test_cut_links_to_the_lobby_cost_no_place(seed: int, autojump_clock: MockClock) -> None:
    random = Random(seed)
    async with whole_cluster(2) as cluster:
        made: set[int] = set()

        async def make() -> None:
            reply = await From(cluster[1], HERE).ask("new_game", **CHESS)
            if reply["error"] is None:
                made.add(reply["game_id"])

        for _ in range(40):
            async with trio.open_nursery() as making:
                for _ in range(random.randrange(1, 4)):
                    making.start_soon(make)
                for _ in range(random.randrange(12)):
                    await trio.lowlevel.checkpoint()
                is_long = random.random() < 0.3  # for longer than a game waits for its place
                if is_long:
                    cluster._reachable.discard(cluster[0].id)
                await cluster.cut(cluster[0])
            if is_long:
                cluster._reachable.add(cluster[0].id)
            await trio.sleep(1)
        await settled()
        assert {*cluster.lobby.lobby.quotas.games} == made


async def test_daemon_that_gets_the_lobby_back_counts_no_games_of_the_time_before(autojump_clock: MockClock) -> None:
    async with whole_cluster(2, max_unfinished_games=1) as cluster:
        made = await From(cluster[0], HERE).ask("new_game", **CHESS)
        await cluster.hand_lobby_over(cluster[1])
        ending = {"game_id": made["game_id"], "player": 1, "termination": "resignation_white"}
        assert (await From(cluster[0], HERE).ask("end_game", **ending))["error"] is None
        await cluster.hand_lobby_over(cluster[0])
        assert (await From(cluster[0], HERE).ask("new_game", **CHESS))["error"] is None


async def test_wrong_keys_of_an_address_are_counted_at_all_daemons_together(autojump_clock: MockClock) -> None:
    async with whole_cluster(3, max_failures_per_minute=6) as cluster:
        player = (await cluster.enter(0, "ada")).player  # type: ignore[attr-defined]
        codes = []
        for attempt in range(9):
            client = From(cluster[attempt % 3], HERE)
            codes.append((await client.ask("hello", player=player, key="no"))["code"])
            await trio.testing.wait_all_tasks_blocked()
        assert codes == ["unauthorized"] * 6 + ["too_many"] * 3
        for member in cluster.members:
            key = cluster.keys["ada"]
            assert (await From(member, THERE).ask("hello", player=player, key=key))["error"] is None
