"""The lobby of several daemons in processes of their own on one PostgreSQL."""

from __future__ import annotations

import signal
from contextlib import AsyncExitStack

import psycopg
import pytest
import trio

from gmd.cluster.shards import LOBBY
from tests.cluster.test_daemons import Daemons, ask_until_done, daemons  # noqa: F401 (a fixture)
from tests.helpers import Client


async def _enter(client: Client, name: str, keys: dict[str, str]) -> None:
    if name not in keys:
        keys[name] = (await ask_until_done(client, "register", name=name))["key"]
    reply = await ask_until_done(client, "hello", name=name, key=keys[name])
    assert reply["error"] is None, reply


async def _received(client: Client) -> list[int]:
    reply = await ask_until_done(client, "invitations")
    assert reply["error"] is None, reply
    return [row["game_id"] for row in reply["received"]]


@pytest.mark.long
async def test_players_meet_over_daemons_and_the_lobby_survives_a_kill_and_a_drain(
    daemons: Daemons,  # noqa: F811
) -> None:
    started = [daemons.start() for _ in range(3)]
    await daemons.until(*started)
    lobby = next(each for each in started if each.port == daemons.owners()[LOBBY])
    one, two = (each for each in started if each is not lobby)
    keys: dict[str, str] = {}
    async with one.client() as alice, two.client() as bob:
        await _enter(alice, "alice", keys)
        await _enter(bob, "bob", keys)
        assert (await ask_until_done(alice, "seek"))["game_id"] is None
        game_id = (await ask_until_done(bob, "seek"))["game_id"]
        assert await _received(alice) == [game_id]
        lobby.process.send_signal(signal.SIGKILL)
        lobby.process.wait()
        await daemons.until(one, two)
        assert await _received(alice) == [game_id]
        assert (await ask_until_done(alice, "accept", game_id=game_id))["error"] is None
        second = (await ask_until_done(alice, "challenge", opponent="bob"))["game_id"]  # Bob is known to be present
        assert await _received(bob) == [second]
        lobby, other = (one, two) if daemons.owners()[LOBBY] == one.port else (two, one)
        assert lobby.stop(signal.SIGTERM) == 0
        await daemons.until(other)
        async with other.client() as client:
            await _enter(client, "bob", keys)
            assert await _received(client) == [second]
            await ask_until_done(client, "decline", game_id=second)
            assert await _received(client) == []
    assert other.stop(signal.SIGTERM) == 0


async def test_games_that_a_killed_daemon_was_making_are_made_once_and_counted_once(
    daemons: Daemons,  # noqa: F811
) -> None:
    started = [daemons.start() for _ in range(3)]
    await daemons.until(*started)
    lobby = next(each for each in started if each.port == daemons.owners()[LOBBY])
    maker, other = (each for each in started if each is not lobby)
    keys: dict[str, str] = {}
    tokens = [f"{number:020}" for number in range(12)]
    made: dict[str, int] = {}
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(maker.client()) for _ in tokens]
        alice, bob = [await stack.enter_async_context(other.client()) for _ in range(2)]
        await _enter(bob, "bob", keys)
        for client in (alice, *clients):
            await _enter(client, "alice", keys)
        for client in (alice, bob):
            assert (await ask_until_done(client, "settings", max_games=100))["error"] is None

        owners = daemons.owners()

        async def challenge(client: Client, token: str) -> None:
            try:
                reply = await ask_until_done(client, "challenge", opponent="bob", token=token)
            except (EOFError, trio.BrokenResourceError):
                return  # it was killed
            assert reply["error"] is None, reply
            made[token] = reply["game_id"]
            # The lobby makes a game itself where the maker is slow to answer.
            assert owners[reply["game_id"] % 256] in (maker.port, lobby.port)
            if sum(owners[game_id % 256] == maker.port for game_id in made.values()) == 3:
                maker.process.send_signal(signal.SIGKILL)

        async with trio.open_nursery() as nursery:
            for client, token in zip(clients, tokens, strict=True):
                nursery.start_soon(challenge, client, token)
        maker.process.kill()  # if the lobby has made nearly all games
        maker.process.wait()
        again = {token: await ask_until_done(alice, "challenge", opponent="bob", token=token) for token in tokens}
        ids = {token: reply["game_id"] for token, reply in again.items()}
        assert made.items() <= ids.items()
        assert len({*ids.values()}) == len(tokens)
        assert await _received(bob) == sorted(ids.values())
        with psycopg.connect(daemons.url) as connection:
            assert connection.execute("SELECT count(*) FROM games").fetchone() == (len(tokens),)
        room = 20 - len(tokens)  # max_invitations
        codes = [(await ask_until_done(alice, "challenge", opponent="bob")).get("code") for _ in range(room + 1)]
        assert codes == [None] * room + ["too_many"]
    for each in (lobby, other):
        assert each.stop(signal.SIGTERM) == 0
