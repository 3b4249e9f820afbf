"""What three daemons in processes of their own share: ids, tokens, limits, accounts, seeks and a tournament."""

from __future__ import annotations

import re
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from itertools import combinations
from pathlib import Path

import pytest
import trio

from gm_client.trio_client import Client as PlayersClient
from tests.arena.test_tournament_command import finished
from tests.arena.tournaments import NAMES, Mind, strong
from tests.cluster.test_daemons import Daemons, ask_until_done
from tests.cluster.test_races import FREE
from tests.helpers import Client, Json
from tests.helpers_proof import proof_size
from tests.postgres import new_database
from tests.serving import Served

#: Seconds after which a test counts as hung.
PATIENCE = 120


class House:
    """Three daemons on one database.

    :ivar places: the data directory of each.
    """

    def __init__(self, daemons: Daemons, started: Sequence[Served], places: Sequence[Path]) -> None:
        self.daemons, self.started, self.places = daemons, started, places

    @asynccontextmanager
    async def clients(self) -> AsyncIterator[list[Client]]:
        """Open a connection to each daemon, once all have their shares."""
        with trio.fail_after(PATIENCE):
            await self.daemons.until(*self.started)
            async with AsyncExitStack() as stack:
                yield [await stack.enter_async_context(daemon.client()) for daemon in self.started]

    @asynccontextmanager
    async def operator(self, index: int) -> AsyncIterator[Client]:
        """Open an operator's session at a daemon."""
        client = Client(await trio.open_unix_socket(str(self.places[index] / "operator.sock")))
        await client.ask("hello")
        yield client
        await client.aclose()


def _three(directory: Path, *flags: str) -> Iterator[House]:
    with new_database() as url, ExitStack() as stack:
        daemons = Daemons(url, directory, stack)
        started = [daemons.start(*flags) for _ in range(3)]
        yield House(daemons, started, [directory / str(number) for number in (1, 2, 3)])
        for daemon in started:
            assert daemon.stop(signal.SIGTERM) == 0


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    yield from _three(tmp_path_factory.mktemp("house"), *FREE)


@pytest.fixture
def strict_house(tmp_path: Path) -> Iterator[House]:
    limits = ("--max-games-per-hour", "7", "--max-registrations-per-hour", "4")
    yield from _three(tmp_path, *limits)


async def at_once(clients: Sequence[Client], requests: Sequence[Json]) -> list[Json]:
    """Send all requests to every client at once; return all replies, those of the first client first."""
    found: list[list[Json]] = [[] for _ in clients]

    async def ask(index: int, client: Client) -> None:
        await client.send(*requests)
        found[index] = [await client.receive() for _ in requests]

    async with trio.open_nursery() as nursery:
        for index, client in enumerate(clients):
            nursery.start_soon(ask, index, client)
    return [reply for replies in found for reply in replies]


async def registered(client: Client, name: str) -> Json:
    """Register a player, and return its id and key."""
    reply = await ask_until_done(client, "register", name=name)
    assert reply["error"] is None, reply
    return {"player": reply["player"], "key": reply["key"]}


@pytest.mark.proof
async def test_ids_are_unique_over_daemons(house: House) -> None:
    async with house.clients() as clients:
        request = {"kind": "new_game", "player_white": 1, "player_black": 2, "brief": True}
        replies = await at_once(clients, [request] * proof_size(small=40, full=2_000))
        assert {reply["error"] for reply in replies} == {None}
        ids = [reply["game_id"] for reply in replies]
        assert len(set(ids)) == len(ids)
        shown = [(await client.ask("state", game_id=ids[-1]))["error"] for client in clients]
        assert shown == [None, None, None]


@pytest.mark.proof
async def test_token_makes_one_game_over_daemons(house: House) -> None:
    async with house.clients() as clients:
        for number in range(proof_size(small=10, full=300)):
            request = {"kind": "new_game", "player_white": 1, "player_black": 2, "player": 1, "token": f"one {number}"}
            replies = await at_once(clients, [request])
            for index, reply in enumerate(replies):
                if reply.get("code") == "moved":  # the others have used it meanwhile
                    replies[index] = await clients[index].ask(**request)
            assert {reply["error"] for reply in replies} == {None}, replies
            assert len({reply["game_id"] for reply in replies}) == 1, replies


async def test_limits_are_exact_over_daemons(strict_house: House) -> None:
    async with strict_house.clients() as clients:
        games = await at_once(clients, [{"kind": "new_game", "player_white": 1, "player_black": 2, "brief": True}] * 5)
        assert sorted(reply.get("code", "done") for reply in games) == ["done"] * 7 + ["too_many"] * 8
        names = iter(f"player-{number}" for number in range(9))
        replies: list[Json] = []

        async def register(client: Client) -> None:
            replies.extend([await client.ask("register", name=next(names)) for _ in range(3)])

        async with trio.open_nursery() as nursery:
            for client in clients:
                nursery.start_soon(register, client)
        assert sorted(reply.get("code", "done") for reply in replies) == ["done"] * 4 + ["too_many"] * 5


async def test_revocation_is_effective_at_every_daemon_when_it_is_acknowledged(house: House) -> None:
    async with house.clients() as clients:
        for index in range(3):
            account = await registered(clients[index], f"revoked-{index}")
            async with house.clients() as sessions, house.operator(index) as operator:
                assert {reply["error"] for reply in await at_once(sessions, [{"kind": "hello", **account}])} == {None}
                assert (await operator.ask("revoke", player=account["player"]))["error"] is None
                replies = await at_once(clients, [{"kind": "invitations", **account}])
                assert [reply["code"] for reply in replies] == ["unauthorized"] * 3
                for session in sessions:
                    assert await session.closed()


async def test_seekers_at_two_daemons_meet(house: House) -> None:
    async with house.clients() as clients:
        for one, two in combinations(range(3), 2):
            names = f"seeker-{one}{two}", f"seeker-{two}{one}"
            async with house.started[one].client() as first, house.started[two].client() as second:
                for client, name in ((first, names[0]), (second, names[1])):
                    assert (await client.ask("hello", **await registered(clients[0], name)))["error"] is None
                await first.send({"kind": "seek", "variant": "rbc"}, {"kind": "wait", "any": True, "timeout": 60})
                assert (await first.receive())["game_id"] is None
                made = await second.ask("seek", variant="rbc")
                assert made["game_id"] is not None
                assert (await first.receive())["state"]["game_id"] == made["game_id"]
                assert (await first.ask("accept", game_id=made["game_id"]))["error"] is None


async def _play(port: int, name: str, key: str, mind: Mind) -> None:
    async with PlayersClient(port=port, patience=PATIENCE, name=name, key=key) as client:
        async for turn in client.turns():
            await mind(turn)


async def test_tournament_is_played_over_three_daemons(house: House) -> None:
    async with house.clients() as clients, trio.open_nursery() as nursery:
        for number, (name, mind) in enumerate(strong(NAMES).items()):
            key = (await registered(clients[number % 3], name))["key"]
            nursery.start_soon(_play, house.started[number % 3].port, name, key, mind)
        status, output, errors = await finished(house.places[1], "spring", *NAMES, "--games", 2, "--clock", 60)
        assert status == 0, errors
        nursery.cancel_scope.cancel()
    points = re.findall(r"([a-z]+) +│ +(\d+) │ +10 │", output)
    assert points == [(name, str(2 * (len(NAMES) - 1 - place))) for place, name in enumerate(NAMES)], output
