"""The aid of a player of blind chess: where enemy pieces may stand."""

from __future__ import annotations

import random

import chess
import pytest
import trio
import trio.testing

from gm_recon.possible import PossiblePositions
from gmd.daemon import Daemon
from gmd.event_log import opening
from gmd.games.notation import run_through
from gmd.games.views import observations
from gmd.http.pages import aid as aid_page
from gmd.http.pages.aid import aid_steps
from gmd.play.beliefs import Followed
from tests.http.pages.browser import Browser, browsing, pages
from tests.http.pages.test_playing import act, begun
from tests.slow_log import SlowLog

START = chess.Board()


async def asked(browser: Browser, path: str = "/games/1/aid") -> dict[str, object]:
    answer = await browser.client.get(path, headers={"accept": "application/json"})
    found: dict[str, object] = answer.json()
    return found


async def test_squares_are_those_that_the_player_cannot_rule_out() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await begun(browser, other, "rbc")
        aid = await asked(browser)
        assert aid["positions"] == 1
        assert aid["squares"] == [chess.SQUARE_NAMES[each] for each in chess.SquareSet(START.occupied_co[chess.BLACK])]
        assert aid["words"] == "1 position is possible; enemy pieces may stand on 16 squares."
        await act(browser, "sense", square="e7")
        await act(browser, "move", move="e2e4")
        theirs = await asked(other)
        assert theirs["positions"] == 21  # twenty moves and a pass
        assert {"e4", "a3", "e2"} <= set(theirs["squares"])  # type: ignore[call-overload]
        await act(other, "sense", square="e3")
        assert (await asked(other))["positions"] == 1
        assert (await asked(browser))["positions"] == 1


async def test_answer_waits_until_what_it_says_is_durable(monkeypatch: pytest.MonkeyPatch) -> None:
    log = SlowLog()
    monkeypatch.setattr(opening, "MemoryLog", lambda: log)
    async with pages() as (daemon, browser), browsing(daemon) as other, trio.open_nursery() as nursery:
        await begun(browser, other, "rbc")
        order: list[str] = []

        async def ask() -> None:
            await asked(browser)
            order.append("answered")

        assert daemon.http is not None
        assert daemon.http.site is not None
        async with daemon.http.site.aids.locks.hold((1, chess.WHITE)):
            nursery.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked(0.05)  # it has looked at the game, and waits for its turn
            log.slow = True
            nursery.start_soon(act_on, daemon, order)
            while not log.commits:
                await other.get("/healthz")
        for _ in range(20):
            await other.get("/healthz")
        assert not order
        log.slow = False
        order.append("durable")
        log.commits[0].settle(None)
    assert order[0] == "durable"
    assert sorted(order[1:]) == ["answered", "sensed"]


async def act_on(daemon: Daemon, order: list[str]) -> None:
    """Sense for White in game 1."""
    player = (await daemon.ask("state", game_id=1))["state"]["player_white"]
    await daemon.ask("sense", game_id=1, player=player, square="e7")
    order.append("sensed")


async def played_at_random(daemon: Daemon, seed: int, turns: int) -> None:
    """Play on in game 1."""
    rng = random.Random(seed)
    for _ in range(turns):
        state = (await daemon.ask("state", game_id=1))["state"]
        if state["phase"] == "over":
            return
        player = state[f"player_{state['turn']}"]
        await daemon.ask("sense", game_id=1, player=player, square=rng.choice(chess.SQUARE_NAMES))
        moves = (await daemon.ask("actions", game_id=1, player=player))["move_actions"]
        await daemon.ask("move", game_id=1, player=player, move=rng.choice(moves))


async def test_observations_of_a_seat_lead_to_positions_that_have_the_truth() -> None:
    async with pages() as (daemon, _):
        await daemon.ask("new_game", player_white=1, player_black=2, variant="rbc", clock=None)
        await played_at_random(daemon, 1, 6)
        live = await daemon.arbiter.live_game(1)
        truth = live.game.recon.board.as_chess()  # type: ignore[attr-defined]
        for seat in chess.COLORS:
            seen = observations(live.game, seat)
            assert seen is not None
            positions = PossiblePositions(seat, cap=500_000, rng=random.Random(0))
            followed = Followed(lambda positions=positions: positions)  # type: ignore[misc]
            aid = run_through(aid_steps(followed, live.game, seen))
            if aid.positions is not None:
                assert truth in positions
                assert chess.SquareSet(truth.occupied_co[not seat]).issubset(chess.SquareSet(positions.occupied()))


@pytest.mark.slow
async def test_too_many_positions_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aid_page, "CAP", 100)
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await begun(browser, other, "rbc")
        for _ in range(2):
            for mover in (browser, other):
                await act(mover, "sense_nothing")
                await act(mover, "pass")
        aid = await asked(browser)
        assert (aid["positions"], aid["squares"]) == (None, [])
        assert "More than 100 positions are possible" in str(aid["words"])
        await act(browser, "sense_nothing")
        assert (await asked(browser))["positions"] is None


async def test_only_a_player_of_a_running_blind_game_is_aided() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other, browsing(daemon) as stranger:
        await begun(browser, other, "rbc")
        assert "positions" not in await asked(stranger)
        assert (await asked(stranger))["code"] == "not_a_player"
        await asked(browser)
        await asked(other)
        assert daemon.http is not None
        assert daemon.http.site is not None
        assert len(daemon.http.site.aids) == 2
        await act(browser, "resign")
        assert (await asked(browser))["code"] == "not_available"
        assert len(daemon.http.site.aids) == 0


async def test_game_of_open_information_has_no_aid() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await begun(browser, other)
        assert (await asked(browser))["code"] == "not_available"
