"""Bots of several daemons in processes of their own: the lobby's owner runs them, for players at any daemon."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import trio

from tests.cluster.members import PATIENCE
from tests.cluster.test_daemons import Daemons, ask_until_done, daemons  # noqa: F401 (a fixture)
from tests.cluster.test_http_daemons import FLAGS, opened
from tests.daemon_bots.test_daemon_bots import ME, bots_of, play, workers_of
from tests.helpers import Client
from tests.http.pages.test_home import play_form
from tests.serving import Served

BOTS = ("--bots", "random", "--bot-games", "2")


def owner_of_lobby(daemons: Daemons, *among: Served) -> Served:  # noqa: F811
    return next(each for each in among if each.port == daemons.owners()[256])


async def new_game(client: Client, bot: int) -> int:
    reply = await ask_until_done(client, "new_game", player_white=ME, player_black=bot)
    assert reply["error"] is None, reply
    game_id: int = reply["game_id"]
    return game_id


async def test_every_daemon_names_the_same_bots_and_their_games_are_played(daemons: Daemons) -> None:  # noqa: F811
    one, two = daemons.start(*BOTS), daemons.start(*BOTS)
    await daemons.until(one, two)
    assert "Bots that play whoever invites them, 2 games at a time: random" in one.lines
    assert "Bots that play whoever invites them, 2 games at a time: random" in two.lines
    async with one.client() as first, two.client() as second:
        bots = await bots_of(first)
        assert await bots_of(second) == bots
        for client in (first, second):
            game_id = await new_game(client, bots["random"])
            assert (await play(client, game_id, 4))["ply_index"] == 4
    owner = owner_of_lobby(daemons, one, two)
    other = two if owner is one else one
    assert len(workers_of(owner.process.pid)) == 2
    assert workers_of(other.process.pid) == []
    for daemon in (one, two):
        assert daemon.stop(signal.SIGTERM) == 0


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
async def test_games_against_bots_go_on_when_the_daemon_that_runs_them_ends(
    daemons: Daemons,  # noqa: F811
    end: int,
) -> None:
    one, two = daemons.start(*BOTS), daemons.start(*BOTS)
    await daemons.until(one, two)
    owner = owner_of_lobby(daemons, one, two)
    heir = two if owner is one else one
    async with heir.client() as client:
        bot = (await bots_of(client))["random"]
        game_id = await new_game(client, bot)
        assert (await play(client, game_id, 4))["ply_index"] == 4
        assert await trio.to_thread.run_sync(owner.stop, end) in (0, -end)
        await daemons.until(heir)
        with trio.fail_after(PATIENCE):
            while (await ask_until_done(client, "state", game_id=game_id, player=ME))["error"] is not None:
                await trio.lowlevel.checkpoint()
            assert (await play(client, game_id, 8))["ply_index"] == 8
            assert await bots_of(client) == {"random": bot}
            second = await new_game(client, bot)
            assert (await play(client, second, 2))["ply_index"] == 2
    assert heir.stop(signal.SIGTERM) == 0


@pytest.mark.long
async def test_page_at_any_daemon_begins_a_game_against_a_bot(daemons: Daemons) -> None:  # noqa: F811
    async with opened() as clients:
        one, two = daemons.start(*BOTS, *FLAGS), daemons.start(*BOTS, *FLAGS)
        await daemons.until(one, two)
        for daemon in (one, two):
            browser = await clients.browser(daemon)
            async with daemon.client() as client:
                bot = (await bots_of(client))["random"]
            form = play_form(await browser.get("/"), "standard")
            page = await browser.submit(form, opponent=f"bot:{bot}", variant="standard", color="black")
            reader = await clients.events(daemon, f"{page.path}/events")
            with trio.fail_after(PATIENCE):
                while (await reader.state())["ply"] < 1:
                    pass
        for daemon in (one, two):
            assert daemon.stop(signal.SIGTERM) == 0


async def test_bots_copied_from_a_data_directory_keep_their_players(
    daemons: Daemons,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "bots.token").write_text("geheim\n")
    one = daemons.start(*BOTS)
    async with one.client() as client:
        bot = (await bots_of(client))["random"]
        again = await client.ask("register", name="random", token="geheim")
        assert again["player"] == bot
    assert one.stop(signal.SIGTERM) == 0
