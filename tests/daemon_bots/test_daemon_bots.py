"""The daemon's own bots: they take invitations, each game has a process, and a process that dies loses its game."""

from __future__ import annotations

import os
import select
import signal
import sys
from pathlib import Path
from typing import Any

import chess
import pytest
import structlog
import trio
from msgspec import structs
from trio.testing import MockClock

from gm_arena.specs import bots_of as bots_named
from gm_bots.minimax.bots import MinimaxBots
from gm_bots.minimax.play.levels import DEFAULT_LEVEL, LEVELS
from gm_bots.random_bot import RandomBots
from gmd.config import EMBEDDED, SERVED, ConfigError
from gmd.lobby import roster
from gmd.lobby.roster import KINDS, kinds_of
from gmd.net.addresses import separate_loopback
from tests.helpers import Client, Json, connected, running_daemon
from tests.http.helpers import http_daemon, scrape
from tests.serving import Served, children_of, served
from tests.tools import require_module

ME = 7
VISITOR = 70


def kind(name: str) -> Any:
    return next(each for each in KINDS if each.name == name)


async def bots_of(client: Client) -> dict[str, int]:
    """Return the ids of the server's bots by name."""
    return {bot["name"]: bot["player"] for bot in (await client.ask("hello"))["bots"]}


async def play(client: Client, game_id: int, plies: int, player: int = ME) -> Json:
    """Play the first legal moves of chess until a game has so many plies, or is over; return its state."""
    while True:
        reply = await client.ask("wait", game_id=game_id, player=player)
        assert reply["error"] is None, reply
        state: Json = reply["state"]
        if state["phase"] == "over" or state["ply_index"] >= plies:
            return state
        move = next(iter(chess.Board(state["fen"]).legal_moves)).uci()
        await client.ask("move", game_id=game_id, player=player, move=move)


def worker_of(events: list[Json], game_id: int) -> int:
    return [event["pid"] for event in events if event["event"] == "a bot begins" and event["game_id"] == game_id][-1]


@pytest.mark.parametrize("missing", ["numpy", "numba", "torch"])
def test_bot_that_lacks_a_library_is_none_of_all_and_is_refused_by_name(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster, "find_spec", lambda module: None if module == missing else module)
    assert "recon-zero" not in {each.name for each in kinds_of("all")}
    with pytest.raises(ConfigError, match=f"^bots: recon-zero needs {missing}: install gmd with the extra train"):
        kinds_of("recon-zero")


def test_levels_and_variants_are_those_of_the_bots() -> None:
    levels = {
        each.name.removeprefix("minimax").lstrip("-") or DEFAULT_LEVEL: each for each in KINDS if each.make == "minimax"
    }
    assert {name: each.about for name, each in levels.items()} == {
        name: level.describe() for name, level in LEVELS.items()
    }
    for name, level in LEVELS.items():
        limit = {"movetime": level.limit.seconds} if level.limit.seconds else {"depth": level.limit.depth}
        margin = {"margin": level.margin} if level.margin else {}
        options = ",".join(f"{option}={value:g}" for option, value in {**limit, **margin}.items())
        assert levels[name].spec == f"minimax:{options}"
        assert levels[name].seeded == bool(level.margin)
    for name, bots in (("minimax", MinimaxBots), ("random", RandomBots)):
        assert set(kind(name).variants) == bots.variants
        assert kind(name).rejoins == bots.joins_late


@pytest.mark.slow
def test_variants_of_recon_zero_are_those_of_the_bot() -> None:
    require_module("numba")
    from gm_bots.recon_zero.bot import ReconZeroBots

    assert set(kind("recon-zero").variants) == ReconZeroBots.variants
    assert kind("recon-zero").rejoins == ReconZeroBots.joins_late


def test_levels_of_expectation_are_bots_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", sys.executable)
    for level in (each for each in KINDS if each.make == "expectation"):
        bots = bots_named(level.spec)
        assert (set(level.variants), level.rejoins) == (bots.variants, bots.joins_late)


def test_setting_names_makes_levels_or_none() -> None:
    assert [each.name for each in kinds_of("random,minimax-club")] == ["random", "minimax-club"]
    assert kinds_of("none") == []


def test_all_bots_are_those_that_have_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", sys.executable)
    levels = [each.name for each in kinds_of("all") if each.make == "expectation"]
    assert levels == ["expectation-adept", "expectation", "expectation-champion"]
    monkeypatch.setenv("STOCKFISH_EXECUTABLE", "/nowhere/stockfish")
    assert "expectation" not in [each.make for each in kinds_of("all")]
    with pytest.raises(ConfigError, match="expectation-adept needs stockfish: install stockfish, or leave it out"):
        kinds_of("expectation")


def test_setting_refuses_a_bot_that_is_not_gmds() -> None:
    with pytest.raises(ConfigError, match=r"bots: 'stockfish' is not a bot of gmd's; name some of random, "):
        kinds_of("stockfish")
    assert (EMBEDDED.bots, SERVED.bots) == ("none", "all")


@pytest.mark.slow
async def test_open_player_plays_a_bot_that_it_names_in_a_new_game() -> None:
    async with running_daemon(bots="minimax-beginner", bot_games=1) as daemon, connected(daemon) as client:
        bots = await bots_of(client)
        game = await client.new_game(ME, bots["minimax-beginner"])
        state = await play(client, game["game_id"], 6)
        assert state["ply_index"] == 6


@pytest.mark.slow
async def test_registered_player_challenges_a_bot_to_blind_chess_by_name() -> None:
    async with running_daemon(bots="random", require_registration=True) as daemon, connected(daemon) as client:
        made = await client.ask("register", name="ann")
        who = {"player": made["player"], "key": made["key"]}
        game = await client.ask("challenge", opponent="random", variant="rbc", color="black", **who)
        assert game["error"] is None, game
        turn = await client.ask("wait", game_id=game["game_id"], **who)
        assert (turn["state"]["turn"], turn["state"]["ply_index"]) == ("black", 1)


async def test_names_of_bots_are_taken_from_the_start() -> None:
    async with running_daemon(bots="random") as daemon, connected(daemon) as client:
        reply = await client.ask("register", name="Random")
        assert reply["error"] == "name: 'Random' is taken; choose another"


async def test_bot_whose_name_is_taken_is_left_out(tmp_path: Path) -> None:
    async with running_daemon(data=str(tmp_path)) as daemon, connected(daemon) as client:
        await client.ask("register", name="random")
    async with running_daemon(data=str(tmp_path), bots="random,minimax-club") as daemon, connected(daemon) as client:
        assert list(await bots_of(client)) == ["minimax-club"]


async def test_variant_that_the_bot_does_not_play_is_declined() -> None:
    async with running_daemon(bots="minimax-club") as daemon, connected(daemon) as client:
        bots = await bots_of(client)
        game = await client.new_game(ME, bots["minimax-club"], variant="crazyhouse")
        shown = await client.ask("wait", game_id=game["game_id"], player=None, ply=0)
        assert shown["state"]["termination"] == "declined"


@pytest.mark.slow
async def test_game_beyond_the_places_waits_and_its_sender_sees_how_many_are_before_it() -> None:
    async with (
        http_daemon(bots="random", bot_games=1, bot_idle_timeout=10_000) as (daemon, http),
        connected(daemon) as client,
    ):
        made = await client.ask("register", name="ann")
        await client.ask("hello", name="ann", key=made["key"])
        games = [await client.ask("challenge", opponent="random", color="white") for _ in range(3)]
        first, second, third = (game["game_id"] for game in games)
        await play(client, first, 2, made["player"])
        rows = (await client.ask("invitations"))["sent"]
        assert [(row["game_id"], row["ahead"]) for row in rows] == [(second, 0), (third, 1)]
        found = await scrape(http)
        assert (found.value("gmd_bot_games"), found.value("gmd_bot_games_waiting")) == (1, 2)
        await client.ask("end_game", game_id=first, termination="resignation_white")
        assert (await play(client, second, 2, made["player"]))["ply_index"] == 2
        assert (await scrape(http)).value("gmd_bot_failures_total") == 0


@pytest.mark.slow
async def test_game_that_stands_still_gives_its_place_away_and_goes_on_later() -> None:
    async with running_daemon(bots="random", bot_games=1, bot_idle_timeout=0.01) as daemon, connected(daemon) as client:
        bot = (await bots_of(client))["random"]
        games = [(await client.new_game(ME, bot))["game_id"] for _ in range(2)]
        for plies in (2, 4):
            for game_id in games:
                assert (await play(client, game_id, plies))["ply_index"] == plies


#: The longest clock that the daemon's bots take.
LONGEST = {"initial": 10_800.0}


@pytest.mark.slow
async def test_absent_player_gives_the_places_of_clocked_games_to_another_visitor() -> None:
    async with running_daemon(bots="random", bot_games=2, bot_idle_timeout=0.01) as daemon, connected(daemon) as client:
        bot = (await bots_of(client))["random"]
        held = [(await client.new_game(ME, bot, clock=LONGEST))["game_id"] for _ in range(2)]
        for game_id in held:
            await play(client, game_id, 2)
        async with connected(daemon) as visitor:
            made = await visitor.new_game(VISITOR, bot, clock=LONGEST)
            await play(visitor, made["game_id"], 2, VISITOR)
        for game_id in held:
            await play(client, game_id, 4)


@pytest.mark.slow
async def test_address_with_every_place_gives_one_to_a_visitor_of_another_address() -> None:
    with separate_loopback():
        async with (
            running_daemon(bots="random", bot_games=2, bot_idle_timeout=10_000) as daemon,
            connected(daemon) as client,
        ):
            bot = (await bots_of(client))["random"]
            held = [(await client.new_game(ME + number, bot, clock=LONGEST))["game_id"] for number in range(4)]
            for number, game_id in enumerate(held[:2]):
                await play(client, game_id, 2, ME + number)
            visitor = Client(await trio.open_tcp_stream("127.0.0.1", daemon.port, local_address="127.0.0.2"))
            await visitor.ask("hello", protocol=2)
            made = await visitor.new_game(VISITOR, bot)
            await play(visitor, made["game_id"], 2, VISITOR)
            await visitor.aclose()


@pytest.mark.slow
async def test_bot_that_cannot_rejoin_resigns_an_abandoned_game_for_another_visitor(
    mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stays = tuple(structs.replace(each, rejoins=False) for each in KINDS)
    monkeypatch.setattr(roster, "KINDS", stays)
    mock_clock.rate = 1.0
    async with running_daemon(bots="random", bot_games=1, bot_idle_timeout=0.01) as daemon, connected(daemon) as client:
        bot = (await bots_of(client))["random"]
        held = (await client.new_game(ME, bot))["game_id"]
        await play(client, held, 2)
        made = await client.new_game(VISITOR, bot)
        mock_clock.jump(601)
        await play(client, made["game_id"], 2, VISITOR)
        assert (await play(client, held, 4))["termination"] == "resignation_black"


@pytest.mark.parametrize("time", ["initial", "increment", "margin", "lag"])
async def test_clock_of_days_against_a_bot_is_refused(time: str) -> None:
    too_long = {"initial": 60.0, time: 10_000_000.0}
    refusal = f"clock.{time}: 10000000 is more than 10800 seconds, the most against the server's bots"
    async with running_daemon(bots="random") as daemon, connected(daemon) as client:
        bot = (await bots_of(client))["random"]
        asked = await client.ask("new_game", player_white=ME, player_black=bot, clock=too_long)
        key = (await client.ask("register", name="ann"))["key"]
        await client.ask("hello", name="ann", key=key)
        named = await client.ask("challenge", opponent="random", clock=too_long)
        assert (asked["error"], asked["code"], named["error"]) == (refusal, "bad_request", refusal)
        assert (await client.ask("games", status="open"))["games"] == []
        await client.new_game(ME, None, clock=too_long)


async def test_killed_process_loses_its_game_and_the_next_game_has_another() -> None:
    async with http_daemon(bots="random", bot_games=1) as (daemon, http), connected(daemon) as client:
        with structlog.testing.capture_logs() as events:
            bot = (await bots_of(client))["random"]
            first = (await client.new_game(ME, bot))["game_id"]
            await play(client, first, 2)
            os.kill(worker_of(events, first), signal.SIGKILL)
            ended = await client.ask("wait", game_id=first, player=None, ply=2)
            assert ended["state"]["termination"] == "resignation_black"
            second = (await client.new_game(ME, bot))["game_id"]
            assert (await play(client, second, 2))["ply_index"] == 2
            assert worker_of(events, second) != worker_of(events, first)
        assert (await scrape(http)).value("gmd_bot_failures_total") == 1
        failed = next(event for event in events if event["event"] == "a bot failed")
        assert (failed["bot"], failed["game_id"], failed["reason"]) == ("random", first, "signal 9")


@pytest.mark.slow
async def test_process_that_hangs_loses_its_game(mock_clock: MockClock) -> None:
    mock_clock.rate = 1.0
    async with running_daemon(bots="random", bot_games=1, bot_move_timeout=20) as daemon, connected(daemon) as client:
        with structlog.testing.capture_logs() as events:
            bot = (await bots_of(client))["random"]
            game_id = (await client.new_game(ME, bot))["game_id"]
            state = await play(client, game_id, 2)
            os.kill(worker_of(events, game_id), signal.SIGSTOP)
            move = next(iter(chess.Board(state["fen"]).legal_moves)).uci()
            await client.ask("move", game_id=game_id, player=ME, move=move)
            mock_clock.rate = 4.0  # much faster, and each turn of the loop would seem a pause, which is not charged
            ended = await client.ask("wait", game_id=game_id, player=None, ply=3)
            while ended["state"]["termination"] == "available_move":  # a wait ends by itself after a while
                ended = await client.ask("wait", game_id=game_id, player=None, ply=3)
            mock_clock.rate = 1.0
            assert ended["state"]["termination"] == "resignation_black"


@pytest.mark.slow
async def test_games_go_on_after_a_restart_and_no_process_outlives_the_daemon(tmp_path: Path) -> None:
    """The first daemon is killed, and the second stopped."""
    arguments = ("--data", str(tmp_path), "--bots", "minimax-beginner", "--bot-games", "2")
    with served(*arguments) as daemon:
        async with daemon.client() as client:
            bot = (await bots_of(client))["minimax-beginner"]
            chess_game = (await client.new_game(ME, bot))["game_id"]
            blind_game = (await client.new_game(ME, bot, variant="rbc"))["game_id"]
            await play(client, chess_game, 2)
            await pass_turn(client, blind_game, 2)
        end_with_its_workers(daemon, signal.SIGKILL, -signal.SIGKILL)
    with served(*arguments) as daemon:
        async with daemon.client() as client:
            assert (await bots_of(client))["minimax-beginner"] == bot
            assert (await play(client, chess_game, 4))["ply_index"] == 4
            await pass_turn(client, blind_game, 4)
        end_with_its_workers(daemon, signal.SIGTERM, 0)


def end_with_its_workers(daemon: Served, end: int, status: int) -> None:
    """End a daemon that has two processes for its bots, which must end, too."""
    watched = [os.pidfd_open(child) for child in workers_of(daemon.process.pid)]
    assert len(watched) == 2
    assert daemon.stop(end) == status
    for descriptor in watched:
        poll = select.poll()
        poll.register(descriptor)
        assert poll.poll(60_000)  # readable: the process has ended
        os.close(descriptor)


async def pass_turn(client: Client, game_id: int, plies: int) -> None:
    """Pass in blind chess, and wait until the bot has moved and the game has so many plies."""
    await client.ask("wait", game_id=game_id, player=ME)
    for kind_of, field in (("sense", "square"), ("move", "move")):
        reply = await client.ask(kind_of, game_id=game_id, player=ME, **{field: None})
        assert reply["error"] is None, reply
    state = (await client.ask("wait", game_id=game_id, player=ME))["state"]
    assert (state["phase"], state["ply_index"]) == ("sense", plies)


def workers_of(pid: int) -> list[int]:
    """Return the bots' processes of a daemon."""
    return [child for child in children_of(pid) if b"gm_arena.resident" in Path(f"/proc/{child}/cmdline").read_bytes()]


@pytest.mark.slow
async def test_bots_are_announced_and_have_a_process_from_their_first_game_on_which_shows_no_key() -> None:
    with served("--bots", "minimax,random", "--bot-games", "2", env={"GMD_METRICS_TOKEN": "geheim"}) as daemon:
        names = "random, minimax-beginner, minimax-novice, minimax, minimax-club, minimax-expert"
        assert f"Bots that play whoever invites them, 2 games at a time: {names}" in daemon.lines
        assert workers_of(daemon.process.pid) == []
        async with daemon.client() as client:
            bot = (await bots_of(client))["random"]
            await play(client, (await client.new_game(ME, bot))["game_id"], 2)
            (worker,) = workers_of(daemon.process.pid)
            assert shown_of(worker, "cmdline")[1:] == [b"-P", b"-m", b"gm_arena.resident"]
            assert [variable for variable in shown_of(worker, "environ") if variable.startswith(b"GMD_")] == []
        assert daemon.stop(signal.SIGTERM) == 0


def shown_of(pid: int, file: str) -> list[bytes]:
    """Return a list that the system shows of a process to other programs of its user."""
    return Path(f"/proc/{pid}/{file}").read_bytes().rstrip(b"\0").split(b"\0")
