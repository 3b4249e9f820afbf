"""An event log in memory, which ends with the process: for tests and embedding."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import chess
import trio

from gm_protocol.endings import read_ending, result_of
from gm_protocol.errors import GmError
from gm_protocol.messages import GameRow
from gm_protocol.state import side_of
from gmd.event_log.interface import (
    Deadline,
    GameQuery,
    Playing,
    Pruned,
    Ranked,
    RankedResult,
    SequenceConflict,
    TokenUse,
    Unanswered,
)
from gmd.event_log.rows import has_registered, ranked_result, seating_of, status_of, versions_of
from gmd.event_log.utc import write_time
from gmd.games.events import AnyEvent, Created, Joined
from gmd.games.game import GameSummary

#: Games that a listing reads before it lets other tasks run: some hundred microseconds.
GAMES_A_STEP = 1_000
#: Games removed in one step of pruning.
PRUNED_A_STEP = 100


class Durable:
    """A commit that is durable at once."""

    done = True

    def then(self, callback: Callable[[GmError | None], None]) -> None:
        callback(None)

    async def wait(self) -> None:
        return


_DURABLE = Durable()


@dataclass(slots=True)
class _Logged:
    """A game with its events and summary. ``changed`` is the start of its turn, or its end, counted in appends."""

    created: Created
    summary: Callable[[], GameSummary]
    events: list[AnyEvent] = field(default_factory=list)
    changed: int = 0
    #: The time of ``changed``, in seconds since 1970.
    changed_at: float = 0.0
    delivered: set[chess.Color] = field(default_factory=set)
    token: TokenUse | None = None
    #: When pruning first found it over, in trio's time: reading the clock at every move would cost more.
    ended: float | None = None

    @property
    def players(self) -> tuple[int | None, int | None]:
        seating = seating_of(self.created, self.summary())
        return seating.white, seating.black

    @property
    def unanswered(self) -> bool:
        """Whether it waits for a seat to be taken, or for a seat's first contact."""
        summary = self.summary()
        status = status_of(summary)
        awaits_contact = self.created.options.clock is not None and summary.seconds_left is None
        return status == "open" or (status == "live" and awaits_contact)

    @property
    def ranked_result(self) -> RankedResult | None:
        """The result for ratings; None if it has none."""
        return ranked_result(self.created, read_ending(self.summary().termination))

    def row(self, game_id: int) -> GameRow:
        """Return its row in a listing."""
        summary = self.summary()
        seating = seating_of(self.created, summary)
        return GameRow(
            game_id=game_id,
            variant=self.created.options.variant,
            player_white=seating.white,
            player_black=seating.black,
            status=status_of(summary),
            turn=summary.turn,
            ply_index=summary.ply_index,
            termination=summary.termination,
            result=result_of(read_ending(summary.termination)),
            created=self.created.created,
            changed=write_time(self.changed_at),
        )

    def waits_for(self, player: int) -> bool:
        """Return whether the game waits for a player to act, or to be shown the end."""
        summary = self.summary()
        seating = seating_of(self.created, summary)
        named, taken = (seating.black, seating.white), (seating.black_taken, seating.white_taken)
        if summary.over:
            return any(named[seat] == player and taken[seat] and seat not in self.delivered for seat in chess.COLORS)
        if seating.complete:
            return named[side_of(summary.turn)] == player
        return any(named[seat] == player and not taken[seat] for seat in chess.COLORS)


class MemoryLog:
    """An event log in lists."""

    database = None
    failure = None

    def __init__(self) -> None:
        self._games: dict[int, _Logged] = {}
        self._tokens: dict[tuple[int | None, bytes], tuple[int, bytes]] = {}
        self._played_by: dict[int | None, dict[int, None]] = {}
        self._last_id = 0
        self._appends = count(1)

    async def run(self) -> None:
        """Return at once: every append is durable already."""

    def stop(self) -> None:
        """Do nothing: nothing runs."""

    def next_game_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def append(
        self,
        game_id: int,
        expected_seq: int,
        events: Sequence[AnyEvent],
        summary: Callable[[], GameSummary],
        token: TokenUse | None = None,
    ) -> Durable:
        game = self._games.get(game_id)
        logged = 0 if game is None else len(game.events)
        if logged != expected_seq:
            raise SequenceConflict(game_id, expected_seq, logged)
        if game is None:
            game = self._begin(game_id, events[0], summary)
        game.events.extend(events)
        game.summary = summary
        last = events[-1]
        if not last.keeps_turn:
            game.changed, game.changed_at = next(self._appends), time.time()
            if type(last) is Joined:  # always the only event of its append
                self._add_game(last.player, game_id)
        if token is not None:
            game.token = token
            self._tokens[token.player, token.token] = (game_id, token.content)
        return _DURABLE

    def result_delivered(self, game_id: int, seat: chess.Color) -> None:
        if (game := self._games.get(game_id)) is not None:
            game.delivered.add(seat)

    async def prune(self, seconds: float) -> list[Pruned]:
        """Remove games as the interface says; a game counts as ended from the first call that finds it over."""
        now = trio.current_time()
        pruned: list[Pruned] = []
        for looked_at, (game_id, game) in enumerate(list(self._games.items()), 1):
            if game_id not in self._games:
                continue  # another call removed it
            if game.ended is None and game.summary().over:
                game.ended = now
            if game.ended is not None and game.ended <= now - seconds:
                self._remove(game_id, game)
                pruned.append(Pruned(game_id, game.players, game.ranked_result))
                if len(pruned) == PRUNED_A_STEP:
                    break
            if looked_at % GAMES_A_STEP == 0:
                await trio.lowlevel.checkpoint()
        return pruned

    def _remove(self, game_id: int, game: _Logged) -> None:
        del self._games[game_id]
        for player in set(game.players) - {None}:
            del self._played_by[player][game_id]
        if game.token is not None:
            self._tokens.pop((game.token.player, game.token.token), None)

    async def load(self, game_id: int) -> list[AnyEvent]:
        game = self._games.get(game_id)
        return [] if game is None else list(game.events)

    async def made_under(self, player: int | None, token: bytes, peer: str = "") -> tuple[int, bytes] | None:
        return self._tokens.get((player, token))

    async def rows(self, query: GameQuery, peer: str = "") -> list[GameRow]:
        found: list[GameRow] = []
        for looked_at, game_id in enumerate(self._newest_first(query), 1):
            game = self._games.get(game_id)
            if game is not None and _matches(row := game.row(game_id), query):
                found.append(row)
                if len(found) == query.limit:
                    break
            if looked_at % GAMES_A_STEP == 0:
                await trio.lowlevel.checkpoint()
        return found

    async def deadlines(self) -> list[Deadline]:
        return [
            Deadline(game_id, summary.seconds_left)
            for game_id, game in self._games.items()
            if game.created.options.clock is not None and status_of(summary := game.summary()) == "live"
        ]

    async def playing(self) -> list[Playing]:
        return [
            Playing(game_id, *game.players)
            for game_id, game in self._games.items()
            if status_of(game.summary()) == "live" and has_registered(*game.players)
        ]

    async def unanswered(self) -> list[Unanswered]:
        return [
            Unanswered(game_id, list(game.events))
            for game_id, game in self._games.items()
            if game.unanswered and has_registered(*game.players)
        ]

    async def ranked(self) -> Ranked:
        results = [result for game in self._games.values() if (result := game.ranked_result) is not None]
        on = [
            Playing(game_id, *game.players)
            for game_id, game in self._games.items()
            if versions_of(game.created)["white_version"] is not None and status_of(game.summary()) != "over"
        ]
        return Ranked(results, on)

    async def live_games(self) -> int:
        return sum(not game.summary().over for game in self._games.values())

    async def due(self, player: int, peer: str = "") -> list[int]:
        game_ids = [game_id for game_id in self._of(player) if self._games[game_id].waits_for(player)]
        return sorted(game_ids, key=lambda game_id: self._games[game_id].changed)

    def _begin(self, game_id: int, created: AnyEvent, summary: Callable[[], GameSummary]) -> _Logged:
        assert isinstance(created, Created)
        game = self._games[game_id] = _Logged(created, summary)
        for player in game.players:
            self._add_game(player, game_id)
        return game

    def _add_game(self, player: int | None, game_id: int) -> None:
        if player is None:
            return
        game_ids = self._played_by.setdefault(player, {})
        is_latest = not game_ids or next(reversed(game_ids)) <= game_id
        game_ids[game_id] = None
        if not is_latest:  # somebody has joined an older game
            self._played_by[player] = dict.fromkeys(sorted(game_ids))

    def _of(self, player: int | None) -> list[int]:
        return list(self._played_by.get(player, ()))

    def _newest_first(self, query: GameQuery) -> Iterator[int]:
        newest = self._last_id if query.before is None else min(query.before - 1, self._last_id)
        if query.player is None:
            return iter(range(newest, 0, -1))
        return _below(reversed(self._of(query.player)), newest)


def _below(game_ids: Iterable[int], newest: int) -> Iterator[int]:
    return (game_id for game_id in game_ids if game_id <= newest)


def _matches(row: GameRow, query: GameQuery) -> bool:
    return query.status in (None, row.status) and query.variant in (None, row.variant)
