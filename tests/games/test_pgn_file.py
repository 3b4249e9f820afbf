"""In files of many games each game is found, whatever the others look like."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.errors import BadPgn
from gmd.games.notation import MAX_GAME_CHARS, PgnText, read_pgn, split_pgn
from tests.games.test_real_games import GAMES, SIX_GAMES, split


def games_of(text: str) -> list[str]:
    return list(split_pgn(text.splitlines(keepends=True)))


def read(text: str) -> PgnText:
    steps = read_pgn(text, 1_000)
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            found: PgnText = stop.value
            return found


def test_real_file_is_split_into_its_games() -> None:
    assert [game.strip() for game in games_of(SIX_GAMES)] == [game.strip() for game in split(SIX_GAMES)]


def test_real_games_are_found_in_any_file() -> None:
    text = "\n\n".join(GAMES.values())
    assert [read(game) for game in games_of(text)] == [read(game) for game in GAMES.values()]


CASES: dict[str, tuple[str, list[str]]] = {
    "nothing": ("\n  \n% a line for programs\n; a comment\n", []),
    "headers alone": ('[White "1"]\n', ['[White "1"]\n']),
    "two without headers": ("1. e4 1-0\n1. d4 0-1\n", ["1. e4 1-0\n", "1. d4 0-1\n"]),
    "two in a line": ("1. e4 1-0 1. d4 0-1", ["1. e4 1-0 1. ", "d4 0-1"]),
    "empty lines between moves": ("1. e4\n\n1... e5 *\n\n1. d4 *", ["1. e4\n\n1... e5 *\n\n1. ", "d4 *"]),
    "a result as all moves": ('[White "1"]\n\n*\n\n[White "2"]\n\n*\n', ['[White "1"]\n\n*\n\n', '[White "2"]\n\n*\n']),
    "no empty line between": (
        '[White "1"]\n1. e4\n[White "2"]\n1. d4\n',
        ['[White "1"]\n1. e4\n', '[White "2"]\n1. d4\n'],
    ),
    "headers in a comment": (
        '1. e4 { said:\n[White "1"] 1-0\n} e5 *\n[White "2"]\n*',
        ['1. e4 { said:\n[White "1"] 1-0\n} e5 *\n', '[White "2"]\n*'],
    ),
    "a result in a variation": ("1. e4 (1. d4 1-0 c5) e5 *", ["1. e4 (1. d4 1-0 c5) e5 *"]),
    "a comment that is not closed": (
        '[Event "a"]\n\n1. e4 { oh *\n\n[Event "b"]\n\n1. d4 *\n',
        ['[Event "a"]\n\n1. e4 { oh *\n\n', '[Event "b"]\n\n1. d4 *\n'],
    ),
    "a variation that is not closed": (
        '[Event "a"]\n\n1. e4 (1. d4 *\n\n[Event "b"]\n\n1. d4 *\n',
        ['[Event "a"]\n\n1. e4 (1. d4 *\n\n', '[Event "b"]\n\n1. d4 *\n'],
    ),
    "a variation closed twice": ("1. e4 ) *\n1. d4 *", ["1. e4 ) *\n1. ", "d4 *"]),
    "nonsense": ('[Event "a"]\n\n~~~\n\n[Event "b"]\n\n*\n', ['[Event "a"]\n\n~~~\n\n', '[Event "b"]\n\n*\n']),
}


@pytest.mark.parametrize("name", CASES)
def test_file_is_split_at_the_end_of_each_game(name: str) -> None:
    text, games = CASES[name]
    found = games_of(text)
    assert "".join(found) == ("" if not games else text)
    assert [game.replace("1. ", "").split() for game in found] == [game.replace("1. ", "").split() for game in games]


def test_too_long_game_is_cut_without_affecting_the_next() -> None:
    long = "1. e4 {" + "x" * 1_000 + "}\n"
    found = games_of(long * (MAX_GAME_CHARS // 500) + '*\n\n[Event "b"]\n\n1. d4 *\n')
    assert MAX_GAME_CHARS < len(found[0]) < MAX_GAME_CHARS + 2_000
    assert found[1:] == ['[Event "b"]\n\n1. d4 *\n']


pieces = st.sampled_from(
    [
        "e4 ",
        "1. ",
        "1-0 ",
        "* ",
        "(",
        ") ",
        "{a}",
        "{\n",
        "}",
        '[White "1"]\n',
        '[Round "b{"]\n',
        "\n\n",
        "; 1-0 {\n",
    ]
)


@given(st.lists(pieces, max_size=25).map("".join))
def test_no_split_game_is_refused_for_containing_several(text: str) -> None:
    """A text that can be read as a single game is split into exactly that game."""
    found = games_of(text)
    assert [refusal for game in found if "games; send one" in (refusal := refused(game))] == []
    if found and not refused(text):
        assert [read(game) for game in found] == [read(text)]


def refused(text: str) -> str:
    """Return the refusal of a text, or an empty text."""
    try:
        read(text)
    except BadPgn as error:
        return str(error)
    return ""
