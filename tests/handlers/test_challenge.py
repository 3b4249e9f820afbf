"""Invitations and seeks in the protocol."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.helpers import Client, Json
from tests.lobbying import ALICE, BOB, CAROL, house


def refusal_of(reply: Json) -> Any:
    """Return the code and the text of a refusal."""
    return reply["code"], reply["error"]


async def received(client: Client, **fields: Any) -> list[int]:
    return [row["game_id"] for row in (await client.ask("invitations", **fields))["received"]]


async def test_challenge_makes_a_game_with_a_reserved_seat() -> None:
    async with house() as (_, alice, bob, carol):
        asked = {"opponent": "Bob", "color": "black", "variant": "rbc", "clock": None, "brief": True}
        made = await alice.ask("challenge", **asked)
        state, options = made["state"], made["options"]
        assert (made["error"], made["game_id"], made["seat"]) == (None, 1, "black")
        assert (state["player_white"], state["player_black"], state["phase"]) == (BOB, ALICE, "open")
        row = {
            "game_id": 1,
            "opponent": ALICE,
            "name": "alice",
            "color": "white",
            "options": options,
            "ranked": False,
            "lapses": 300.0,
        }
        listing = await bob.ask("invitations")
        created = listing["received"][0].pop("created")
        assert listing == {"received": [row], "sent": [], "seeking": False, "error": None}
        sent = row | {"opponent": BOB, "name": "bob", "color": "black", "created": created}
        assert await alice.ask("invitations") == {"received": [], "sent": [sent], "seeking": False, "error": None}
        assert await carol.ask("invitations") == {"received": [], "sent": [], "seeking": False, "error": None}
        accepted = await bob.ask("accept", game_id=1, brief=True)
        assert (accepted["seat"], accepted["state"]["phase"], accepted["options"]) == ("white", "sense", options)
        assert await bob.ask("accept", game_id=1, brief=True) == accepted
        assert await received(bob) == []
        assert (await bob.ask("sense", game_id=1, square="e7", brief=True))["error"] is None


async def test_challenge_has_the_defaults_of_new_game() -> None:
    async with house() as (_, alice, *_):
        made = await alice.ask("challenge", opponent=BOB)
        plain = await alice.ask("new_game", player_white=ALICE, player_black=BOB)
        assert made["options"] == plain["options"]
        assert {made["state"]["player_white"], made["state"]["player_black"]} == {ALICE, BOB}


async def test_wait_for_any_game_shows_a_challenge_and_the_end_of_an_own_one() -> None:
    async with house() as (_, alice, bob, _carol):
        await bob.send({"kind": "wait", "any": True, "brief": True})
        await alice.ask("challenge", opponent="bob")
        shown = await bob.receive()
        assert (shown["game_id"], shown["state"]["phase"]) == (1, "open")
        await alice.send({"kind": "wait", "any": True, "brief": True})
        declined = await bob.ask("decline", game_id=1, brief=True)
        end = ("declined", "*", "over")
        state = declined["state"]
        assert (state["termination"], state["result"], state["phase"]) == end
        state = (await alice.receive())["state"]
        assert (state["termination"], state["result"], state["phase"]) == end
        assert (await bob.ask("wait", any=True, timeout=0))["state"] is None
        assert (await alice.ask("wait", any=True, timeout=0))["state"] is None


async def test_declining_may_be_repeated_but_only_by_the_invited() -> None:
    async with house() as (_, alice, bob, carol):
        await alice.ask("challenge", opponent="bob", color="white")
        assert refusal_of(await carol.ask("decline", game_id=1)) == (
            "not_a_player",
            f"player: {CAROL} has no seat in game 1, and is not invited to it",
        )
        first = await bob.ask("decline", game_id=1, brief=True)
        assert await bob.ask("decline", game_id=1, brief=True) == first
        assert refusal_of(await bob.ask("accept", game_id=1)) == ("game_over", "game 1 is over: declined")
        assert refusal_of(await carol.ask("accept", game_id=1)) == (
            "not_available",
            f"game_id: player {CAROL} is not invited to game 1",
        )
        assert refusal_of(await bob.ask("decline", game_id=9)) == ("no_such_game", "game_id: there is no game 9")


async def test_inviter_may_withdraw_until_the_game_has_begun() -> None:
    async with house() as (_, alice, bob, _carol):
        for game_id in (1, 2):
            await alice.ask("challenge", opponent="bob", color="white")
            if game_id == 2:
                await bob.ask("accept", game_id=2)
        state = (await alice.ask("decline", game_id=1, brief=True))["state"]
        assert (state["termination"], state["result"]) == ("withdrawn", "*")
        for client in (alice, bob):
            assert refusal_of(await client.ask("decline", game_id=2)) == (
                "not_available",
                "game 2 has begun and cannot be called off; resign instead",
            )
        await alice.ask("end_game", game_id=2, termination="resignation_white")
        assert refusal_of(await bob.ask("decline", game_id=2)) == ("game_over", "game 2 is over: resignation_white")


async def test_seat_reserved_by_new_game_is_an_invitation_too() -> None:
    async with house() as (_, alice, bob, _carol):
        await alice.new_game(ALICE, BOB)
        (row,) = (await bob.ask("invitations"))["received"]
        assert (row["game_id"], row["color"], row["lapses"]) == (1, "black", 86_400.0)
        assert (await bob.ask("accept", game_id=1))["seat"] == "black"
        await alice.new_game(ALICE, BOB)
        assert (await bob.ask("decline", game_id=2))["state"]["termination"] == "declined"
        await alice.new_game(ALICE, None)
        assert refusal_of(await bob.ask("accept", game_id=3))[0] == "not_available"
        assert (await alice.ask("decline", game_id=3))["state"]["termination"] == "withdrawn"


async def test_unknown_and_absent_players_get_the_same_refusal() -> None:
    async with house() as (daemon, alice, _bob, carol):
        account, _ = await daemon.authenticator.registry.register("dave", None, None)
        await carol.aclose()
        await trio.testing.wait_all_tasks_blocked()
        for opponent in ("dave", account.player, "nobody", account.player + 1, "carol", CAROL):
            shown = repr(opponent) if isinstance(opponent, str) else opponent
            assert refusal_of(await alice.ask("challenge", opponent=opponent)) == (
                "not_available",
                f"opponent: {shown}: no such player is present; try again when the player is online",
            )


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"opponent": "alice"}, "opponent: 'alice' is the player itself; use new_game for both seats"),
        ({"opponent": 7}, "opponent: 7 is an open id; new_game makes a game with one"),
        ({"opponent": "bob", "player": 7}, "player: 7 is an open id; invitations are between registered players"),
        ({"opponent": "bob", "max_turns": 3}, "max_turns: 3 does not apply to standard"),
        ({"opponent": "bob", "color": "red"}, 'color: "red" is none of white, black'),
        (
            {"opponent": "bob", "colour": "white"},
            "'colour': challenge has no such field; it takes brief, clock, color, draws, fen, id, illegal_move, key, "
            "kind, max_moves, max_turns, opponent, player, position, reversible_moves, seed, token, variant",
        ),
    ],
)
async def test_invalid_challenge_is_refused(fields: Json, error: str) -> None:
    async with house() as (_, alice, bob, _carol):
        assert refusal_of(await alice.ask("challenge", **fields)) == ("bad_request", error)
        assert await received(bob) == []


async def test_repeated_challenge_with_its_token_is_the_same_game() -> None:
    async with house() as (_, alice, bob, _carol):
        asked = {"opponent": "bob", "color": "white", "token": "t", "brief": True}
        first = await alice.ask("challenge", **asked)
        assert await alice.ask("challenge", **asked) == first
        assert await received(bob) == [1]
        assert refusal_of(await alice.ask("challenge", **asked, variant="rbc"))[0] == "bad_request"
        await bob.ask("decline", game_id=1)
        assert (await alice.ask("challenge", **asked))["state"]["termination"] == "declined"


async def test_matching_seeks_are_paired_and_the_first_player_is_invited() -> None:
    async with house() as (_, alice, bob, carol):
        waiting = {"game_id": None, "seat": None, "state": None, "options": None, "error": None}
        assert await alice.ask("seek", variant="rbc", color="white") == waiting
        assert (await alice.ask("invitations"))["seeking"] is True
        assert await carol.ask("seek", variant="standard") == waiting
        assert await bob.ask("seek", variant="rbc", color="white") == waiting
        await alice.send({"kind": "wait", "any": True, "brief": True})
        found = await bob.ask("seek", variant="rbc", color="black", brief=True)
        assert (found["game_id"], found["seat"], found["state"]["phase"]) == (1, "black", "open")
        invited = await alice.receive()
        assert (invited["game_id"], invited["state"]["player_white"]) == (1, ALICE)
        assert (await alice.ask("accept", game_id=1))["state"]["phase"] == "sense"
        for client, seeking in ((alice, False), (bob, False), (carol, True)):
            assert (await client.ask("invitations"))["seeking"] is seeking


async def test_repeated_seek_gets_the_game_it_made_and_one_that_waited_seeks_anew() -> None:
    async with house() as (_, alice, bob, _carol):
        for _ in range(2):
            assert (await alice.ask("seek", token="a"))["game_id"] is None
        for _ in range(2):
            assert (await bob.ask("seek", token="b"))["game_id"] == 1
        assert (await alice.ask("seek", token="a"))["game_id"] is None
        listing = await alice.ask("invitations")
        assert (listing["seeking"], [row["game_id"] for row in listing["received"]]) == (True, [1])


async def test_seek_ends_with_its_session_with_a_new_seek_and_with_decline() -> None:
    async with house() as (daemon, alice, bob, carol):
        await alice.ask("seek")
        assert await alice.ask("decline") == {"state": None, "error": None}
        assert (await bob.ask("seek"))["game_id"] is None
        await bob.ask("seek", variant="crazyhouse")
        assert (await carol.ask("seek"))["game_id"] is None
        other = await daemon.connect()
        await carol.aclose()
        await trio.testing.wait_all_tasks_blocked()
        assert (await alice.ask("seek"))["game_id"] is None
        await other.aclose()


async def test_player_is_not_paired_beyond_its_limit_of_games() -> None:
    async with house() as (_, alice, bob, _carol):
        assert await alice.ask("settings", max_games=1) == {
            "player": ALICE,
            "name": "alice",
            "max_games": 1,
            "ranked": False,
            "version": 0,
            "error": None,
        }
        await alice.ask("seek", color="white")
        await alice.ask("challenge", opponent="carol", color="white")
        assert (await bob.ask("seek"))["game_id"] is None
        assert refusal_of(await alice.ask("seek"))[0] == "not_available"
        assert refusal_of(await bob.ask("challenge", opponent="alice"))[0] == "not_available"


async def test_waiting_seeks_are_paired_when_a_player_has_room_again() -> None:
    async with house() as (_, alice, bob, carol):
        await alice.ask("settings", max_games=1)
        await alice.ask("seek", color="white", token="t")
        await alice.ask("challenge", opponent="carol")
        assert (await bob.ask("seek"))["game_id"] is None
        await alice.send({"kind": "wait", "any": True, "brief": True})
        await bob.send({"kind": "wait", "any": True, "brief": True})
        await carol.ask("decline", game_id=1)
        assert (await alice.receive())["state"]["termination"] == "declined"
        shown = await bob.receive()
        assert (shown["game_id"], shown["state"]["player_white"]) == (2, ALICE)
        assert (await alice.ask("wait", any=True))["game_id"] == 2


async def test_invitations_of_a_revoked_player_are_cancelled() -> None:
    async with house() as (daemon, alice, bob, carol):
        await alice.ask("challenge", opponent="bob")
        await bob.ask("challenge", opponent="carol")
        await carol.ask("challenge", opponent="alice")
        await daemon.authenticator.registry.revoke(BOB)
        await trio.testing.wait_all_tasks_blocked()
        ends = [(await alice.ask("state", game_id=game_id))["state"]["termination"] for game_id in (1, 2, 3)]
        assert ends == ["declined", "withdrawn", "available_move"]
        assert await received(carol) == []


async def test_invitation_expires_and_both_players_learn_it(autojump_clock: MockClock) -> None:
    async with house(invitation_timeout=30.0) as (_, alice, bob, _carol):
        await alice.ask("challenge", opponent="bob", color="black", variant="rbc")
        before = trio.current_time()
        ended = await alice.ask("wait", any=True, timeout=60, brief=True)
        assert trio.current_time() - before == pytest.approx(30, abs=0.1)
        assert (ended["state"]["termination"], ended["state"]["result"]) == ("expired", "*")
        assert await received(bob) == []
        assert refusal_of(await bob.ask("accept", game_id=1)) == ("game_over", "game 1 is over: expired")


async def test_accepted_game_allows_the_start_timeout_for_first_contact(autojump_clock: MockClock) -> None:
    async with house(invitation_timeout=30.0, start_timeout=100.0) as (_, alice, bob, _carol):
        await alice.ask("challenge", opponent="bob", color="white", variant="rbc")
        await trio.sleep(29)
        assert (await bob.ask("accept", game_id=1, brief=True))["state"]["phase"] is None
        await trio.sleep(60)
        state = (await alice.ask("state", game_id=1, brief=True))["state"]
        assert (state["termination"], state["clock"]["white"]) == ("available_move", 840.0)
