"""The lobby's owner is killed in the middle of each request that it answers, at every step.

Requests that make games have tests of their own: :mod:`tests.cluster.test_spread_games`.
"""

from __future__ import annotations

from random import Random

import pytest
import trio
from trio.testing import MockClock

from tests.cluster.whole_cluster import WholeCluster, WholeMember, settled, whole_cluster
from tests.contests.test_reports import report_of
from tests.helpers import Json
from tests.helpers_proof import proof_size
from tests.lobbying import HERE, From

TOKEN = "t" * 20
#: The requests, and who sends them; all may be repeated.
REQUESTS: dict[str, tuple[str, Json]] = {
    "seek": ("alice", {}),
    "decline": ("alice", {}),
    "invitations": ("alice", {}),
    "settings": ("alice", {"max_games": 7, "ranked": True}),
    "players": ("operator", {}),
    "leaderboard": ("nobody", {}),
    "wait": ("alice", {"any": True, "timeout": 0}),
    "register": ("nobody", {"name": "carol", "token": TOKEN}),
    "contest": ("nobody", {"token": TOKEN, "report": report_of()}),
    "rekey": ("operator", {"name": "alice", "token": TOKEN}),
    "revoke": ("operator", {"name": "alice"}),
}


async def ask(kind: str, member: WholeMember, alice: int) -> Json:
    who, fields = REQUESTS[kind]
    match who:
        case "alice":
            sender = From(member, HERE, alice)
        case "operator":
            sender = From(member, "", operator=True)
        case _:
            sender = From(member, HERE)
    return await sender.ask(kind, **fields)


async def check_kill(kind: str, step: int) -> bool:
    """Kill the lobby's owner some steps after a request has begun; return whether it was answered before."""
    async with whole_cluster(4) as cluster:
        session = await cluster.enter(-1, "alice")
        alice: int = session.player  # type: ignore[attr-defined]
        await cluster.enter(-2, "bob")
        replies: list[Json] = []

        async def run() -> None:
            with trio.fail_after(60):
                replies.append(await ask(kind, cluster[-1], alice))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            for _ in range(step):
                await trio.lowlevel.checkpoint()
            was_answered = bool(replies)
            await cluster.kill_lobby(cluster[1])
        await settled()
        [reply] = replies
        assert reply["error"] is None or reply["code"] == "moved", reply
        if kind in ("players", "leaderboard", "invitations", "wait", "decline", "settings"):
            assert reply["error"] is None
        if reply["error"] is None:
            await check_done(kind, cluster, alice)
        again = await ask(kind, cluster[-1], alice)
        if kind != "revoke":  # a second time there is nothing to revoke, or there is
            assert again["error"] is None, again
        if reply["error"] is None and kind in ("register", "contest"):
            name = "player" if kind == "register" else "contest_id"
            assert again[name] == reply[name]
        await check_done(kind, cluster, alice)
        return was_answered


async def check_done(kind: str, cluster: WholeCluster, alice: int) -> None:
    """Check that all living daemons know the effect of a request."""
    for member in cluster.members:
        registry = member.authenticator.registry
        account = registry.get(alice)
        assert account is not None
        if kind == "settings":
            assert (account.max_games, account.ranked) == (7, True)
        elif kind == "revoke":
            assert account.key is None
        elif kind == "register":
            assert registry.named("carol") is not None
        elif kind == "seek":
            assert cluster.lobby.lobby.seeking.seeks(alice)
        elif kind == "decline":
            assert not cluster.lobby.lobby.seeking.seeks(alice)
        assert registry.get(alice) == cluster.lobby.authenticator.registry.get(alice)


@pytest.mark.proof
@pytest.mark.parametrize("kind", REQUESTS)
async def test_request_is_done_once_or_not_at_all_whenever_the_lobby_s_owner_dies(
    autojump_clock: MockClock, kind: str
) -> None:
    random, step = Random(kind), 0
    while not await check_kill(kind, step):
        step += 1 + random.randrange(proof_size(6, 1, share=6))
        assert step < 1_000


async def test_revocation_by_the_operator_at_another_daemon_is_effective_everywhere(
    autojump_clock: MockClock,
) -> None:
    async with whole_cluster(4) as cluster:
        sessions = [await cluster.enter(index, "alice") for index in range(4)]
        await cluster.enter(1, "bob")
        alice = sessions[0].player  # type: ignore[attr-defined]
        game_id = (await sessions[2].ask("challenge", opponent="bob"))["game_id"]
        assert cluster.owner_of(game_id) is cluster[2]
        assert (await sessions[3].ask("seek"))["game_id"] is None
        reply = await From(cluster[3], "", operator=True).ask("revoke", name="alice")
        assert reply["error"] is None, reply
        for member in cluster.members:  # at once
            account = member.authenticator.registry.get(alice)
            assert account is not None
            assert account.key is None
            client = await member.connect()
            refused = await client.ask("hello", name="alice", key=cluster.keys["alice"])
            assert refused["code"] == "unauthorized"
        await settled()
        for session in sessions:
            assert await session.closed()
        assert not cluster.lobby.lobby.seeking.seeks(alice)
        assert cluster.lobby.lobby.book.unfinished() == set()
        state = await From(cluster[1], "", operator=True).ask("state", game_id=game_id)
        assert state["state"]["termination"] in ("withdrawn", "declined", "abandoned")
