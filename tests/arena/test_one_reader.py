"""A PGN is the same game, or none, wherever it is read: on the wire, in an import, as an opening and in a replay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import chess
import pytest

from gm_arena.match.openings import OpeningsUnusable, openings_for
from gm_arena.replay.recorded import BadRecord, read_file
from gmd.archive.files import ImportOptions, read_games
from gmd.archive.games import BadGame
from gmd.games.events import Loaded
from tests.arena.matches import TWO, run
from tests.cli.commands import gmd
from tests.helpers import memory_daemon


def imported(file: Path) -> list[str] | str:
    (found,) = read_games(file, "pgn", ImportOptions(1, 2), lambda _: None)
    if isinstance(found.game, BadGame):
        return f"{found.where}: {found.game}"
    return [move for event in found.game.game.append.events if isinstance(event, Loaded) for move in event.moves]


def opening(file: Path) -> list[str] | str:
    try:
        (one,) = openings_for("standard", file, plies=None, seed=1, in_order=True)
    except OpeningsUnusable as error:
        return str(error)
    return list(one.moves)


def replayed(file: Path) -> list[str] | str:
    try:
        recorded = read_file(file)
    except BadRecord as error:
        return str(error)
    return [node.move.uci() for node in recorded.moves]


DOORS: list[Callable[[Path], list[str] | str]] = [imported, opening, replayed]


async def on_the_wire(text: str) -> list[str] | str:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        reply = await client.ask("game_from_pgn", player_white=1, player_black=2, pgn=text)
        if reply["error"] is not None:
            return str(reply["error"])
        moves: list[str] = (await client.ask("history", game_id=reply["game_id"]))["moves"]
        return moves


READ = {
    "two empty lines before the moves": ('[Event "a"]\n\n\n1. d4 d5 *\n', ["d2d4", "d7d5"]),
    "an empty line in the moves": ('[Event "a"]\n\n1. d4 d5\n\n2. c4 e6 *\n', ["d2d4", "d7d5", "c2c4", "e7e6"]),
    "a tag that cannot be read": ('[Event "a"]\n[Round 3]\n[Site "b"]\n\n1. d4 *\n', ["d2d4"]),
    "a variation that is not legal": ("1. d4 (1. Ke5 bogus) 1... d5 *\n", ["d2d4", "d7d5"]),
    "invisible signs and glyphs": ("\ufeff1. d4 \u2192 d5++ \u2047 {a {b} c} \x1a", ["d2d4", "d7d5"]),
    "UCI": ("1. d2d4 d7d5 *\n", ["d2d4", "d7d5"]),
}

REFUSED = {
    "German letters": ("1. d4 d5 2. Sf3 Sc6 *\n", "Sf3"),
    "figurines": ("1. d4 d5 2. \u2658f3 \u265ec6 *\n", "\u2658f3"),
    "a word among the moves": ("1. d4 d5 2. c4 bogus e6 *\n", "bogus"),
    "an error page": ("404: Not Found\n", "404:"),
    "HTML": ("<!DOCTYPE html>\n<html>1. e4</html>\n", "<!DOCTYPE"),
    "a start position that cannot be read": ("[FEN 8]\n\n1. d4 *\n", "[FEN 8]"),
    "a comment without an end": ("1. d4 { d5 *\n", "line 1"),
    "a variation without an end": ("1. d4 ( d5 *\n", "1 variation is not closed"),
    "a variant that nobody plays": ('[Variant "Go"]\n\n1. d4 *\n', "Go"),
}


@pytest.mark.parametrize("name", READ)
async def test_text_is_the_same_game_everywhere(name: str, tmp_path: Path) -> None:
    text, moves = READ[name]
    file = tmp_path / "a.pgn"
    file.write_text(text)
    assert [await on_the_wire(text), *(door(file) for door in DOORS)] == [moves] * 4


@pytest.mark.parametrize("name", REFUSED)
async def test_text_is_refused_everywhere_with_the_part_at_fault(name: str, tmp_path: Path) -> None:
    text, part = REFUSED[name]
    file = tmp_path / "a.pgn"
    file.write_text(text)
    for said in [await on_the_wire(text), *(door(file) for door in DOORS)]:
        assert isinstance(said, str)
        assert part in said
    for door in DOORS:
        assert str(file) in str(door(file))


@pytest.mark.parametrize("text", ["1. d4 d5 2. Sf3 *\n", "<html>\n", "\x1f\x8b\x08\n"])
def test_refused_file_ends_a_command_with_status_2(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.pgn"
    file.write_text(text, "latin-1")
    replayed, imported = gmd("replay", file), gmd("import", "--data", tmp_path, "--white", 1, "--black", 2, file)
    status, _, complaints = run(*TWO, "--openings", f"file={file}")
    assert (replayed.status, imported.status, status) == (2, 2, 2)
    assert all(str(file) in said for said in (replayed.err, imported.err, complaints))


def test_games_without_tags_are_openings_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "a.pgn"
    file.write_text("1. d4 d5\n\n1. e4 c5\n1. c4\n")
    made = openings_for("standard", file, plies=None, seed=1, in_order=True)
    assert [one.moves for one in made] == [("d2d4", "d7d5"), ("e2e4", "c7c5"), ("c2c4",)]


def test_opening_may_begin_in_any_position_and_variant_that_its_match_plays(tmp_path: Path) -> None:
    file = tmp_path / "a.pgn"
    fen = "nrbkqbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN w KQkq - 0 1"
    file.write_text(f'[FEN "{fen}"]\n[Opening "x"]\n\n1. e4 e5 2. d4 *\n')
    (one,) = openings_for("chess960", file, plies=2, seed=1, in_order=True)
    assert (one.name, one.fen, one.moves) == ("1: x", fen.replace("KQkq", "GBgb"), ("e2e4", "e7e5"))
    file.write_text(file.read_text().replace(fen, chess.STARTING_FEN))
    (one,) = openings_for("rbc", file, plies=2, seed=1, in_order=True)
    assert (one.moves, one.fen) == ((), "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
