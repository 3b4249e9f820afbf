"""Who is to act in which game, the longest due first: as a model says that looks through all games."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.messages import NewGame
from gmd.games.chess import ChessGame
from gmd.games.events import Created, Ended, Moved
from gmd.games.setup import resolve
from gmd.turns import MAX_UNSEEING_PLAYERS, MAX_UNSEEN_ENDS, Turns

PLAYERS = (1, 2, 3)
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")


def new_game(game_id: int, white: int | None, black: int | None) -> ChessGame:
    options = resolve(NewGame(player_white=0, player_black=0), {}, 0, strict=True)
    game = ChessGame(Created(white, black, options, ""))
    game.id = game_id
    return game


class Model:
    """The same by looking: since when each seat has been due, and which ends nobody has been shown."""

    def __init__(self) -> None:
        self.since: dict[tuple[int, int], int] = {}  # (player, game) due, by when it became so
        self.now = 0

    def update(self, game: ChessGame) -> None:
        self.now += 1
        was = {player: self.since.pop((player, game.id), None) for player in PLAYERS}
        for player in PLAYERS:
            seats = game.seats(player)
            if seats and game.over:
                known = was[player]
                self.since[player, game.id] = self.now if known is None else known
            elif game.turn in seats:
                self.since[player, game.id] = self.now

    def shown(self, player: int, game: ChessGame) -> None:
        if game.over:
            self.since.pop((player, game.id), None)

    def longest_due(self, player: int, without: set[int]) -> int | None:
        due = [(since, game_id) for (who, game_id), since in self.since.items() if who == player]
        return min(((since, game_id) for since, game_id in due if game_id not in without), default=(0, None))[1]


seats = st.sampled_from([(1, 2), (2, 1), (1, 1), (2, 3), (3, None), (None, None)])
acts = st.lists(
    st.one_of(
        st.tuples(st.just("new"), seats, st.just(0)),
        st.tuples(st.just("move"), st.just((0, 0)), st.integers(0, 6)),
        st.tuples(st.just("end"), st.just((0, 0)), st.integers(0, 6)),
        st.tuples(st.just("show"), st.tuples(st.sampled_from(PLAYERS), st.just(0)), st.integers(0, 6)),
    ),
    max_size=40,
)


@given(acts, st.sets(st.integers(1, 4)))
def test_the_longest_due_game_is_what_the_model_says(
    taken: list[tuple[str, tuple[int | None, int | None], int]], without: set[int]
) -> None:
    turns, model, games = Turns(), Model(), list[ChessGame]()
    for what, who, which in taken:
        if what == "new":
            games.append(new_game(len(games) + 1, *who))
            turns.update(games[-1])
            model.update(games[-1])
        elif games:
            game = games[which % len(games)]
            if what == "show":
                assert who[0] is not None
                turns.shown(who[0], game)
                model.shown(who[0], game)
            elif not game.over:
                resigned = Ended("resignation_white", seat="white", asked="resignation_white")
                game.apply(resigned if what == "end" else Moved(SHUFFLE[game.now.ply % 4]))
                turns.update(game)
                model.update(game)
        for player in PLAYERS:
            assert turns.longest_due(player, without) == model.longest_due(player, without)


def test_only_so_many_ends_are_remembered() -> None:
    due, game = Turns(), new_game(0, 1, 2)
    game.apply(Ended("resignation_white"))
    for game.id in range(1, MAX_UNSEEN_ENDS + 2):
        due.update(game)
    assert due.longest_due(1, ()) == due.longest_due(2, ()) == 2


def test_the_ends_of_others_push_nobodys_out() -> None:
    due, mine, theirs = Turns(), new_game(1, 1, 2), new_game(0, 3, 4)
    mine.apply(Ended("resignation_white"))
    theirs.apply(Ended("resignation_white"))
    due.update(mine)
    for theirs.id in range(2, 2 * MAX_UNSEEN_ENDS):
        due.update(theirs)
    assert due.longest_due(1, ()) == 1


def test_only_so_many_players_are_remembered() -> None:
    due = Turns()
    for game_id in range(1, MAX_UNSEEING_PLAYERS // 2 + 2):
        game = new_game(game_id, 2 * game_id, 2 * game_id + 1)
        game.apply(Ended("resignation_white"))
        due.update(game)
    assert due.longest_due(2, ()) is None
    assert due.longest_due(4, ()) == 2


def test_nobodys_turn_is_shown_to_nobody() -> None:
    due, game = Turns(), new_game(1, None, None)
    due.update(game)
    due.shown(None, game)
    assert due.longest_due(1, ()) is None
