"""Invitations match a model after any sequence of actions, with restarts in between."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import chess
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from gm_protocol.endings import Cause
from gm_protocol.errors import GmError
from gm_protocol.messages import ClockOption
from gmd.event_log.memory import MemoryLog
from gmd.games.commands import End
from gmd.games.game_note import note_of
from gmd.games.replay import replay
from gmd.lobby.invitation import Offer, status_of, terms
from tests.lobbying import ALICE, BOB, CAROL, House, house

PLAYERS = (ALICE, BOB, CAROL)
#: Seconds until an invitation expires, which no sum of sleeps equals; clocks and the start timeout are far longer.
LIFE = 95.0
LONG = 1_000_000.0
PLAYED = terms(clock=ClockOption(initial=LONG))


@dataclass
class Modelled:
    """An invitation in the model."""

    seats: tuple[int, int]
    invited: frozenset[int]
    born: float
    status: str = "pending"
    seated: set[int] = field(default_factory=set)
    contacted: set[int] = field(default_factory=set)

    def accept(self, player: int) -> str | None:
        """Return the code of the refusal, or None."""
        if player not in self.invited:
            return "not_available"
        if player in self.seated:
            return None
        if self.status != "pending":
            return "game_over"
        self.seated.add(player)
        if len(self.seated) == 2:
            self.status = "accepted"
        return None

    def decline(self, player: int) -> str | None:
        if player not in self.seats:
            return "not_a_player"
        if self.status in ("declined", "withdrawn", "expired"):
            return None
        if self.status != "pending":
            return "game_over" if self.status == "finished" else "not_available"
        self.status = "withdrawn" if player in self.seated else "declined"
        return None

    def finish(self, player: int) -> str | None:
        if player not in self.invited or player not in self.seated:
            return "not_available"
        if self.status in ("pending", "accepted"):
            self.contacted.add(player)
        return None

    def resign(self, player: int) -> str | None:
        if self.status not in ("pending", "accepted"):
            return "game_over"
        self.status = "finished"
        return None

    def listed_for(self, player: int) -> bool:
        if player not in self.invited or self.status not in ("pending", "accepted"):
            return False
        return player not in self.seated or player not in self.contacted


class Both:
    """The lobby and the model, which get the same actions."""

    def __init__(self) -> None:
        self.log = MemoryLog()
        self.modelled: dict[int, Modelled] = {}

    async def play(self, actions: list[tuple[Any, ...]]) -> None:
        """Execute all actions; a restart starts another daemon on the same log."""
        left = list(actions)
        while left:
            async with house(self.log, invitation_timeout=LIFE, start_timeout=LONG, max_invitations=100) as there:
                for each in self.modelled.values():
                    each.born = trio.current_time()
                for player in PLAYERS:
                    await there.daemon.authenticator.registry.set(player, max_games=100)
                await self.compare(there)
                while left and (action := left.pop(0)) != ("restart",):
                    await self.act(there, *action)
                    await self.compare(there)

    async def act(self, there: House, what: str, *arguments: Any) -> None:
        if what == "sleep":
            await trio.sleep(arguments[0])
        elif what in ("invite", "offer"):
            await self.make(there, what, *arguments)
        elif self.modelled:
            game_id, player = arguments[0] % len(self.modelled) + 1, arguments[1]
            if what != "resign" or player in self.modelled[game_id].seated:
                self.expire()
                expected = getattr(self.modelled[game_id], what)(player)
                assert await self.code_of(there, what, game_id, player) == expected

    async def make(self, there: House, what: str, white: int, black: int) -> None:
        lobby = there.daemon.lobby
        if what == "invite":
            live = await lobby.invite(white, black, chess.WHITE, PLAYED)
        else:
            live = await lobby.offer(Offer(white, black, terms=PLAYED))
        seated = {white} if what == "invite" else set()
        invited = frozenset({white, black} - seated)
        self.modelled[live.game.id] = Modelled((white, black), invited, trio.current_time(), seated=seated)

    async def code_of(self, there: House, what: str, game_id: int, player: int) -> str | None:
        lobby, now = there.daemon.lobby, trio.current_time()
        try:
            if what == "resign":
                live = await there.daemon.arbiter.live_game(game_id)
                seat = live.game.seats(player)[0]
                decision = there.daemon.arbiter.act(live, End(seat, Cause.RESIGNATION), now)
                return None if decision.refusal is None else decision.refusal.code
            await getattr(lobby, what)(game_id, player, now)
        except GmError as error:
            return error.code
        return None

    def expire(self) -> None:
        for each in self.modelled.values():
            if each.status == "pending" and each.born + LIFE <= trio.current_time():
                each.status = "expired"

    async def compare(self, there: House) -> None:
        self.expire()
        lobby = there.daemon.lobby
        for game_id, modelled in self.modelled.items():
            game = (await there.daemon.arbiter.live_game(game_id)).game
            assert status_of(note_of(game)) == modelled.status
            assert {player for player in game.players if player is not None} == modelled.seated
        for player in PLAYERS:
            mine = {game_id: each for game_id, each in self.modelled.items() if player in each.seats}
            pending = {game_id: each for game_id, each in mine.items() if each.status == "pending"}
            on = [each for each in mine.values() if each.status in ("pending", "accepted")]
            received = [game_id for game_id, each in pending.items() if player not in each.seated]
            assert [each.game_id for each in lobby.book.received(player)] == received
            assert [each.game_id for each in lobby.book.sent(player)] == [i for i in pending if i not in received]
            listed = [game_id for game_id, each in mine.items() if each.listed_for(player)]
            assert [each.game_id for each in await lobby.listed(player)] == listed
            assert lobby.room(player) == 100 - len(on)
        for game_id in self.modelled:  # the log contains only what the rules allow
            replay(game_id, await self.log.load(game_id))


pairs = st.permutations(PLAYERS).map(lambda players: players[:2])
games_and_players = st.tuples(st.integers(0, 5), st.sampled_from(PLAYERS))
actions = st.one_of(
    st.tuples(st.sampled_from(["invite", "offer"]), pairs).map(lambda both: (both[0], *both[1])),
    st.tuples(st.sampled_from(["accept", "decline", "finish", "resign", "accept"]), games_and_players).map(
        lambda both: (both[0], *both[1])
    ),
    st.tuples(st.just("sleep"), st.sampled_from([10.0, 60.0])),
    st.just(("restart",)),
)


@pytest.mark.slow
@given(st.lists(actions, min_size=1, max_size=25))
def test_invitations_match_the_model_after_any_sequence_of_actions(acted: list[tuple[Any, ...]]) -> None:
    trio.run(Both().play, acted, clock=MockClock(autojump_threshold=0))
