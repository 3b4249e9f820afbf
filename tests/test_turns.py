"""The games in which a player is to act, the longest due first, compared with a model that looks through all games."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.messages import NewGame
from gm_protocol.state import Color
from gmd.event_log.memory import MemoryLog
from gmd.games.chess import ChessGame
from gmd.games.commands import Join
from gmd.games.events import AnyEvent, Created, Ended, Moved
from gmd.games.variants import make_game, resolve
from gmd.play import turns as turns_module
from gmd.play.live_games import LiveGame
from gmd.play.turns import Turns

PLAYERS = (1, 2, 3)
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")


class World:
    """Games in a log, and the requests about them."""

    def __init__(self) -> None:
        self.log = MemoryLog()
        self.turns = Turns(self.log)
        self.live_games: list[LiveGame] = []

    def begin(self, white: int | None, black: int | None, *invited: Color) -> None:
        options = resolve(NewGame(player_white=0, player_black=0), {}, 0, strict=True)
        created = Created(white, black, options, "", invited=list(invited))
        game = make_game(created)
        game.id = self.log.next_game_id()
        self.live_games.append(LiveGame(game, 0, 0.0))
        self.log_events(self.live_games[-1], created)

    def happen(self, live: LiveGame, event: AnyEvent) -> None:
        live.game.apply(event)
        self.log_events(live, event)

    def log_events(self, live: LiveGame, event: AnyEvent) -> None:
        self.log.append(live.game.id, live.seq, [event], live.game.summary)
        live.seq += 1
        self.turns.update(live.game)


class Model:
    """A model that looks through all games: since when each seat has been due, and which results no player has been
    shown.
    """

    def __init__(self) -> None:
        self.since: dict[tuple[int, int], int] = {}  # (player, game) that is due, to the moment it became so
        self.now = 0

    def update(self, game: ChessGame) -> None:
        self.now += 1
        for player in PLAYERS:
            self.since.pop((player, game.id), None)
            seats = game.seats(player)
            waits = game.turn in seats if None not in game.players else is_invited(game, player)
            if seats if game.over else waits:
                self.since[player, game.id] = self.now

    def shown(self, player: int, game: ChessGame) -> None:
        if game.over:
            self.since.pop((player, game.id), None)

    def longest_due(self, player: int, without: set[int]) -> int | None:
        due = [(since, game_id) for (who, game_id), since in self.since.items() if who == player]
        return min(((since, game_id) for since, game_id in due if game_id not in without), default=(0, None))[1]


def is_invited(game: ChessGame, player: int) -> bool:
    """Return whether a seat is kept for a player."""
    return any(game.named[color] == player and game.players[color] is None for color in (False, True))


seats = st.sampled_from(
    [
        *[(1, 2), (2, 1), (1, 1), (2, 3), (3, None), (None, 1), (None, None)],
        *[(1, 2, "white"), (3, 3, "white", "black"), (None, 2, "black")],
    ]
)
someone = st.tuples(st.sampled_from(PLAYERS), st.just(0))
acts = st.lists(
    st.one_of(
        st.tuples(st.just("new"), seats, st.just(0)),
        st.tuples(st.just("move"), st.just((0, 0)), st.integers(0, 6)),
        st.tuples(st.just("end"), st.just((0, 0)), st.integers(0, 6)),
        st.tuples(st.just("show"), someone, st.integers(0, 6)),
        st.tuples(st.just("join"), someone, st.integers(0, 6)),
        st.tuples(st.just("ask"), someone, st.just(0)),
    ),
    max_size=40,
)


@given(acts, st.sets(st.integers(1, 4)))
def test_longest_due_game_matches_the_model_whenever_a_player_first_asks(
    taken: list[tuple[str, tuple[Any, ...], int]], without: set[int]
) -> None:
    async def main() -> None:
        world, model = World(), Model()
        for what, who, which in taken:
            if what == "new":
                world.begin(*who)
                model.update(world.live_games[-1].game)
            elif what == "ask":
                assert await world.turns.next_due(who[0], without) == model.longest_due(who[0], without)
            elif world.live_games:
                live = world.live_games[which % len(world.live_games)]
                if what == "join":
                    join(live, who[0], world, model)
                elif what != "show":
                    go_on(live, world, model, ends=what == "end")
                elif live.game.over:
                    world.turns.knows(who[0], live)
                    model.shown(who[0], live.game)
        for player in PLAYERS:
            assert await world.turns.next_due(player, without) == model.longest_due(player, without)

    trio.run(main)


def join(live: LiveGame, player: int, world: World, model: Model) -> None:
    for event in live.game.decide(Join(player), 0.0).events:
        world.happen(live, event)
        model.update(live.game)


def go_on(live: LiveGame, world: World, model: Model, *, ends: bool) -> None:
    if not live.game.over:
        resigned = Ended("resignation_white", seat="white", asked="resignation_white")
        world.happen(live, resigned if ends else Moved(SHUFFLE[live.game.now.ply % 4]))
        model.update(live.game)


async def test_player_with_too_many_games_to_keep_still_gets_the_longest_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "MAX_GAMES", 3)
    world = World()
    assert await world.turns.next_due(1, ()) is None
    for _ in range(10):
        world.begin(1, 2)
    assert await world.turns.next_due(1, ()) == 1
    assert await world.turns.next_due(1, range(10)) == 10


async def test_player_evicted_from_memory_is_looked_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "MAX_PLAYERS", 1)
    world = World()
    for player in (1, 2, 1):
        assert await world.turns.next_due(player, ()) is None
    world.begin(2, 1)
    assert await world.turns.next_due(2, ()) == 1
    assert await world.turns.next_due(1, ()) is None


async def test_open_game_is_due_for_no_player() -> None:
    world = World()
    world.begin(None, None)
    assert await world.turns.next_due(1, ()) is None
