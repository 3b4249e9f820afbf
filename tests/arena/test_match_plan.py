"""The games of a match, and their openings."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_arena.match.openings import Opening, OpeningsUnusable, openings_for
from gm_arena.match.plan import Kind, fixtures

OPENINGS = [Opening(str(number)) for number in range(5)]

kinds = st.sampled_from(["round-robin", "gauntlet"])


@given(st.integers(2, 7), st.integers(1, 9), kinds)
def test_each_pairing_plays_all_games_with_alternating_colours_from_the_same_openings(
    bots: int, games: int, kind: Kind
) -> None:
    plan = fixtures(bots, games, OPENINGS, kind=kind)
    assert [fixture.number for fixture in plan] == list(range(1, len(plan) + 1))
    meetings: dict[frozenset[int], list[tuple[int, str]]] = {}
    for fixture in plan:
        meetings.setdefault(frozenset(fixture.bots), []).append((fixture.white, fixture.opening.name))
    expected = bots * (bots - 1) // 2 if kind == "round-robin" else bots - 1
    assert len(meetings) == expected
    for two, played in meetings.items():
        assert len(two) == 2
        assert len(played) == games
        whites = [white for white, _ in played]
        assert all(one != other for one, other in itertools.pairwise(whites))
        assert [name for _, name in played] == [str(game // 2 % 5) for game in range(games)]


@given(st.integers(2, 6), st.integers(1, 4), kinds)
def test_two_games_of_a_pair_follow_each_other(bots: int, pairs: int, kind: Kind) -> None:
    plan = fixtures(bots, 2 * pairs, OPENINGS, kind=kind)
    for first, second in zip(plan[::2], plan[1::2], strict=True):
        assert first.pair == second.pair
        assert first.bots == tuple(reversed(second.bots))
        assert first.opening == second.opening
    assert set(Counter(fixture.pair for fixture in plan).values()) == {2}


def test_match_of_two_alternates_colours_and_repeats_openings() -> None:
    plan = fixtures(2, 5, OPENINGS, kind="round-robin")
    assert [(game.white, game.opening.name, game.pair) for game in plan] == [
        (0, "0", (0, 1, 0)),
        (1, "0", (0, 1, 0)),
        (0, "1", (0, 1, 1)),
        (1, "1", (0, 1, 1)),
        (0, "2", (0, 1, 2)),
    ]


# Openings.


def read(
    variant: str, file: Path | None, *, plies: int | None = None, seed: int = 0, in_order: bool = True
) -> list[Opening]:
    options = {} if variant == "rbc" else {"draws": "automatic"}
    return openings_for(variant, file, plies=plies, seed=seed, in_order=in_order, options=options)


@pytest.mark.parametrize(
    ("line", "opening"),
    [
        ('4k3/8/8/8/8/8/4P3/4K3 w - - hmvc 4; fmvn 12; id "one; pawn";', ("1: one; pawn", "4 12")),
        ('4k3/8/8/8/8/8/4P3/4K3 w - - bm Qxf7#; id "mate # in one";', ("1: mate # in one", "0 1")),
        ('4k3/8/8/8/8/8/4P3/4K3 w - - bm Zz9; id "a";', ("1: a", "0 1")),
        ('4k3/8/8/8/8/8/4P3/4K3 w - - bm e4 e3; c0 "#"; acd 3; fmvn 7', ("1", "0 7")),
        ("4k3/8/8/8/8/8/4P3/4K3  w  -  - 3 17 # three", ("1", "3 17")),
        ('4k3/8/8/8/8/8/4P3/4K3 w - - 3 17; id "b";', ("1: b", "3 17")),
        ("4k3/8/8/8/8/8/4P3/4K3 w - -", ("1", "0 1")),
    ],
)
def test_operations_of_epd_set_counters_and_name(line: str, opening: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "book.epd"
    file.write_text(f"{line}\n")
    name, counters = opening
    assert read("standard", file) == [Opening(name, f"4k3/8/8/8/8/8/4P3/4K3 w - - {counters}")]


def test_epd_and_fen_are_read(tmp_path: Path) -> None:
    file = tmp_path / "book.epd"
    file.write_text(
        '4k3/8/8/8/8/8/4P3/4K3 w - - id "one pawn";\n'
        "\n# a comment\n"
        "4k3/4p3/8/8/8/8/8/4K3 b - - 3 17\n"
        "4k3/8/8/8/8/8/8/4KQ2 w - -\n"
    )
    assert read("standard", file) == [
        Opening("1: one pawn", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"),
        Opening("4", "4k3/4p3/8/8/8/8/8/4K3 b - - 3 17"),
        Opening("5", "4k3/8/8/8/8/8/8/4KQ2 w - - 0 1"),
    ]


BOOK = """[Opening "Ruy Lopez"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n
[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n[SetUp "1"]\n\n1. e4 Kd7 *\n"""


def test_pgn_games_are_read(tmp_path: Path) -> None:
    file = tmp_path / "book.pgn"
    file.write_text(BOOK)
    start = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    assert read("standard", file) == [
        Opening("1: Ruy Lopez", None, ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5")),
        Opening("2", start, ("e2e4", "e8d7")),
    ]
    assert [opening.moves for opening in read("standard", file, plies=1)] == [("e2e4",), ("e2e4",)]
    assert read("standard", file)[1].fields() == {"fen": start, "pgn": "e2e4 e8d7"}
    assert read("rbc", file, plies=2)[0].fen == "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("book.epd", "", "book.epd has no openings"),
        ("book.epd", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\nnonsense\n", r"book.epd, line 2: "),
        ("book.pgn", "1. e4 e5 2. Ke3 *\n", "book.pgn, game 1: pgn: at 2. .ply 2.: move: 'Ke3' is not legal"),
        (
            "book.pgn",
            "1. e4 e5 *\n\n1. e4 -- 2. d4 *\n",
            "book.pgn, game 2: pgn: at 1... .ply 1.: move: '--' is a null move",
        ),
        ("book.pgn", "1. f3 e5 2. g4 Qh4# 0-1\n", "game 1: no game can begin here, since the game is over: checkmate"),
        (
            "book.epd",
            "7k/5Q2/6K1/8/8/8/8/8 b - -\n",
            "line 1: no game can begin here, since the game is over: stalemate",
        ),
        ("book.epd", "7k/8/6K1/8/8/8/8/8 b - -\n", "line 1: .* is over: insufficient material"),
        ("book.epd", "4k3/8/8/8/8/8/4P3/4K3 w - - 100 80\n", "line 1: .* is over: fifty-move rule"),
        ("book.epd", "4k3/8/8/8/8/8/4P3/4K3 w - - hmvc 100;\n", "line 1: .* is over: fifty-move rule"),
        ("book.epd", "4k3/8/8/8/8/8/4P3/4K3 w - - hmvc two;\n", "line 1: hmvc: 'two' is not a whole number"),
        ("book.epd", "4k3/8/8/8/8/8/8/8 w - -\n", "line 1: fen: .* is no standard position: no white king"),
        ("book.epd", "4k3/4R3/8/8/8/8/8/4K3 w - -\n", "line 1: fen: .* is no standard position: opposite check"),
        ("book.epd", "4k3/8/8/8/8/8/8/P3K3 w - -\n", "line 1: fen: .*: pawns on backrank"),
        ("book.epd", "4k3/8/8/8/8/8/4P3/4K3 w KQ - 0 1\n", "line 1: fen: .*: bad castling rights"),
        ("book.pgn", f"1. {' '.join(['Nf3 Nf6 Ng1 Ng8'] * 2)} *\n", "game 1: .* is over: threefold repetition"),
    ],
)
def test_file_without_usable_openings_is_refused(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(OpeningsUnusable, match=message):
        read("standard", tmp_path / name)
    with pytest.raises(OpeningsUnusable, match="no-such: No such file or directory"):
        read("standard", tmp_path / "no-such")


@pytest.mark.parametrize(
    ("variant", "options", "name", "text", "message"),
    [
        ("standard", {"max_moves": 2}, "book.pgn", "1. e4 e5 2. Nf3 Nc6 *\n", "game 1: .* is over: move limit"),
        ("rbc", {}, "book.epd", "4k3/8/8/8/8/8/4P3/4K3 w - - 100 80\n", "line 1: .* is over: fifty-move rule"),
        ("rbc", {"max_turns": 5}, "book.epd", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 6\n", "line 1: .* is over: turn limit"),
        ("crazyhouse", {"draws": "automatic"}, "book.epd", "4k3/8/8/8/8/8/4P3/4K3[] w KQ -\n", "bad castling rights"),
        ("dark_chess", {}, "book.epd", "8/8/8/8/8/8/4P3/4K3 w - -\n", "line 1: .*no black king"),
    ],
)
def test_openings_are_judged_in_the_variant_and_with_the_terms_of_the_match(
    variant: str, options: dict[str, object], name: str, text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(OpeningsUnusable, match=message):
        openings_for(variant, tmp_path / name, plies=None, seed=0, in_order=True, options=options)


def test_latin_1_file_is_read_without_its_variations(tmp_path: Path) -> None:
    file = tmp_path / "book.pgn"
    file.write_bytes('[White "Müller"]\n\n1. e4 (1. d4 d5 (1... Nf6)) {why not} e5 $1 *\n'.encode("latin-1"))
    assert read("standard", file) == [Opening("1", None, ("e2e4", "e7e5"))]


def test_only_the_openings_that_are_played_are_read(tmp_path: Path) -> None:
    file = tmp_path / "book.epd"
    file.write_text("".join(f"4k3/8/8/8/8/8/4P3/4K3 w - - {number} 1\n" for number in range(20)) + "nonsense\n")
    assert len(openings_for("standard", file, plies=None, seed=0, in_order=True, most=20)) == 20
    six, three = (openings_for("standard", file, plies=None, seed=1, in_order=False, most=most) for most in (6, 3))
    assert (len(six), six[:3]) == (6, three)


def test_openings_without_a_file_are_the_start_or_all_positions_of_chess960() -> None:
    assert read("standard", None) == [Opening("start")]
    numbers = [opening.position for opening in read("chess960", None, seed=5, in_order=False)]
    assert sorted(number for number in numbers if number is not None) == list(range(960))
    assert numbers != sorted(range(960))
    assert chess.Board.from_chess960_pos(numbers[0] or 0).is_valid()


def test_seed_decides_the_order(tmp_path: Path) -> None:
    file = tmp_path / "book.epd"
    file.write_text("".join(f"4k3/8/8/8/8/8/4P3/4K3 w - - {number} 1\n" for number in range(20)))
    orders = [[opening.name for opening in read("standard", file, seed=seed, in_order=False)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(opening.name for opening in read("standard", file))
