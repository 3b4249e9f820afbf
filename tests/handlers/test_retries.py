"""A retry after a lost reply is always safe: the same request gets the same results and changes nothing."""

from __future__ import annotations

import trio
from trio.testing import MockClock

from tests.helpers import Client, Json, memory_daemon

ILLEGAL = "Ke7"


async def stale(client: Client, **fields: object) -> bool:
    """Return whether a move is refused as stale."""
    reply = await client.ask("move", **fields)
    return reply["state"] is None and reply.get("code") == "stale"


async def move(client: Client, ply: int, text: str, **fields: object) -> Json:
    """Make a move in game 1 by the player to move at the ply."""
    player = 1 + ply % 2
    return await client.ask("move", **{"game_id": 1, "player": player, "move": text, "ply": ply, **fields})


async def test_retried_move_gets_its_own_state_again_byte_for_byte(client: Client) -> None:
    await client.new_game()
    first = await move(client, 0, "e4")
    assert first["error"] is None
    assert await move(client, 0, "e4") == first
    await move(client, 1, "e5")
    assert await move(client, 0, "e4") == first
    assert (await client.ask("state", game_id=1))["state"]["ply_index"] == 2


async def test_retried_move_may_be_spelt_differently(client: Client) -> None:
    await client.new_game(fen="r3k2r/4p3/8/8/8/8/4P3/R3K2R w KQkq - 0 1")
    first = await move(client, 0, "e4")
    await move(client, 1, "e5")
    for text in ("e4", "e2e4", "e2-e4", "e4+"):
        assert await move(client, 0, text) == first
    assert (await move(client, 0, "pawn to e4"))["code"] == "stale"
    castled = await move(client, 2, "O-O")
    await move(client, 3, "O-O-O")
    for text in ("e1g1", "O-O", "0-0", "O-O+"):
        assert await move(client, 2, text) == castled


async def test_any_other_move_at_another_ply_is_stale(client: Client) -> None:
    others: list[tuple[int, str, Json]] = [
        (0, "d4", {}),  # another move
        (0, "e4", {"offer_draw": True}),  # another action, because of the offer
        (2, "Nf3", {"player": 2}),  # another seat, out of turn
        (3, "e4", {"player": 1}),  # a future ply
        (10**15, "e4", {"player": 1}),
        (0, ILLEGAL, {}),
        (0, "nonsense", {}),
    ]
    await client.new_game()
    await move(client, 0, "e4")
    before = await client.ask("state", game_id=1)
    for ply, text, fields in others:
        reply = await move(client, ply, text, **fields)
        assert (reply["state"], reply["code"]) == (None, "stale")
        assert reply["error"] == f"ply: {ply} does not match game 1, whose ply_index is 1"
    assert await client.ask("state", game_id=1) == before


async def test_only_the_latest_move_of_each_seat_can_be_retried(client: Client) -> None:
    await client.new_game()
    replies = [await move(client, ply, text) for ply, text in enumerate(["e4", "e5", "Nf3", "Nc6"])]
    assert await move(client, 2, "Nf3") == replies[2]
    assert await move(client, 3, "Nc6") == replies[3]
    assert (await move(client, 0, "e4"))["code"] == "stale"
    assert (await move(client, 1, "e5"))["code"] == "stale"
    await move(client, 4, "Bb5")
    assert (await move(client, 2, "Nf3"))["code"] == "stale"
    assert await move(client, 3, "Nc6") == replies[3]


async def test_move_without_a_ply_is_no_retry(client: Client) -> None:
    await client.new_game()
    await move(client, 0, "e4")
    reply = await client.ask("move", game_id=1, player=1, move="e4")
    assert reply["code"] == "not_your_turn"
    await move(client, 1, "e5")
    assert (await client.ask("move", game_id=1, player=1, move="e4"))["code"] == "illegal_move"


async def test_draw_offer_is_part_of_the_retried_move(client: Client) -> None:
    await client.new_game()
    first = await move(client, 0, "e4", offer_draw=True)
    assert first["state"]["draw_offered"] is True
    assert (await move(client, 0, "e4"))["code"] == "stale"
    await move(client, 1, "e5")
    assert await move(client, 0, "e2e4", offer_draw=True) == first


async def test_last_move_can_be_retried_after_the_game_is_over(client: Client) -> None:
    await client.new_game()
    replies = [await move(client, ply, text) for ply, text in enumerate(["f3", "e5", "g4", "Qh4#"])]
    assert replies[3]["state"]["termination"] == "victory_black"
    assert await move(client, 3, "Qh4") == replies[3]
    assert await move(client, 2, "g4") == replies[2]  # the state of that moment: not over
    assert (await move(client, 2, "g3"))["code"] == "game_over"
    assert (await move(client, 4, "h3"))["code"] == "game_over"


async def test_retry_has_its_own_brief_and_id(client: Client) -> None:
    await client.new_game()
    first = await move(client, 0, "e4", id="first")
    again = await move(client, 0, "e4", id="again", brief=True)
    assert again["id"] == "again"
    assert set(first["state"]) - set(again["state"]) == {"board", "access_map", "pgn"}
    assert again["state"].items() <= first["state"].items()


async def test_retried_ending_gets_its_own_state_again(client: Client) -> None:
    await client.new_game()
    resign = {"game_id": 1, "player": 2, "termination": "resignation_black", "ply": 0}
    first = await client.ask("end_game", **resign)
    assert (first["error"], first["state"]["termination"]) == (None, "resignation_black")
    assert await client.ask("end_game", **resign) == first
    del resign["ply"]
    assert (await client.ask("end_game", **resign))["code"] == "game_over"
    assert (await client.ask("end_game", **resign, ply=1))["code"] == "game_over"
    other = {"game_id": 1, "player": 1, "termination": "resignation_white", "ply": 0}
    assert (await client.ask("end_game", **other))["code"] == "game_over"


async def test_ending_at_a_past_ply_is_stale(client: Client) -> None:
    await client.new_game()
    await move(client, 0, "e4")
    for player, color in ((1, "white"), (2, "black")):
        resign = {"game_id": 1, "player": player, "termination": f"resignation_{color}", "ply": 0}
        assert (await client.ask("end_game", **resign))["code"] == "stale"
    assert (await client.ask("state", game_id=1))["state"]["phase"] == "move"


async def test_agreed_and_taken_draws_can_be_retried(client: Client) -> None:
    await client.new_game()
    await move(client, 0, "e4", offer_draw=True)
    agree = {"game_id": 1, "player": 2, "termination": "draw_agreed", "ply": 1}
    first = await client.ask("end_game", **agree)
    assert first["state"]["termination"] == "draw_agreed"
    assert await client.ask("end_game", **agree) == first

    await client.new_game(pgn="1.Nf3 Nf6 2.Ng1 Ng8 3.Nf3 Nf6 4.Ng1 Ng8")
    take = {"game_id": 2, "player": 1, "termination": "taken_draw_white", "ply": 8}
    first = await client.ask("end_game", **take)
    assert first["state"]["termination"] == "taken_draw_white"
    assert await client.ask("end_game", **take) == first


async def test_forfeit_can_be_retried_with_its_text(client: Client) -> None:
    await client.new_game(illegal_move="lose")
    first = await move(client, 0, ILLEGAL)
    assert (first["error"], first["state"]["termination"]) == (None, "forfeit_white")
    assert await move(client, 0, ILLEGAL) == first
    assert (await move(client, 0, "nonsense"))["code"] == "game_over"
    assert (await move(client, 0, "e4"))["code"] == "game_over"


async def test_stale_or_untimely_illegal_move_forfeits_nothing(client: Client) -> None:
    await client.new_game(illegal_move="lose")
    assert (await move(client, 5, ILLEGAL))["code"] == "stale"
    assert (await move(client, 0, ILLEGAL, player=2))["code"] == "not_your_turn"
    assert (await move(client, 0, "e4"))["state"]["phase"] == "move"


async def test_move_is_no_retry_of_an_ending(client: Client) -> None:
    await client.new_game()
    await client.ask("end_game", game_id=1, player=1, termination="resignation_white", ply=0)
    assert (await move(client, 0, "resignation_white"))["code"] == "game_over"
    await client.new_game(illegal_move="lose")
    await move(client, 0, "resignation_white", game_id=2)
    reply = await client.ask("end_game", game_id=2, player=1, termination="resignation_white", ply=0)
    assert reply["code"] == "game_over"


async def test_retry_by_a_player_with_both_seats_is_recognized_by_the_ply() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        await client.new_game(1, 1)
        replies = []
        for ply, text in enumerate(["e4", "e5", "Nf3"]):
            replies.append(await client.ask("move", game_id=1, move=text, ply=ply))
        assert await client.ask("move", game_id=1, move="g1f3", ply=2) == replies[2]
        assert await client.ask("move", game_id=1, move="e7e5", ply=1) == replies[1]
        assert await client.ask("move", game_id=1, move="e7e5", ply=1, seat="black") == replies[1]
        assert await stale(client, game_id=1, move="e7e5", ply=1, seat="white")
        assert await stale(client, game_id=1, move="e4", ply=0)
        resign = {"game_id": 1, "termination": "resignation_black", "ply": 3}
        first = await client.ask("end_game", **resign)
        assert first["error"] is None
        assert await client.ask("end_game", **resign) == first


async def test_retry_shows_the_current_clocks(client: Client, autojump_clock: MockClock) -> None:

    await client.new_game(clock={"initial": 100, "increment": 0})
    await client.ask("state", game_id=1, player=1)
    await client.ask("state", game_id=1, player=2)
    await trio.sleep(10)
    first = await move(client, 0, "e4")
    assert first["state"]["clock"] == {"white": 90.0, "black": 100.0}
    await trio.sleep(20)
    again = await move(client, 0, "e4")
    assert again["state"]["clock"] == {"white": 90.0, "black": 80.0}
    assert {**again["state"], "clock": None} == {**first["state"], "clock": None}
    await move(client, 1, "e5")
    await trio.sleep(30)
    again = await move(client, 0, "e4")
    assert again["state"]["clock"] == {"white": 60.0, "black": 80.0}
    assert again["state"]["turn"] == "black"  # the state of that moment
