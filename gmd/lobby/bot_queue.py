"""The games that wait for a place with the daemon's bots, and those that have one, in turns by address and player."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Mapping
from operator import itemgetter
from typing import NamedTuple


class BotGame(NamedTuple):
    """A bot's part in a game.

    :ivar player: the bot's id.
    :ivar opponent: who plays against it; None for anybody.
    :ivar source: the address that made the game, as :func:`gmd.net.addresses.source_of` returns it; empty if unknown,
        as after a restart: then the opponent stands for it.
    """

    player: int
    game_id: int
    opponent: int | None
    source: str

    @property
    def key(self) -> tuple[int, int]:
        """The ids of bot and game: two bots may play each other."""
        return self.player, self.game_id

    @property
    def home(self) -> Hashable:
        """Return what shares places with the others."""
        return self.source or self.opponent

    @property
    def owner(self) -> Hashable:
        """Return what shares the places of its home."""
        return self.home, self.opponent


class BotQueue:
    """Decides which game gets the next place: one of the address that has the fewest, or had its last the longest ago.

    Among the players of an address, places are shared in the same way. So neither many games nor many ids of one
    address delay another address by more than one game.
    """

    def __init__(self) -> None:
        self._waiting: dict[tuple[int, int], BotGame] = {}
        self._playing: dict[tuple[int, int], BotGame] = {}
        #: When each home and each owner got its last place, counted in places; those without a game are forgotten.
        self._served: dict[Hashable, int] = {}
        self._places_given = 0
        #: The waiting games in their order, with their ranks; None after a change.
        self._ranks: dict[BotGame, int] | None = None

    def __contains__(self, key: object) -> bool:
        """Return whether a game, by the ids of its bot and of itself, waits for a place or has one."""
        return key in self._waiting or key in self._playing

    @property
    def playing(self) -> int:
        """How many games have a place."""
        return len(self._playing)

    def add(self, game: BotGame) -> None:
        """Have a game wait."""
        self._waiting[game.key] = game
        self._ranks = None

    def keep(self, player: int, game_ids: Container[int]) -> None:
        """Remove those of a bot's waiting games that are not among these."""
        for game in [*self._waiting.values()]:
            if game.player == player and game.game_id not in game_ids:
                self.drop(game)

    def drop(self, game: BotGame) -> None:
        """Remove a game that waits no longer."""
        if self._waiting.pop(game.key, None) is not None:
            self._ranks = None

    def start(self, game: BotGame) -> None:
        """Give a game a place."""
        self.drop(game)
        self._playing[game.key] = game
        self._places_given += 1
        self._served[game.home] = self._served[game.owner] = self._places_given
        games = (*self._waiting.values(), *self._playing.values())
        known = {each for game in games for each in (game.home, game.owner)}
        self._served = {each: at for each, at in self._served.items() if each in known}
        self._ranks = None

    def end(self, game: BotGame) -> None:
        """Take a game's place back."""
        del self._playing[game.key]
        self._ranks = None

    def order(self) -> Mapping[BotGame, int]:
        """Return the waiting games with their ranks, from 0, the next one first."""
        if self._ranks is None:
            by_owner = self._in_turns(self._waiting.values(), _owner_of)
            self._ranks = {game: rank for rank, game in enumerate(self._in_turns(by_owner, _home_of))}
        return self._ranks

    def _in_turns(self, games: Iterable[BotGame], owner_of: Callable[[BotGame], Hashable]) -> list[BotGame]:
        """Sort games by how many their owner has before them, with a place or waiting; then by its last place."""
        before = self._places(owner_of)
        keyed = []
        for arrival, game in enumerate(games):
            owner = owner_of(game)
            keyed.append((before[owner], self._served.get(owner, 0), arrival, game))
            before[owner] += 1
        return [game for *_, game in sorted(keyed, key=itemgetter(0, 1, 2))]

    def _places(self, owner_of: Callable[[BotGame], Hashable]) -> Counter[Hashable]:
        return Counter(map(owner_of, self._playing.values()))

    def should_yield(self, playing: BotGame, waiting: BotGame) -> bool:
        """Return whether a game's address has more places than a waiting one's would then have.

        For two games of one address, that is asked of their players.
        """
        level = _owner_of if playing.home == waiting.home else _home_of
        places = self._places(level)
        return places[level(playing)] > places[level(waiting)] + 1

    def ahead(self, player: int, game_id: int) -> int | None:
        """Return how many games get a place before a bot's; None if that has one."""
        key = player, game_id
        if key in self._playing:
            return None
        return self.order()[self._waiting[key]] if key in self._waiting else len(self)

    def __len__(self) -> int:
        """Return how many games wait."""
        return len(self._waiting)


def _home_of(game: BotGame) -> Hashable:
    return game.home


def _owner_of(game: BotGame) -> Hashable:
    return game.owner
