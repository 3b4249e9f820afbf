"""Active players, their settings, and invitations: the statuses of each route, and what rc-connect needs."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import trio
from trio.testing import MockClock

from gm_protocol.codec import CLOCK_SHAPES
from gm_protocol.messages import ClockOption
from gmd.games.commands import CallOff
from tests.helpers import START_FEN
from tests.http.rbc import Player, Table, answered, rbc_table


async def get(table: Table, player: Player, path: str) -> Any:
    """Return the answer to a player's request."""
    return answered(await table.client.get(f"/api/{path}", auth=player.auth))


async def post(table: Table, player: Player, path: str, body: object = None) -> httpx.Response:
    """Return the response to a player's post."""
    return await table.client.post(f"/api/{path}", json=body, auth=player.auth)


async def invite(table: Table, player: Player, opponent: str, color: bool) -> int:
    """Send an invitation, which must not be refused, and return the game."""
    response = await post(table, player, "invitations/", {"opponent": opponent, "color": color})
    game_id: int = answered(response)["game_id"]
    return game_id


async def test_player_is_active_for_a_while_after_each_request(autojump_clock: MockClock) -> None:
    async with rbc_table(presence_timeout=60) as table:
        assert await get(table, table.white, "users/") == {"usernames": ["white-bot"]}
        await trio.sleep(40)
        assert await get(table, table.other, "users") == {"usernames": ["white-bot", "other-bot"]}
        await trio.sleep(25)
        assert await get(table, table.other, "users/") == {"usernames": ["other-bot"]}


async def test_player_changes_its_settings() -> None:
    async with rbc_table() as table:
        me = {"id": table.white.id, "username": "white-bot"}
        assert answered(await post(table, table.white, "users/me")) == {**me, "max_games": 4}
        response = await post(table, table.white, "users/me/max_games", {"max_games": 9})
        assert answered(response) == {**me, "max_games": 9}
        assert answered(await post(table, table.white, "users/me")) == {**me, "max_games": 9}
        assert answered(await post(table, table.white, "users/me/ranked", {"ranked": True})) == {**me, "ranked": True}
        assert await get(table, table.white, "users/me/version") == {**me, "version": 0}
        for version in (1, 2):
            assert answered(await post(table, table.white, "users/me/version")) == {**me, "version": version}
        assert await get(table, table.white, "users/me/version") == {**me, "version": 2}
        other = {"id": table.black.id, "username": "black-bot"}
        assert await get(table, table.black, "users/me/version") == {**other, "version": 0}


@pytest.mark.parametrize("color", [True, False])
async def test_invitation_is_listed_accepted_and_finished(color: bool) -> None:
    async with rbc_table() as table:
        await get(table, table.black, "users/")
        game_id = await invite(table, table.white, "BLACK-BOT", color)
        assert answered(await table.white.get(game_id, "color")) == {"color": color}
        assert (await table.black.get(game_id, "color")).status_code == 401
        for _ in range(2):
            assert await get(table, table.black, "invitations/") == {"invitations": [game_id]}
            # The reply to the first request may have been lost.
            assert answered(await post(table, table.black, f"invitations/{game_id}")) == {"game_id": game_id}
        assert await get(table, table.white, "invitations/") == {"invitations": []}
        assert answered(await table.black.get(game_id, "color")) == {"color": not color}
        assert await get(table, table.black, "invitations/") == {"invitations": [game_id]}
        assert answered(await table.black.post(game_id, "ready", {})) == {}
        assert await get(table, table.black, "invitations/") == {"invitations": []}
        assert answered(await post(table, table.black, f"invitations/{game_id}")) == {"game_id": game_id}
        assert answered(await table.black.post(game_id, "error_resign")) == {}
        for _ in range(2):
            assert answered(await post(table, table.black, f"invitations/{game_id}/finish")) == {}
        assert answered(await table.white.get(game_id, "winner_color")) == {"winner_color": color}


async def test_ready_starts_the_clock_but_accepting_does_not() -> None:
    async with rbc_table() as table:
        await get(table, table.black, "users/")
        game_id = await invite(table, table.white, "black-bot", True)
        await post(table, table.black, f"invitations/{game_id}")
        game = (await table.daemon.arbiter.live_game(game_id)).game
        assert game.contacted == [False, False]
        await table.black.post(game_id, "ready")
        assert game.contacted == [True, False]
        await table.white.post(game_id, "ready")
        assert game.ticking


async def test_missing_invitation_cannot_be_answered() -> None:
    async with rbc_table() as table:
        await get(table, table.black, "users/")
        game_id = await invite(table, table.white, "black-bot", True)
        for who, invitation in (
            (table.black, 99),
            (table.black, 1 << 70),
            (table.other, game_id),
            (table.white, game_id),
        ):
            for path in (f"invitations/{invitation}", f"invitations/{invitation}/finish"):
                response = await post(table, who, path)
                assert (response.status_code, response.json()["code"]) == (400, "not_available")
        response = await post(table, table.black, f"invitations/{game_id}/finish")
        assert (response.status_code, response.json()["code"]) == (400, "not_available")  # not accepted
        called_off = await table.daemon.arbiter.live_game(game_id)
        table.daemon.arbiter.act(called_off, CallOff(table.white.id), trio.current_time())
        response = await post(table, table.black, f"invitations/{game_id}")
        assert (response.status_code, response.json()["code"]) == (400, "game_over")
        assert await get(table, table.black, "invitations/") == {"invitations": []}


async def test_expired_invitation_is_no_longer_listed(autojump_clock: MockClock) -> None:
    async with rbc_table(invitation_timeout=30, idle_timeout=10_000, frame_timeout=10_000) as table:
        await get(table, table.black, "users/")
        game_id = await invite(table, table.white, "black-bot", True)
        await trio.sleep(29)
        assert await get(table, table.black, "invitations/") == {"invitations": [game_id]}
        await trio.sleep(2)
        assert await get(table, table.black, "invitations/") == {"invitations": []}
        response = await post(table, table.black, f"invitations/{game_id}")
        assert (response.status_code, response.json()["code"]) == (400, "game_over")
        assert answered(await table.white.get(game_id, "game_status")) == {"is_my_turn": False, "is_over": True}
        assert answered(await table.white.get(game_id, "win_reason")) == {"win_reason": None}


async def test_polling_player_stays_active(autojump_clock: MockClock) -> None:
    async with rbc_table(presence_timeout=12, idle_timeout=10_000, frame_timeout=10_000) as table:
        for _ in range(10):  # as rc-connect does
            await get(table, table.black, "invitations/")
            await trio.sleep(5)
        assert "black-bot" in (await get(table, table.white, "users/"))["usernames"]
        await trio.sleep(10)
        assert "black-bot" not in (await get(table, table.white, "users/"))["usernames"]


async def test_absent_or_busy_player_cannot_be_invited() -> None:
    async with rbc_table() as table:
        body = {"opponent": "black-bot", "color": True}
        for opponent in ("black-bot", "nobody", "white-bot", ""):
            response = await post(table, table.white, "invitations/", {**body, "opponent": opponent})
            assert response.status_code == 400
        await post(table, table.black, "users/me/max_games", {"max_games": 1})
        await invite(table, table.white, "black-bot", True)
        response = await post(table, table.white, "invitations/", body)
        assert (response.status_code, response.json()["code"]) == (400, "not_available")


async def test_invitation_can_set_the_options_of_the_game() -> None:
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    async with rbc_table() as table:
        await get(table, table.black, "users/")
        body = {"opponent": "black-bot", "color": False}
        for given, expected in (
            ({}, {"clock": ClockOption(initial=900.0, increment=5.0), "reversible_moves": 100, "fen": START_FEN}),
            ({"clock": {"initial": 60, "increment": 0.5}}, {"clock": ClockOption(initial=60.0, increment=0.5)}),
            ({"clock": None, "fen": fen}, {"clock": None, "fen": fen, "reversible_moves": 100}),
            ({"clock": {"initial": 60}}, {"clock": ClockOption(initial=60.0, increment=0.0)}),
            ({"clock": "60+1"}, {"clock": ClockOption(initial=60.0, increment=1.0)}),
            ({"clock": "60"}, {"clock": ClockOption(initial=60.0, increment=0.0)}),
            ({"reversible_moves": None, "max_turns": 40}, {"reversible_moves": None, "max_turns": 40}),
            ({"reversible_moves": 7, "max_turns": None}, {"reversible_moves": 7, "max_turns": None}),
        ):
            game_id = answered(await post(table, table.white, "invitations/", {**body, **given}))["game_id"]
            options = (await table.daemon.arbiter.live_game(game_id)).game.options
            assert options.variant == "rbc"
            assert {name: getattr(options, name) for name in expected} == expected
            answered(await post(table, table.white, f"games/{game_id}/error_resign"))
        board = answered(await table.white.get(3, "starting_board"))["board"]
        assert board == {"type": "Board", "value": fen}


#: Options that are refused, and how the refusal begins.
INVALID: list[tuple[dict[str, Any], str]] = [
    ({"clock": 900}, f"clock: 900 is no time control: {CLOCK_SHAPES}"),
    ({"clock": "60 plus"}, "clock: '60 plus' is no clock: write seconds, such as 300, 180+2, 1/0.05 ("),
    ({"clock": "9" * 65}, f'clock: "{"9" * 65}" is no time control: {CLOCK_SHAPES}'),
    ({"clock": {"initial": -60}}, 'clock.initial: {"initial":-60}: expected `float` >= 0.0'),
    ({"clock": {"initial": "900"}}, 'clock.initial: {"initial":"900"}: expected `float`, got `str`'),
    ({"clock": {"initial": 0, "increment": 0}}, "clock.initial: "),
    ({"clock": {"minutes": 15}}, 'clock: {"minutes":15}: object contains unknown field `minutes`'),
    ({"fen": "nonsense"}, "fen: 'nonsense': "),
    ({"fen": None}, "invalid body: Expected `str`, got `null` - at `$.fen`"),
    ({"reversible_moves": 0}, "invalid body: Expected `int` >= 1 - at `$.reversible_moves`"),
    ({"max_turns": 1.5}, "invalid body: Expected `int | null`, got `float` - at `$.max_turns`"),
    ({"max_turn": 40}, "invalid body: Object contains unknown field `max_turn`"),
    ({"variant": "chess960"}, "invalid body: Object contains unknown field `variant`"),
]


async def test_invalid_option_is_refused_with_its_field() -> None:
    async with rbc_table() as table:
        await get(table, table.black, "users/")
        for given, sentence in INVALID:
            response = await post(table, table.white, "invitations/", {"opponent": "black-bot", "color": True, **given})
            assert response.status_code == 400
            assert response.json()["error"].startswith(sentence)
        assert len(table.daemon.lobby.book.sent(table.white.id)) == 0


@pytest.mark.parametrize(
    "setting",
    [
        "max_invitations_per_minute",
        "max_invitations",
        "max_invitations_from_address",
        "max_games_per_hour",
        "max_unfinished_games",
        "max_invitations_received",
    ],
)
async def test_each_limit_of_invitations_is_refused_with_retry_after(setting: str) -> None:
    async with rbc_table(**{setting: 1}) as table:
        await get(table, table.black, "users/")
        await invite(table, table.white, "black-bot", True)
        response = await post(table, table.white, "invitations/", {"opponent": "black-bot", "color": True})
        refusal = response.json()
        assert (response.status_code, refusal["code"], refusal["error"].partition(":")[0]) == (503, "too_many", setting)
        assert int(response.headers["retry-after"]) == refusal["retry_after"] > 0


async def test_invitations_of_one_player_do_not_hide_those_of_another() -> None:
    async with rbc_table(max_invitations=200) as table:
        for _ in range(120):
            await table.daemon.ask("new_game", variant="rbc", player_white=7, player_black=table.black.id)
        await get(table, table.black, "users/")
        honest = await invite(table, table.white, "black-bot", True)
        listed = (await get(table, table.black, "invitations/"))["invitations"]
        assert listed == [*range(1, 100), honest]


async def test_cancelled_game_is_shown_as_a_draw() -> None:
    async with rbc_table() as table:
        await get(table, table.black, "users/")
        game_id = await invite(table, table.white, "black-bot", True)
        called_off = await table.daemon.arbiter.live_game(game_id)
        table.daemon.arbiter.act(called_off, CallOff(table.black.id), trio.current_time())
        assert answered(await table.white.get(game_id, "game_status")) == {"is_my_turn": False, "is_over": True}
        assert answered(await table.white.get(game_id, "winner_color")) == {"winner_color": None}
        assert answered(await table.white.get(game_id, "win_reason")) == {"win_reason": None}
        assert answered(await table.white.get(game_id, "game_history"))["game_history"]["win_reason"] is None
