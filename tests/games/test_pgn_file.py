"""In files of many games each game is found, whatever the others look like, and nothing else is a game."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.errors import BadPgn
from gmd.games import pgn_text
from gmd.games.notation import run_through
from gmd.games.pgn_text import PgnGame, PgnText, pgn_games, read_pgn
from tests.games.test_real_games import GAMES, SIX_GAMES, split


def games_in(text: str) -> list[PgnGame]:
    return list(pgn_games(text.splitlines(keepends=True), 1_000))


def games_of(text: str) -> list[str]:
    return [game.text for game in games_in(text)]


def read(text: str) -> PgnText:
    return run_through(read_pgn(text, 1_000))


def test_real_file_is_split_into_its_games() -> None:
    assert [game.strip() for game in games_of(SIX_GAMES)] == [game.strip() for game in split(SIX_GAMES)]


def test_real_games_are_found_in_any_file() -> None:
    text = "\n\n".join(GAMES.values())
    assert [game.read() for game in games_in(text)] == [read(game) for game in GAMES.values()]


CASES: dict[str, tuple[str, list[str]]] = {
    "nothing": ("\n  \n% a line for programs\n; a comment\n", []),
    "headers alone": ('[White "1"]\n', ['[White "1"]\n']),
    "two without headers": ("1. e4 1-0\n1. d4 0-1\n", ["1. e4 1-0\n", "1. d4 0-1\n"]),
    "two in a line": ("1. e4 1-0 1. d4 0-1", ["1. e4 1-0 ", "1. d4 0-1"]),
    "empty lines between moves": ("1. e4\n\n1... e5 *\n\n1. d4 *", ["1. e4\n\n1... e5 *\n\n", "1. d4 *"]),
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
    "a brace that opens in a comment and one that closes in the next game": (
        '[Event "a"]\n\n1. e4 {:-{ } *\n\n[Event "b"]\n\n1. d4 {x} } *\n',
        ['[Event "a"]\n\n1. e4 {:-{ } *\n\n', '[Event "b"]\n\n1. d4 {x} } *\n'],
    ),
    "a variation that is not closed": (
        '[Event "a"]\n\n1. e4 (1. d4 *\n\n[Event "b"]\n\n1. d4 *\n',
        ['[Event "a"]\n\n1. e4 (1. d4 *\n\n', '[Event "b"]\n\n1. d4 *\n'],
    ),
    "a variation closed twice": ("1. e4 ) *\n1. d4 *", ["1. e4 ) *\n", "1. d4 *"]),
    "nonsense": ('[Event "a"]\n\n~~~\n\n[Event "b"]\n\n*\n', ['[Event "a"]\n\n~~~\n\n', '[Event "b"]\n\n*\n']),
    "a section with a line that is no tag": (
        '[Event "a"]\n[Round 3]\n[White "b"]\n\n1. e4 *\n',
        ['[Event "a"]\n[Round 3]\n[White "b"]\n\n1. e4 *\n'],
    ),
    "a section that begins with a line that is no tag": (
        '1. e4 *\n\n[Event: a]\n[White "b"]\n\n1. d4 *\n\n[x]\n[White "c"]\n\n*',
        ["1. e4 *\n\n", '[Event: a]\n[White "b"]\n\n1. d4 *\n\n', '[x]\n[White "c"]\n\n*'],
    ),
    "a line among tags without brackets": (
        '[Event "a"]\nSite: b, 1-0\n[White "c"]\nRound "3"]\n[Black "d"]\n\n1. e4 *\n',
        ['[Event "a"]\nSite: b, 1-0\n[White "c"]\nRound "3"]\n[Black "d"]\n\n1. e4 *\n'],
    ),
    "no moves and no empty lines": (
        '[Event "a"]\n*\n[Event "b"]\n0-1\n[Event "c"]\nbogus\n[Event "d"]\n*\n',
        ['[Event "a"]\n*\n', '[Event "b"]\n0-1\n', '[Event "c"]\nbogus\n', '[Event "d"]\n*\n'],
    ),
    "tags only": (
        '[Event "a"]\n[Site "x"]\n\n[Event "b"]\n\n[Site "y"]\n[Event "c"]\n\n[Event "d"]\n\n*\n',
        ['[Event "a"]\n[Site "x"]\n\n', '[Event "b"]\n\n', '[Site "y"]\n[Event "c"]\n\n', '[Event "d"]\n\n*\n'],
    ),
    "no tags and no results": ("1. e4 c5\n\n1. d4 d5\n1. c4\n", ["1. e4 c5\n\n", "1. d4 d5\n", "1. c4\n"]),
    "moves of Black in lines of their own": ("1. e4\n1... e5\n1. ... e5\n*", ["1. e4\n1... e5\n1. ... e5\n*"]),
}


@pytest.mark.parametrize("name", CASES)
def test_file_is_split_at_the_end_of_each_game(name: str) -> None:
    text, games = CASES[name]
    assert games_of(text) == games


BETWEEN_TAGS = [
    "Round 3",
    "Site: b, c (d)",
    "Opening: 1. e4 e5",
    "Opening: King's Pawn, e4 e5 2. Nf3",
    'Site "b"]',
    "[Site b]]",
    "// by a program",
    '[Site "b\n\nc"]',
    '[Site "b\n1. e4 e5\n\n2. d4: c"]',
    "[Site \u201cb\nc\u201d]",
    '[Site "b\nc\nd\ne"]',
    f'[Site "{"x" * 10_000}"]',
]


@pytest.mark.parametrize("line", BETWEEN_TAGS)
def test_line_among_tags_makes_no_game_of_them_and_costs_nothing(line: str) -> None:
    text = f'[Event "a"]\n{line}\n[White "b"]\n\n1. e4\n\n[Event "c"]\n\n*\n'
    first, second = games_in(text)
    assert first.read() == read(first.text) == PgnText({"Event": "a", "White": "b"}, ["e4"], "*", {})
    assert second.read().headers == {"Event": "c"}


@pytest.mark.parametrize("line", ["Variant Crazyhouse", 'FEN "8/8"]', '["FEN" "8/8"]', '[FEN "8\n\n8"]'])
def test_line_among_tags_that_names_what_the_game_needs_is_refused(line: str) -> None:
    text = f'[Event "a"]\n{line}\n[White "b"]\n\n1. e4\n'
    (refused,) = games_in(text)
    assert isinstance(refused.reading, BadPgn)
    assert "pgn: line 2: " in str(refused.reading)
    assert refusal_or_game(text) == str(refused.reading)


@pytest.mark.parametrize("moves", ["1. [e4 e5 *", "1.[ d4 d5 ]2. e4 *", "1. [%clk 1] e4 *", "1. { a } [e4] e5"])
def test_bracket_behind_a_move_number_passes_over_no_moves(moves: str) -> None:
    (refused,) = games_in(f'[Event "a"]\n\n{moves}\n')
    assert isinstance(refused.reading, BadPgn)
    assert "pgn: line 3: '[" in str(refused.reading)


def test_files_that_were_joined_are_read_as_each_alone() -> None:
    text = '\ufeff[Event "a"]\n\n1. e4 *\ufeff[Event "b"]\n\n1. d4\n\x1a\ufeff[Event "c"]\n\n1. c4\x1a'
    assert [game.read().moves for game in games_in(text)] == [["e4"], ["d4"], ["c4"]]


def test_no_tag_of_a_game_of_tags_only_reaches_the_next() -> None:
    text = (
        '[Event "a"]\n[Variant "Crazyhouse"]\n\n[Event "b"]\n[Site "c"]\n\n[Site "d"]\n[FEN "x"]\n\n[FEN "y"]\n\n1. e4'
    )
    assert [game.read().headers for game in games_in(text)] == [
        {"Event": "a", "Variant": "Crazyhouse"},
        {"Event": "b", "Site": "c"},
        {"Site": "d", "FEN": "x"},
        {"FEN": "y"},
    ]


def test_errors_give_the_line_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn_text, "BLOCK_CHARS", 40)
    text = '[Event "a"]\n\n1. e4 *\n\n' * 5 + '[Event "b"]\n\n1. e4 \u2658f6 *\n\n' + '[Event "c"]\n\n1. d4 *\n'
    *_, bad, last = games_in(text)
    assert str(bad.reading) == "pgn: line 23: '\u2658f6 *' is neither a move nor anything else of PGN"
    assert last.read().moves == ["d4"]


def test_too_long_game_is_refused_without_affecting_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn_text, "BLOCK_CHARS", 100)
    monkeypatch.setattr(pgn_text, "MAX_GAME_CHARS", 1_000)
    long = '[Event "a"]\n\n2. ' + "e4 {x}\n" * 1_000 + "*\n"
    found = games_in(f'[Event "a"]\n\n*\n\n{long}\n[Event "b"]\n\n1. d4 ~ *\n')
    assert str(found[1].reading) == "pgn: the game has more than 1000 characters"
    assert found[2].text == '[Event "b"]\n\n1. d4 ~ *\n'
    assert str(found[2].reading).startswith("pgn: line 1011: ")
    assert len(found) == 3


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
        '[Event "1"]\n',
        "[Round 3]\n",
        '[Round "b{"]\n',
        "\n\n",
        "; 1-0 {\n",
    ]
)


@given(st.lists(pieces, max_size=25).map("".join))
def test_text_and_file_are_read_the_same(text: str) -> None:
    """A text of one game is read as the file's only game, one of several is refused with their number or an error."""
    found = games_in(text)
    alone = refusal_or_game(text)
    if isinstance(alone, PgnText):
        assert [game.read() for game in found] == ([alone] if found else [])
    elif "games; send one" not in alone:
        assert alone in {str(game.reading) for game in found}
    else:
        assert alone == f"pgn: holds {len(found)} games; send one game at a time"


def refusal_or_game(text: str) -> PgnText | str:
    try:
        return read(text)
    except BadPgn as error:
        return str(error)


@given(st.lists(pieces, max_size=60).map("".join), st.integers(1, 60))
def test_file_is_read_the_same_in_blocks_of_any_size(text: str, size: int) -> None:
    whole = games_in(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pgn_text, "BLOCK_CHARS", size)
        assert list(map(repr, games_in(text))) == list(map(repr, whole))
