"""Notes of games: neither repeating them nor another order of them changes what the lobby makes of the games."""

from __future__ import annotations

from collections import Counter
from typing import Any

import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from gm_protocol.messages import NewGame
from gm_protocol.state import Color
from gmd.arbiter import Arbiter
from gmd.cluster.directory import Peer
from gmd.cluster.links import Links
from gmd.cluster.lobby.messages import SeatsChanged, Turned
from gmd.cluster.lobby.news import News
from gmd.event_log.memory import MemoryLog
from gmd.games.events import AnyEvent, Created, Ended, Joined, Moved
from gmd.games.game import Game
from gmd.games.game_note import GameNote, TurnNote, note_of, turn_note_of
from gmd.games.setup import resolve
from gmd.games.variants import make_game
from gmd.lobby.book import Book
from gmd.players.account import FIRST_PLAYER
from tests.cluster.static_directory import ClusterMap, StaticDirectory

ALICE, BOB, CAROL = FIRST_PLAYER, FIRST_PLAYER + 1, FIRST_PLAYER + 2
PLAYERS = (ALICE, BOB, CAROL)
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")
ME, OTHER = 1, 2

Note = SeatsChanged | Turned


class Consumers:
    """What listens to the news: the index of invitations, the turns of players, and counts of what was announced."""

    def __init__(self) -> None:
        directory = StaticDirectory(ClusterMap({ME: Peer("a:1", "a:2")}), ME)
        self.arbiter = Arbiter(MemoryLog(), 60.0, 60.0)
        self.news = News(self.arbiter, Links(directory, b"", _nobody), ME)
        self.news.open()
        self.book = Book()
        self.begun, self.over = Counter[int](), Counter[int]()
        self.news.feed.when_seats_change(self.book.note)
        self.news.feed.when_begun(lambda game: self.begun.update([game.id]))
        self.news.feed.when_over(lambda game: self.over.update([game.id]))

    async def take(self, notes: list[Note]) -> None:
        for player in PLAYERS:
            await self.arbiter.turns.next_due(player, ())  # from now on its turns are kept
        for note in notes:
            self.news.take(note, OTHER)

    async def facts(self) -> Any:
        """Return all that can be seen of what was taken in."""
        due = {player: await self._due(player) for player in PLAYERS}
        book = self.book
        lists = {
            player: (
                [each.game_id for each in book.received(player)],
                [each.game_id for each in book.sent(player)],
                sorted(each.game_id for each in book.accepted(player)),
                book.in_hand(player),
                book.out(player),
            )
            for player in PLAYERS
        }
        return due, lists, self.over, self.news.unfinished()

    async def _due(self, player: int) -> set[int]:
        found: set[int] = set()
        while (game_id := await self.arbiter.turns.next_due(player, found)) is not None:
            found.add(game_id)
        return found


async def _nobody(daemon: int) -> trio.abc.Stream:
    raise OSError("nobody listens")


def notes_of(game_id: int, white: int, black: int, invited: list[Color], steps: list[str]) -> list[Note]:
    """Return the notes of a game, in their order, as its owner sends them."""
    options = resolve(NewGame(player_white=None, player_black=None), {}, 0, strict=True)
    created = Created(white, black, options, "", invited=invited, lapses=60.0 if invited else None)
    game = make_game(created)
    game.id, version = game_id, 1
    notes: list[Note] = [SeatsChanged(note_of(game, version))]
    for step in steps:
        events = _events(game, step)
        for event in events:
            game.apply(event)
        version += len(events)
        if events:
            notes.append(Turned(turn_note_of(game, version)))
            if not isinstance(events[-1], Moved):
                notes.append(SeatsChanged(note_of(game, version)))
    return notes


def _events(game: Game, step: str) -> list[AnyEvent]:
    if game.over:
        return []
    if step == "join":
        free = [side for side in (True, False) if game.players[side] is None]
        return [Joined("white" if side else "black", game.named[side] or ALICE) for side in free[:1]]
    if step == "end":
        return [Ended("resignation_white" if game.begun else "declined", seat="white")]
    return [Moved(SHUFFLE[game.now.ply % 4])] if game.begun else []


parties = st.permutations(PLAYERS).map(lambda order: (order[0], order[1]))
games = st.lists(
    st.tuples(
        parties,
        st.sampled_from([[], ["white"], ["black"], ["white", "black"]]),
        st.lists(st.sampled_from(["join", "move", "end"]), max_size=6),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=200)
@given(games, st.data())
def test_repeated_and_reordered_notes_change_nothing(drawn: list[Any], data: st.DataObject) -> None:
    each = [
        notes_of(number, white, black, invited, steps)
        for number, ((white, black), invited, steps) in enumerate(drawn, 1)
    ]
    ordered = [note for notes in each for note in notes]
    repeated = ordered + data.draw(st.lists(st.sampled_from(ordered), max_size=10))
    mixed = data.draw(st.permutations(repeated))

    async def main() -> None:
        first, other = Consumers(), Consumers()
        await first.take(ordered)
        await other.take(mixed)
        assert await other.facts() == await first.facts()
        assert max((*first.over.values(), *other.over.values(), *first.begun.values()), default=1) == 1

    trio.run(main)


@settings(max_examples=100)
@given(games)
def test_notes_come_back_from_a_link_as_they_were(drawn: list[Any]) -> None:
    import msgspec

    for number, ((white, black), invited, steps) in enumerate(drawn, 1):
        for note in notes_of(number, white, black, invited, steps):
            assert msgspec.msgpack.decode(msgspec.msgpack.encode(note), type=type(note)) == note
            assert isinstance(note.game, GameNote | TurnNote)
