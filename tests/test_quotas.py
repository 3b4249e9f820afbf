"""Limits by address on games per hour and at a time, on players and on keys, whatever request makes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from gmd.config import Config
from gmd.event_log.memory import MemoryLog
from gmd.handlers.context import Authority
from gmd.handlers.in_process import InProcessClient
from gmd.net.listening import will_be_local
from gmd.play.limits import ELSEWHERE, ON_LOOPBACK, limits_of
from gmd.play.quotas import Holdings
from tests.helpers import Client, FaultyStore, Json, durable_daemon, memory_daemon, running_daemon, store_in
from tests.lobbying import ALICE, HERE, THERE, From, house, refused

CHESS: Json = {"player_white": 1, "player_black": 2, "brief": True}


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["", HERE, THERE, None])), max_size=60))
def test_holdings_are_what_was_put_and_not_dropped(changes: list[tuple[int, str | None]]) -> None:
    holdings, model = Holdings(3), dict[int, str]()
    for game_id, peer in changes:
        if peer is None:
            holdings.drop(game_id)
            model.pop(game_id, None)
        else:
            holdings.put(game_id, peer)
            if peer:
                model[game_id] = peer
        for each in (HERE, THERE):
            assert holdings.size(each) == list(model.values()).count(each)
            assert holdings.is_full(each) is (holdings.size(each) >= 3)
        assert len(holdings) == len(model)
        assert holdings.size("") == 0


def test_default_limits_depend_on_whether_the_daemon_is_local() -> None:
    for local, defaults in ((True, ON_LOOPBACK), (False, ELSEWHERE)):
        assert asdict(limits_of(Config(), local=local)).items() >= defaults.items()
    given = Config(max_games_per_hour=7, max_unfinished_games=8, max_invitations_per_minute=9)
    for local in (True, False):
        found = limits_of(given, local=local)
        assert (found.max_games_per_hour, found.max_unfinished_games, found.max_invitations_per_minute) == (7, 8, 9)


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False), ("example", False)],
)
def test_only_loopback_hosts_are_local(host: str, local: bool) -> None:
    assert will_be_local(host, []) is local


@pytest.mark.slow
async def test_default_limits_of_a_daemon_depend_on_all_its_addresses() -> None:
    for settings, limit in (
        ({}, ON_LOOPBACK["max_games_per_hour"]),
        ({"host": "0.0.0.0"}, ELSEWHERE["max_games_per_hour"]),
        ({"http": True, "http_port": 0, "http_host": "0.0.0.0"}, ELSEWHERE["max_games_per_hour"]),
        ({"http": True, "http_port": 0}, ON_LOOPBACK["max_games_per_hour"]),
    ):
        async with running_daemon(**settings) as daemon:
            client = Client(await trio.open_tcp_stream("127.0.0.1", daemon.port))
            assert (await client.ask("hello"))["limits"]["max_games_per_hour"] == limit
            await client.aclose()


async def test_address_makes_a_limited_number_of_games_per_hour_by_any_request() -> None:
    async with house(max_games_per_hour=4) as (daemon, *_):
        alice, other = From(daemon, HERE, ALICE), From(daemon, THERE, ALICE)
        for kind, fields in (
            ("new_game", CHESS),
            ("game_from_pgn", CHESS | {"pgn": "1. f3 e5 2. g4 Qh4#"}),
            ("challenge", {"opponent": "bob"}),
        ):
            assert (await alice.ask(kind, **fields))["error"] is None
        bad = await alice.ask("game_from_pgn", **CHESS, pgn="1. Ke5")
        assert bad["code"] == "bad_pgn"  # makes no game
        assert (await alice.ask("new_game", **CHESS))["error"] is None
        for kind, fields in (
            ("new_game", CHESS),
            ("game_from_pgn", CHESS | {"pgn": "1. e4"}),
            ("challenge", {"opponent": "bob"}),
            ("seek", {}),
        ):
            assert refused(await alice.ask(kind, **fields)) == ("too_many", "max_games_per_hour")
        assert (await other.ask("new_game", **CHESS))["error"] is None


async def test_game_requested_again_with_its_token_counts_once() -> None:
    async with memory_daemon(max_games_per_hour=1) as daemon:
        client = From(daemon, HERE)
        first = await client.ask("new_game", **CHESS, token="t")
        assert await client.ask("new_game", **CHESS, token="t") == first
        assert refused(await client.ask("new_game", **CHESS, token="u")) == ("too_many", "max_games_per_hour")


async def test_address_has_a_limited_number_of_unfinished_games() -> None:
    async with memory_daemon(max_unfinished_games=2) as daemon:
        client, other = From(daemon, HERE), From(daemon, THERE)
        for _ in range(3):  # over as soon as it is made
            assert (await client.ask("game_from_pgn", **CHESS, pgn="1. f3 e5 2. g4 Qh4#"))["error"] is None
        made = [(await client.ask("new_game", **CHESS))["game_id"] for _ in range(2)]
        for kind, fields in (("new_game", {}), ("game_from_pgn", {"pgn": "1. e4"})):
            assert refused(await client.ask(kind, **CHESS, **fields)) == ("too_many", "max_unfinished_games")
        assert (await other.ask("new_game", **CHESS))["error"] is None
        await client.ask("end_game", player=1, game_id=made[0], termination="resignation_white")
        assert (await client.ask("new_game", **CHESS))["error"] is None
        assert refused(await client.ask("new_game", **CHESS)) == ("too_many", "max_unfinished_games")


async def test_game_that_could_not_be_written_counts_for_no_address(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        faulty = FaultyStore(store)
        async with durable_daemon(faulty, max_unfinished_games=1) as daemon:
            client = From(daemon, HERE)
            faulty.fault = OSError("the disk is full")
            assert (await client.ask("new_game", **CHESS))["code"] == "internal"
            faulty.fault = None
            assert (await client.ask("new_game", **CHESS))["error"] is None
            assert len(daemon.lobby.quotas.games) == 1


async def test_operator_and_embedding_program_meet_no_limit_by_address() -> None:
    limits = dict.fromkeys(("max_games_per_hour", "max_unfinished_games", "max_registrations_per_day"), 1)
    async with memory_daemon(**limits) as daemon:
        in_process = InProcessClient(daemon.services)
        for authority in (Authority.CLIENT, Authority.OPERATOR):
            for number in range(3):
                assert (await in_process.ask(authority, "new_game", CHESS))["error"] is None
                assert (await in_process.ask(authority, "register", {"name": f"{authority.value}-{number}"}))[
                    "error"
                ] is None


async def test_address_registers_a_limited_number_of_players_per_day_and_keys_per_hour() -> None:
    async with memory_daemon(max_registrations_per_day=2, max_rekeys_per_hour=1) as daemon:
        client, other = From(daemon, HERE), From(daemon, THERE)
        made = [await client.ask("register", name=name, token=name) for name in ("one", "two")]
        assert await client.ask("register", name="one", token="one") == made[0]  # makes no other player
        assert refused(await client.ask("register", name="three")) == ("too_many", "max_registrations_per_day")
        assert (await other.ask("register", name="three"))["error"] is None
        keyed = {"player": made[0]["player"], "key": made[0]["key"]}
        key = (await client.ask("rekey", **keyed))["key"]
        assert refused(await client.ask("rekey", **keyed | {"key": key})) == ("too_many", "max_rekeys_per_hour")
        assert (await other.ask("rekey", **keyed | {"key": key}))["error"] is None


async def test_taken_name_uses_up_no_registration() -> None:
    async with memory_daemon(max_registrations_per_day=2) as daemon:
        client = From(daemon, HERE)
        assert (await client.ask("register", name="one"))["error"] is None
        assert (await client.ask("register", name="one"))["code"] == "not_available"
        assert (await client.ask("register", name="two"))["error"] is None


async def test_limits_apply_to_a_socket_of_either_version() -> None:
    async with running_daemon(max_games_per_hour=4) as daemon:

        async def asked_singly(kind: str, **fields: Any) -> Json:
            client = Client(await trio.open_tcp_stream("127.0.0.1", daemon.port))
            try:
                return await client.ask(kind, player_white=1, player_black=2, **fields)
            finally:
                await client.aclose()

        session = Client(await trio.open_tcp_stream("127.0.0.1", daemon.port))
        await session.ask("hello")
        for _ in range(2):
            assert (await asked_singly("new_game"))["error"] is None
            assert (await session.ask("new_game", **CHESS))["error"] is None
        for kind, fields in (("new_game", {}), ("game_from_pgn", {"pgn": "1. e4"})):
            for reply in (await asked_singly(kind, **fields), await session.ask(kind, **CHESS, **fields)):
                assert refused(reply) == ("too_many", "max_games_per_hour")
                assert reply["game_id"] is reply["state"] is None
        await session.aclose()


async def test_restart_resets_the_count_of_unfinished_games_of_an_address() -> None:
    log = MemoryLog()
    for _ in range(2):
        async with memory_daemon(log, max_unfinished_games=1) as daemon:
            client = From(daemon, HERE)
            assert (await client.ask("new_game", **CHESS))["error"] is None
            assert refused(await client.ask("new_game", **CHESS)) == ("too_many", "max_unfinished_games")
