"""Takes in, at the lobby's owner, what the owners of games report: each change once, and those of a game in order."""

from __future__ import annotations

from collections import OrderedDict

from gmd.arbiter import Arbiter
from gmd.cluster.links import Links
from gmd.game_feed import GameFeed
from gmd.games.game_note import GameNote, TurnNote

from .messages import CalledOff, Ready, SeatsChanged, Turned

#: Games that are over and remembered, so that older notes of them are known as such; about 10 MB.
MAX_OVER = 100_000
#: Notes that are kept while the lobby is started. More are dropped: the log is read again.
MAX_KEPT = 100_000

_Note = SeatsChanged | CalledOff | Ready | Turned


class _Known:
    """What was reported of a game that is not over.

    :ivar seats: the version of the last note of its seats.
    :ivar turn: the version of the last note of its turn.
    :ivar with_result: players who have its result: their own daemons reported it before its owner reported its end.
    """

    __slots__ = ("begun", "seats", "turn", "with_result")

    def __init__(self) -> None:
        self.seats = self.turn = -1
        self.begun = False
        self.with_result: tuple[int, ...] = ()


class News:
    """The feed of all games of the cluster.

    A note of a game is taken in if its version is higher than that of the note before; so repeated notes, and those of
    two owners of a game that come in another order, change nothing.

    :ivar feed: what the lobby's services listen to.
    """

    def __init__(self, arbiter: Arbiter, links: Links, me: int) -> None:
        self.feed = GameFeed()
        self._arbiter = arbiter
        self._me = me
        self._is_open = False
        self._kept: list[_Note] = []
        self._dropped = False  # whether there were more to keep
        self._known: dict[int, _Known] = {}
        self._over: OrderedDict[int, None] = OrderedDict()
        links.on_note(SeatsChanged, self.take)
        links.on_note(CalledOff, self.take)
        links.on_note(Ready, self.take)
        links.on_note(Turned, self.take)

    def close(self) -> None:
        """Keep notes from now on, until :meth:`open`: the log is about to be read. Forget all games."""
        self._is_open = False
        self._kept.clear()
        self._dropped = False
        self._known.clear()
        self._over.clear()

    def open(self) -> set[int] | None:
        """Take in notes at once from now on. Return the games of which notes came before: their state is in the log.

        :returns: their ids; None if notes were dropped, so that it may be any games.
        """
        self._is_open = True
        kept, self._kept = self._kept, []
        for note in kept:
            if isinstance(note, CalledOff | Ready):
                self._publish(note, own=False)
        return None if self._dropped else {note.game.id for note in kept}

    def unfinished(self) -> set[int]:
        """Return the games that are not over, as far as they were reported."""
        return set(self._known)

    def forget(self, game_id: int) -> None:
        """Forget a game's state, so that its next note is taken in."""
        self._known.pop(game_id, None)

    def has_result(self, game_id: int, player: int) -> None:
        """Note that a player has the result of a game, whose end may not have been reported."""
        known = self._known.get(game_id)
        if known is not None and player not in known.with_result:
            known.with_result = (*known.with_result, player)

    def take_game(self, game: GameNote, *, own: bool = False) -> None:
        """Take in a game, from its owner or read from the log.

        :param own: whether it is this daemon's, whose arbiter has noted the turn itself.
        """
        if game.id in self._over:
            return
        known = self._known.setdefault(game.id, _Known())
        if game.over:
            del self._known[game.id]
            self._over[game.id] = None
            if len(self._over) > MAX_OVER:
                self._over.popitem(last=False)
        self._take_turn(game, known, own=own)
        if game.version > known.seats:
            known.seats, was_begun, known.begun = game.version, known.begun, game.begun
            self.feed.seats_changed(game, began=game.begun and not was_begun, ended=game.over)

    def take(self, note: _Note, daemon: int) -> None:
        """Take in a note of a daemon, now or when the lobby has been started."""
        if self._is_open:
            self._publish(note, own=daemon == self._me)
        elif len(self._kept) < MAX_KEPT:
            self._kept.append(note)
        else:
            self._dropped = True

    def _publish(self, note: _Note, *, own: bool) -> None:
        match note:
            case SeatsChanged():
                self.take_game(note.game, own=own)
            case Turned():
                if note.game.id not in self._over:
                    self._take_turn(note.game, self._known.setdefault(note.game.id, _Known()), own=own)
            case CalledOff():
                self.feed.called_off(note.game, note.player)
            case Ready():
                if note.game.id not in self._over:
                    self.feed.ready(note.game, note.player)

    def _take_turn(self, turn: TurnNote, known: _Known, *, own: bool) -> None:
        """Update the games due to players, and wake those who wait for any game."""
        if turn.version > known.turn:
            known.turn = turn.version
            if not own:
                self._arbiter.turns.update(turn)
                self._arbiter.turns.forget(turn.id, known.with_result)
                self._arbiter.watchers.notify(turn.id, turn.named)
