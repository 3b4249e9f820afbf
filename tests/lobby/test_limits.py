"""The limits of invitations by inviter, by invited player and by address hold for every way to invite; no sender
crowds out another.
"""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from gm_protocol.endings import Cause, Ending
from gmd.event_log.memory import MemoryLog
from gmd.games.events import Created, Ended
from gmd.games.replay import replay
from gmd.games.variants import make_game, resolve
from gmd.lobby.invitation import Offer, terms
from tests.helpers import Client, Json, MemoryDaemon, running_daemon
from tests.lobbying import ALICE, BOB, CAROL, HERE, THERE, From, house, refused


def kept(*seats: int) -> Json:
    """Return the fields of a new_game between two players, or between an open id and one player."""
    white, black = seats if len(seats) == 2 else (7, *seats)
    return {"player_white": white, "player_black": black, "brief": True}


async def listed(who: From, **fields: int) -> list[int]:
    """Return a page of the games to which a player is invited."""
    reply = await who.ask("invitations", **fields)
    return [row["game_id"] for row in reply["received"]]


async def crowd(daemon: MemoryDaemon, number: int, peer: str = HERE) -> list[From]:
    """Register this many players at one address."""
    made = [await daemon.authenticator.registry.register(f"junk-{n}", None, None) for n in range(number)]
    return [From(daemon, peer, account.player) for account, _ in made]


# --- For each inviter -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made_by", ["challenge", "new_game", "game_from_pgn", "new_game for two others"])
async def test_limit_of_unanswered_invitations_holds_for_every_way_to_invite(made_by: str) -> None:
    async with house(max_invitations=2) as (daemon, *_):
        alice, carol = From(daemon, HERE, ALICE), From(daemon, HERE, CAROL)
        ways: dict[str, tuple[str, Json]] = {
            "challenge": ("challenge", {"opponent": "bob"}),
            "new_game": ("new_game", kept(ALICE, BOB)),
            "game_from_pgn": ("game_from_pgn", kept(ALICE, BOB) | {"pgn": "1. e4"}),
            "new_game for two others": ("new_game", kept(BOB, CAROL)),
        }
        kind, fields = ways[made_by]
        made = [(await alice.ask(kind, **fields))["game_id"] for _ in range(2)]
        for kind, fields in ways.values():
            assert refused(await alice.ask(kind, **fields)) == ("too_many", "max_invitations")
        assert refused(await alice.ask("seek")) == ("too_many", "max_invitations")
        assert (await alice.ask("new_game", **kept(1, 2)))["error"] is None  # no registered player is in it
        assert (await carol.ask("challenge", opponent="bob"))["error"] is None
        assert (await From(daemon, THERE, BOB).ask("decline", game_id=made[0]))["error"] is None
        assert (await alice.ask("new_game", **kept(ALICE, BOB)))["error"] is None


# --- For each invited player, and fair ------------------------------------------------------------------------------


async def test_sender_of_fewer_invitations_displaces_the_newest_of_the_most_active() -> None:
    async with house(max_invitations_received=4, max_invitations=10) as (daemon, *_):
        alice, bob, carol = (From(daemon, HERE, player) for player in (ALICE, BOB, CAROL))
        junk = [(await alice.ask("new_game", **kept(ALICE, BOB)))["game_id"] for _ in range(4)]
        assert refused(await alice.ask("new_game", **kept(ALICE, BOB))) == ("too_many", "max_invitations_received")
        honest = [(await carol.ask("new_game", **kept(CAROL, BOB)))["game_id"] for _ in range(2)]
        assert await listed(bob) == [*junk[:2], *honest]
        for game_id in junk[2:]:
            assert (await daemon.arbiter.live_game(game_id)).game.now.ending == Ending(Cause.EXPIRED)
        for each in (alice, carol):  # both have now sent equally many
            reply = await each.ask("new_game", **kept(ALICE if each is alice else CAROL, BOB))
            assert refused(reply) == ("too_many", "max_invitations_received")
        assert await listed(bob) == [*junk[:2], *honest]


async def test_many_players_of_one_address_are_displaced_by_a_player_of_another() -> None:
    async with house(max_invitations_received=5) as (daemon, *_):
        junk = await crowd(daemon, 5)
        sent = [(await each.ask("new_game", **kept(BOB)))["game_id"] for each in junk]
        there = From(daemon, THERE, ALICE)
        honest = [(await there.ask("new_game", **kept(ALICE, BOB)))["game_id"] for _ in range(2)]
        assert await listed(From(daemon, THERE, BOB)) == [*sent[:3], *honest]
        assert refused(await there.ask("new_game", **kept(ALICE, BOB))) == ("too_many", "max_invitations_received")


async def test_open_ids_count_as_one_inviter() -> None:
    async with house(max_invitations_received=3) as (daemon, *_):
        for number in range(3):
            given = {"player_white": number + 1, "player_black": BOB, "brief": True}
            assert (await From(daemon, HERE).ask("new_game", **given))["error"] is None
        assert daemon.lobby.book.inbox(BOB).count(0) == 3
        assert (await From(daemon, HERE, ALICE).ask("challenge", opponent="bob"))["game_id"] == 4
        assert await listed(From(daemon, HERE, BOB)) == [1, 2, 4]


async def test_challenges_that_fill_all_places_of_a_player_make_way_for_another_inviter() -> None:
    async with house() as (daemon, *_):
        alice, bob, carol = (From(daemon, HERE, player) for player in (ALICE, BOB, CAROL))
        junk = [(await alice.ask("challenge", opponent="bob"))["game_id"] for _ in range(4)]
        assert (await alice.ask("challenge", opponent="bob"))["code"] == "not_available"
        honest = [(await carol.ask("challenge", opponent="bob"))["game_id"] for _ in range(2)]
        assert await listed(bob) == [*junk[:2], *honest]
        assert (await carol.ask("challenge", opponent="bob"))["code"] == "not_available"
        assert daemon.lobby.room(BOB) == 0


async def test_seek_can_match_a_player_whose_places_are_full_of_challenges() -> None:
    async with house() as (daemon, *_):
        alice, bob, carol = (From(daemon, HERE, player) for player in (ALICE, BOB, CAROL))
        assert (await bob.ask("seek"))["game_id"] is None
        junk = [(await alice.ask("challenge", opponent="bob"))["game_id"] for _ in range(4)]
        met = (await carol.ask("seek"))["game_id"]
        assert await listed(bob) == [*junk[:3], met]


async def test_player_whose_places_are_full_of_challenges_may_seek() -> None:
    async with house() as (daemon, *_):
        alice, bob, carol = (From(daemon, HERE, player) for player in (ALICE, BOB, CAROL))
        assert (await carol.ask("seek"))["game_id"] is None
        junk = [(await alice.ask("challenge", opponent="bob"))["game_id"] for _ in range(4)]
        met = await bob.ask("seek")
        assert met["error"] is None
        assert await listed(bob) == junk[:3]
        assert await listed(carol) == [met["game_id"]]


async def test_operator_can_pair_a_player_whose_places_are_full_of_challenges() -> None:
    async with house() as (daemon, alice, *_):
        for _ in range(4):
            assert (await alice.ask("challenge", opponent="bob"))["error"] is None
        lobby = daemon.lobby
        assert lobby.room(BOB) == 0
        assert lobby.could_have_room(BOB)
        await lobby.make_room("white", "bob", BOB)
        assert lobby.room(BOB) == 1


async def test_invitations_by_the_server_are_not_cancelled_for_a_challenge() -> None:
    async with house() as (daemon, *_):
        for _ in range(4):
            await daemon.lobby.offer(Offer(ALICE, BOB))
        assert (await From(daemon, HERE, CAROL).ask("challenge", opponent="bob"))["code"] == "not_available"


# --- The listing ----------------------------------------------------------------------------------------------------


async def test_page_shows_one_invitation_of_each_inviter_first_and_the_oldest_first() -> None:
    async with house(max_invitations=50) as (daemon, *_):
        alice, bob, carol = (From(daemon, HERE, player) for player in (ALICE, BOB, CAROL))
        for _ in range(5):
            await alice.ask("new_game", **kept(ALICE, BOB))  # 1 to 5
        await From(daemon, HERE).ask("new_game", **kept(BOB))  # 6
        for _ in range(2):
            await carol.ask("new_game", **kept(CAROL, BOB))  # 7 and 8
        assert await listed(bob, limit=3) == [1, 6, 7]
        assert await listed(bob, limit=5) == [1, 2, 6, 7, 8]
        assert await listed(bob) == [1, 2, 3, 4, 5, 6, 7, 8]
        found, after = [], None
        while True:
            reply = await bob.ask("invitations", limit=3, received_after=after)
            found.append([row["game_id"] for row in reply["received"]])
            if "received_after" not in reply:
                break
            after = reply["received_after"]
        assert found == [[1, 6, 7], [2, 3, 8], [4, 5]]
        assert "received_after" not in await bob.ask("invitations")


async def shown_game(client: Client, *excepted: int) -> int:
    """Return the game that a wait for any game shows."""
    reply = await client.ask("wait", any=True, timeout=0, brief=True, **{"except": excepted})
    game_id: int = reply["game_id"]
    return game_id


async def test_wait_shows_one_invitation_of_each_inviter_first() -> None:
    async with house() as (daemon, _, session, _):
        bob = From(daemon, THERE, BOB)
        alice, carol = From(daemon, HERE, ALICE), From(daemon, THERE, CAROL)
        junk = [(await alice.ask("new_game", **kept(ALICE, BOB)))["game_id"] for _ in range(3)]
        honest = (await carol.ask("new_game", **kept(CAROL, BOB)))["game_id"]
        for game_id in (junk[0], honest, *junk[1:]):
            assert [await shown_game(session), await shown_game(session)] == [game_id] * 2
            assert (await bob.ask("decline", game_id=game_id))["error"] is None


async def test_wait_alternates_between_a_game_and_an_invitation() -> None:
    async with house() as (daemon, _, session, _):
        bob, alice = From(daemon, THERE, BOB), From(daemon, HERE, ALICE)
        junk = [(await alice.ask("new_game", **kept(ALICE, BOB)))["game_id"] for _ in range(3)]
        mine = [(await bob.ask("new_game", **kept(BOB, 7)))["game_id"] for _ in range(2)]
        assert [await shown_game(session) for _ in range(4)] == [mine[0], junk[0], mine[0], junk[0]]
        assert await shown_game(session, mine[0]) == mine[1]
        assert await shown_game(session, junk[0]) == junk[1]
        assert [await shown_game(session, *junk) for _ in range(2)] == [mine[0]] * 2
        assert [await shown_game(session, *mine) for _ in range(2)] == [junk[0]] * 2


@pytest.mark.parametrize("after", ["1", "1.2.3", "\u0661.1", 1])
async def test_invalid_place_in_a_listing_is_refused(after: object) -> None:
    async with house() as (_, _alice, bob, _carol):
        for field in ("received_after", "sent_after"):
            reply = await bob.ask("invitations", **{field: after})
            assert (reply["code"], reply["error"].partition(":")[0]) == ("bad_request", field)


async def test_reconchess_client_sees_one_invitation_of_each_inviter_first() -> None:
    async with house(max_invitations=200, max_invitations_received=500) as (daemon, *_):
        alice, carol = From(daemon, HERE, ALICE), From(daemon, HERE, CAROL)
        for _ in range(110):
            await alice.ask("new_game", **kept(ALICE, BOB), variant="rbc")
        honest = (await carol.ask("new_game", **kept(CAROL, BOB), variant="rbc"))["game_id"]
        await carol.ask("new_game", **kept(CAROL, BOB))
        shown_game = [each.game_id for each in await daemon.lobby.listed(BOB)]
        assert shown_game == [*range(1, 100), honest]


# --- For each address -----------------------------------------------------------------------------------------------


async def test_address_is_limited_in_unanswered_invitations_and_in_invitations_per_minute() -> None:
    async with house(max_invitations_from_address=3) as (daemon, *_):
        alice, carol, nobody = From(daemon, HERE, ALICE), From(daemon, HERE, CAROL), From(daemon, HERE)
        for who, fields in ((alice, kept(ALICE, BOB)), (carol, kept(CAROL, BOB)), (nobody, kept(BOB))):
            assert (await who.ask("new_game", **fields))["error"] is None
        for who, kind, fields in (
            (alice, "challenge", {"opponent": "bob"}),
            (carol, "seek", {}),
            (nobody, "new_game", kept(BOB)),
            (nobody, "game_from_pgn", kept(BOB) | {"pgn": "1. e4"}),
        ):
            assert refused(await who.ask(kind, **fields)) == ("too_many", "max_invitations_from_address")
        assert (await nobody.ask("new_game", **kept(1, 2)))["error"] is None
        assert (await From(daemon, THERE, ALICE).ask("challenge", opponent="bob"))["error"] is None
        assert (await From(daemon, HERE, BOB).ask("accept", game_id=1))["error"] is None
        assert (await nobody.ask("new_game", **kept(BOB)))["error"] is None
    async with house(max_invitations_per_minute=2) as (daemon, *_):
        alice, nobody = From(daemon, HERE, ALICE), From(daemon, HERE)
        assert (await nobody.ask("new_game", **kept(BOB)))["error"] is None
        assert (await alice.ask("challenge", opponent="bob"))["error"] is None
        for who, kind, fields in ((nobody, "new_game", kept(BOB)), (alice, "seek", {})):
            assert refused(await who.ask(kind, **fields)) == ("too_many", "max_invitations_per_minute")


async def test_limits_do_not_apply_to_the_operator() -> None:
    limits = ("max_invitations", "max_invitations_received", "max_invitations_from_address", "max_games_per_hour")
    async with house(**dict.fromkeys(limits, 1)) as (daemon, *_):
        operator = From(daemon, HERE, operator=True)
        for _ in range(3):
            assert (await operator.ask("new_game", **kept(ALICE, BOB), player=ALICE))["error"] is None
            assert (await operator.ask("pair", white="alice", black="bob"))["error"] is None


# --- Expiry ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked_by", [ALICE, CAROL, None])
async def test_game_of_new_game_expires_if_the_invited_player_does_not_come(
    asked_by: int | None, autojump_clock: MockClock
) -> None:
    async with house(kept_seat_timeout=1_000.0) as (daemon, *_):
        made = await From(daemon, HERE, asked_by).ask("new_game", **kept(ALICE, BOB))
        await trio.sleep(999)
        assert [each.lapses for each in daemon.lobby.book.received(BOB)] == [1_000.0]
        assert not (await daemon.arbiter.live_game(made["game_id"])).game.over
        await trio.sleep(2)
        assert (await daemon.arbiter.live_game(made["game_id"])).game.now.ending == Ending(Cause.EXPIRED)
        assert daemon.lobby.book.received(BOB) == daemon.lobby.book.sent(ALICE) == []
        assert len(daemon.lobby.quotas.pending) == len(daemon.lobby.quotas.games) == 0


async def test_game_that_has_begun_or_has_only_open_ids_never_expires(autojump_clock: MockClock) -> None:
    async with house(kept_seat_timeout=10.0) as (daemon, *_):
        await From(daemon, HERE, ALICE).ask("new_game", **kept(ALICE, BOB))
        await From(daemon, HERE, BOB).ask("accept", game_id=1)
        await From(daemon, HERE).ask("new_game", **kept(1, 2))
        await From(daemon, HERE).ask("new_game", player_white=1, player_black=None)
        await trio.sleep(1_000)
        for game_id in (1, 2, 3):
            assert not (await daemon.arbiter.live_game(game_id)).game.over


async def test_invitations_of_older_logs_expire_too_and_the_log_stays_valid(autojump_clock: MockClock) -> None:
    log = MemoryLog()
    async with house(log) as (daemon, *_):
        for white in (7, ALICE):
            options = resolve(terms(variant="standard"), {}, 0, strict=True)
            created = Created(white, BOB, options, "2026-11-21T04:41:00Z", invited=["black"])
            daemon.arbiter.open(make_game(created), [created], None)
    async with house(log, kept_seat_timeout=1_000.0) as (daemon, *_):
        assert len(daemon.lobby.book.received(BOB)) == 2
        assert daemon.lobby.book.out(ALICE) == 1
        await From(daemon, HERE, BOB).ask("accept", game_id=2)
        await trio.sleep(1_001)
        assert daemon.lobby.book.received(BOB) == []
        assert not (await daemon.arbiter.live_game(2)).game.over
        events = await log.load(1)
        assert events[-1] == Ended("expired")
        assert replay(1, events).now.ending == Ending(Cause.EXPIRED)


# --- Over sockets ---------------------------------------------------------------------------------------------------


async def test_limits_hold_for_sessions_of_both_versions() -> None:
    async with running_daemon(max_invitations_from_address=2) as daemon:
        bob, _ = await daemon.authenticator.registry.register("bob", None, None)
        session = Client(await trio.open_tcp_stream("127.0.0.1", daemon.port))
        await session.ask("hello")

        async def asked_singly(kind: str, **fields: object) -> Json:
            client = Client(await trio.open_tcp_stream("127.0.0.1", daemon.port))
            try:
                return await client.ask(kind, **fields)
            finally:
                await client.aclose()

        fields = {"player_white": 7, "player_black": bob.player}
        for ask in (session.ask, asked_singly):
            assert (await ask("new_game", **fields))["error"] is None
        for ask in (session.ask, asked_singly):
            for kind, more in (("new_game", {}), ("game_from_pgn", {"pgn": "1. e4"})):
                reply = await ask(kind, **fields, **more)
                assert refused(reply) == ("too_many", "max_invitations_from_address")
                assert reply["game_id"] is reply["state"] is None
            assert (await ask("new_game", player_white=1, player_black=2))["error"] is None
        await session.aclose()
