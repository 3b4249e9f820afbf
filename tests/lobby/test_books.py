"""The books of all limits match the games after any sequence of actions, even after restarts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from gmd.event_log.memory import MemoryLog
from gmd.games.game import Game
from gmd.games.game_note import note_of
from gmd.lobby.invitation import ANYBODY, Offer, counts_in_hand, inviter_of
from gmd.net.addresses import source_of
from gmd.players.account import is_registered
from tests.lobbying import ALICE, BOB, CAROL, HERE, THERE, From, House, house

PLAYERS = (ALICE, BOB, CAROL)
#: Small enough to be reached: 3 unanswered invitations of a player, 4 in an inbox, 5 games and 4 invitations of an
#: address.
LIMITS = {
    "max_invitations": 3,
    "max_invitations_received": 4,
    "max_invitations_from_address": 4,
    "max_unfinished_games": 5,
    "invitation_timeout": 50.0,
    "kept_seat_timeout": 90.0,
}


class Ledger:
    """Executes a sequence of actions, and after each compares every book with the games in the log."""

    def __init__(self) -> None:
        self.log = MemoryLog()
        #: The address from which each game since the last start was made.
        self.sources: dict[int, str] = {}
        self.refused: Counter[str] = Counter()

    async def play(self, actions: list[tuple[Any, ...]]) -> None:
        left = list(actions)
        while left:
            self.sources.clear()
            async with house(self.log, **LIMITS) as there:
                await self.compare(there)
                while left and (action := left.pop(0)) != ("restart",):
                    await getattr(self, action[0])(there, *action[1:])
                    await wait_all_tasks_blocked()
                    await self.compare(there)

    async def new_game(self, there: House, peer: str, asked_by: int | None, white: int | None, black: int) -> None:
        fields = {"player_white": white, "player_black": black, "brief": True}
        self.made(await From(there.daemon, peer, asked_by).ask("new_game", **fields), peer)

    async def challenge(self, there: House, peer: str, inviter: int, opponent: int) -> None:
        self.made(await From(there.daemon, peer, inviter).ask("challenge", opponent=opponent, brief=True), peer)

    async def seek(self, there: House, peer: str, player: int) -> None:
        self.made(await From(there.daemon, peer, player).ask("seek", brief=True), peer)

    async def offer(self, there: House, _peer: str, white: int, black: int) -> None:
        if white != black:
            await there.daemon.lobby.offer(Offer(white, black))

    def made(self, reply: dict[str, Any], peer: str) -> None:
        if reply["error"] is not None:
            self.refused[reply["code"]] += 1
        elif reply["game_id"] is not None:
            self.sources[reply["game_id"]] = peer

    async def answer(self, there: House, kind: str, number: int, player: int) -> None:
        newest = self.log.next_game_id()  # the id stays unused
        fields = {"termination": "resignation_white"} if kind == "end_game" else {}
        await From(there.daemon, HERE, player).ask(kind, game_id=max(1, newest - number), **fields)

    async def revoke(self, there: House, player: int) -> None:
        await From(there.daemon, HERE, operator=True).ask("revoke", player=player)

    async def sleep(self, _there: House, seconds: float) -> None:
        await trio.sleep(seconds)

    async def games(self, there: House) -> list[Game]:
        rows = await From(there.daemon, HERE).ask("games")
        return [(await there.daemon.arbiter.live_game(row["game_id"])).game for row in rows["games"]]

    async def compare(self, there: House) -> None:
        lobby, games = there.daemon.lobby, await self.games(there)
        pending = [game for game in games if not game.over and not game.begun]
        invitations = [game for game in pending if game.created.invited]
        out = Counter(inviter_of(game.created) for game in invitations)
        for player in PLAYERS:
            waiting = [game for game in pending if is_registered(player) and note_of(game).waits_unbegun(player)]
            inbox = lobby.book.inbox(player)
            assert sorted(inbox.shown) == sorted(game.id for game in waiting)
            assert len(inbox) == len(waiting)
            of_each = Counter(inviter_of(game.created) for game in waiting)
            assert {inviter: inbox.count(inviter) for inviter in (None, ANYBODY, *PLAYERS)} == {
                inviter: of_each[inviter] for inviter in (None, ANYBODY, *PLAYERS)
            }
            hand = [game for game in games if player in game.named and not game.over]
            assert lobby.book.in_hand(player) == sum(game.begun or counts_in_hand(game.created) for game in hand)
            assert lobby.book.out(player) == out[player] <= 3
            assert sum(inviter_of(game.created) is not None for game in waiting) <= 4
        for peer in (HERE, THERE):
            mine = [game for game in games if self.sources.get(game.id) == peer and not game.over]
            assert lobby.quotas.games.size(peer) == len(mine) <= 5
            held = [game for game in mine if game.created.invited and not game.begun]
            assert lobby.quotas.pending.size(peer) == len(held) <= 4
        assert source_of(HERE) != source_of(THERE)


players = st.sampled_from(PLAYERS)
peers = st.sampled_from([HERE, THERE])
actions = st.one_of(
    st.tuples(
        st.just("new_game"), peers, st.sampled_from([*PLAYERS, None]), st.sampled_from([*PLAYERS, 7, None]), players
    ),
    st.tuples(st.sampled_from(["challenge", "offer"]), peers, players, players),
    st.tuples(st.just("seek"), peers, players),
    st.tuples(
        st.just("answer"), st.sampled_from(["accept", "decline", "join", "end_game"]), st.integers(1, 9), players
    ),
    st.tuples(st.just("revoke"), players),
    st.tuples(st.just("sleep"), st.sampled_from([20.0, 60.0])),
    st.just(("restart",)),
)


@pytest.mark.slow
@given(st.lists(actions, min_size=1, max_size=25))
def test_books_match_the_games_after_any_sequence_of_actions(acted: list[tuple[Any, ...]]) -> None:
    trio.run(Ledger().play, acted, clock=MockClock(autojump_threshold=0))
