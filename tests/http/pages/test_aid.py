"""The aid of a player of blind chess: where enemy pieces may stand."""

from __future__ import annotations

import re
from typing import Any

import chess
import pytest
import trio
import trio.testing

from gmd.daemon import Daemon
from gmd.event_log import opening
from tests.http.pages.browser import Browser, browsing, pages
from tests.http.pages.test_playing import act, begun
from tests.http.pages.test_visitors import PASSWORD, sign_in
from tests.slow_log import SlowLog

START = chess.Board()


async def asked(browser: Browser, path: str = "/games/1/aid") -> dict[str, Any]:
    answer = await browser.client.get(path, headers={"accept": "application/json"})
    found: dict[str, Any] = answer.json()
    return found


def squares_of(aid: dict[str, Any]) -> set[str]:
    """Return the squares on which an enemy piece may stand."""
    return {chess.SQUARE_NAMES[at] for row in aid["shares"].values() for at, share in enumerate(row) if share}


async def test_shares_are_those_of_the_positions_that_the_player_cannot_rule_out() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await begun(browser, other, "rbc")
        aid = await asked(browser)
        assert (aid["positions"], aid["exact"], aid["hints"], aid["hint"]) == (1, True, True, None)
        assert squares_of(aid) == {chess.SQUARE_NAMES[each] for each in chess.SquareSet(START.occupied_co[chess.BLACK])}
        assert (aid["shares"]["k"][chess.E8], sum(aid["shares"]["p"])) == (1.0, 8.0)
        assert aid["words"] == "1 position is possible."
        await act(browser, "sense", square="e7")
        await act(browser, "move", move="e2e4")
        theirs = await asked(other)
        assert theirs["positions"] == 21  # twenty moves and a pass
        assert theirs["shares"]["p"][chess.E4] == round(1 / 21, 5)
        assert {"e4", "a3", "e2"} <= squares_of(theirs)
        await act(other, "sense", square="e3")
        assert (await asked(other))["positions"] == 1
        assert (await asked(browser))["positions"] == 1


async def test_hint_is_given_only_if_it_is_asked_for() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await begun(browser, other, "rbc")
        await act(browser, "sense", square="e7")
        await act(browser, "move", move="e2e4")
        assert (await asked(other))["hint"] is None
        aid = await asked(other, "/games/1/aid?hint=1")
        assert re.fullmatch(
            r"A sense of [a-h][1-8] would tell most: on average it leaves [0-9]+ of 21 positions\.", aid["hint_words"]
        )


async def test_ranked_game_has_shares_but_no_hint() -> None:
    async with pages() as (daemon, browser):
        keys = {}
        for name in ("ann", "bob"):
            reply = await daemon.ask("register", name=name, password=PASSWORD)
            keys[name] = {"player": reply["player"], "key": reply["key"]}
            await daemon.ask("settings", **keys[name])  # it is present
        white, black = keys["ann"]["player"], keys["bob"]["player"]
        await daemon.ask_as_operator("pair", white=white, black=black, variant="rbc", ranked=True)
        for player in keys.values():
            await daemon.ask("accept", game_id=1, **player)
        await sign_in(browser, "ann")
        aid = await asked(browser)
        assert (aid["positions"], aid["hints"]) == (1, False)
        assert (await asked(browser, "/games/1/aid?hint=1"))["error"] == (
            "hint: game 1 is ranked: ask for a belief without a hint"
        )


async def test_answer_waits_until_what_it_says_is_durable(monkeypatch: pytest.MonkeyPatch) -> None:
    log = SlowLog()
    monkeypatch.setattr(opening, "MemoryLog", lambda: log)
    async with pages() as (daemon, browser), browsing(daemon) as other, trio.open_nursery() as nursery:
        await begun(browser, other, "rbc")
        order: list[str] = []

        async def ask() -> None:
            await asked(browser)
            order.append("answered")

        async with daemon.beliefs.kept.locks.hold((1, chess.WHITE)):
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


async def test_sample_of_too_many_positions_is_said_to_be_one() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        daemon.beliefs.cap = 10
        await begun(browser, other, "rbc")
        await act(browser, "sense_nothing")
        await act(browser, "pass")
        aid = await asked(other)
        assert (aid["positions"], aid["exact"]) == (10, False)
        assert aid["words"].endswith("the shares are those of 10 of them, drawn at random.")
        assert (await asked(other, "/games/1/aid?hint=1"))["hint_words"].endswith("% of the positions.")


async def test_work_is_limited_and_goes_on_with_the_next_request() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await begun(browser, other, "rbc")
        for _ in range(2):
            for mover in (browser, other):
                await act(mover, "sense", square="e4")
                await act(mover, "pass")
        daemon.beliefs.most_steps = 1
        refused = 0
        while "error" in (aid := await asked(browser)):
            assert (aid["code"], aid["retry_after"]) == ("too_many", 0)
            refused += 1
        assert refused
        assert aid["positions"] > 1


async def test_only_a_player_of_a_running_blind_game_is_aided() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other, browsing(daemon) as stranger:
        await begun(browser, other, "rbc")
        assert "positions" not in await asked(stranger)
        assert (await asked(stranger))["code"] == "not_a_player"
        assert "positions" in await asked(browser)
        await act(browser, "resign")
        assert (await asked(browser))["code"] == "not_available"


async def test_game_of_open_information_has_no_aid() -> None:
    async with pages() as (daemon, browser), browsing(daemon) as other:
        await begun(browser, other)
        assert (await asked(browser))["code"] == "not_available"
