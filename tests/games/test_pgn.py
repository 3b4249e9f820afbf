"""Reading PGN: the texts that load, and the refusals of the others."""

from __future__ import annotations

import io
import random

import chess
import chess.pgn
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.games.playing import STYLES, choose
from tests.games.talk import new_table, refused_game
from tests.helpers import START_FEN, Client, memory_daemon
from tests.oracle import start_board
from tests.proofs import cases

OPENING = ["e2e4", "e7e5", "g1f3", "b8c6"]

TEXTS = {
    "plain": "1. e4 e5 2. Nf3 Nc6",
    "no spaces behind numbers": "1.e4 e5 2.Nf3 Nc6",
    "no numbers": "e4 e5 Nf3 Nc6",
    "numbers without dots": "1 e4 e5 2 Nf3 Nc6",
    "black numbers": "1. e4 1... e5 2. Nf3 2... Nc6",
    "dots apart": "1 . e4 ... e5 2 . Nf3 .. Nc6",
    "wrong numbers": "7. e4 e5 7. Nf3 Nc6 9.",
    "a result": "1. e4 e5 2. Nf3 Nc6 1-0",
    "a short draw": "1. e4 e5 2. Nf3 Nc6 1/2",
    "an open result": "1. e4 e5 2. Nf3 Nc6 *",
    "a result and a comment": "1. e4 e5 2. Nf3 Nc6 0-1 {White resigned}\n; so it was\n",
    "headers": '[Event "A"]\n[Site "B \\"C\\" \\\\"]\n[White "D"]\n\n1. e4 e5 2. Nf3 Nc6 *\n',
    "headers that take a line with the moves": '[Event "A"] [Site "B"] 1. e4 e5 2. Nf3 Nc6',
    "quotes not escaped in a header": '[Event "A "B" C"]\n\n1. e4 e5 2. Nf3 Nc6',
    "a bracket in a header": '[Event "A [B]"]\n\n1. e4 e5 2. Nf3 Nc6',
    "braces": "{Ruy Lopez?} 1. e4 {best by test} e5 {also (good) ; 1-0 [x]} 2. Nf3{x}Nc6",
    "comments of many lines": "1. e4 {one\ntwo\n%three\n} e5 2. Nf3 Nc6",
    "comments to the line's end": "1. e4 ; best { by ( test\ne5 2. Nf3;x\nNc6 ; the end",
    "clock tags": "1. e4 {[%clk 0:10:00]} e5 {[%clk 0:09:58] [%eval 0.3]} 2. Nf3 {[%emt 0.1]} Nc6",
    "annotation glyphs": "1. e4 $1 e5 $14$139 2. Nf3! Nc6!?",
    "assessments": "1. e4 = e5 +- 2. Nf3 +/= Nc6 \u00b1 -+ =/+ \u221e",
    "a draw in fractions": "1. e4 e5 2. Nf3 Nc6 \u00bd-\u00bd",
    "Macintosh line ends": '[Event "A"]\r\r1. e4 ; best\re5\r% x\r2. Nf3 Nc6\r',
    "signs in a row": "1. e4!! e5?? 2. Nf3!?Nc6?!",
    "a variation": "1. e4 e5 (1... c5 2. Nf3) 2. Nf3 Nc6",
    "nested variations": "1. e4 (1. d4 d5 (1... Nf6 (1... f5) 2. c4)) e5 2. Nf3 (2. f4 {King's (} exf4) Nc6",
    "a variation that is not legal": "1. e4 (1. Ke8 nonsense 0-1) e5 2. Nf3 Nc6",
    "a variation before the first move": "(1. d4) 1. e4 e5 2. Nf3 Nc6",
    "no spaces around": "1.e4(1.d4)1...e5{x}2.Nf3$1Nc6",
    "escaped lines": "% made by hand\n1. e4 e5\n% more ( { \n2. Nf3 Nc6\n%",
    "check signs": "1. e4+ e5# 2. Nf3 Nc6",
    "UCI": "1. e2e4 e7e5 2. g1f3 b8c6",
    "long notation": "1. e2-e4 e7-e5 2. Ng1-f3 Nb8-c6",
    "more than is needed": "1. e2e4 e5 2. Ngf3 Nb8c6",
    "Windows line ends": '[Event "A"]\r\n\r\n1. e4 e5\r\n% x\r\n2. Nf3 ; y\r\nNc6\r\n',
    "a byte-order mark": '\ufeff[Event "A"]\n\n1. e4 e5 2. Nf3 Nc6',
    "invisible signs": '[Event\ufeff "A"]\n\ufeff\n1. e4\u200b e\u20605\0 2. N\xadf3 \x1a Nc6 *\n\x1a',
    "a tag without quotes": '[Event "A"]\n[Round 3]\n[Site "B"]\n\n1. e4 e5 2. Nf3 Nc6',
    "no tag that can be read": "[Round 3]\n\n1. e4 e5 2. Nf3 Nc6",
    "a tag over two lines": '[Event "A\nB"]\n[Site "C"]\n\n1. e4 e5 2. Nf3 Nc6',
    "a tag over three lines": '[Event "A\nB\nC"]\n[Site "C"]\n\n1. e4 e5 2. Nf3 Nc6',
    "a tag that does not end": '[Event "A\n[Site "C"]\n\n1. e4 e5 2. Nf3 Nc6',
    "curly quotes": '[White \u201cA\u201d]\n[Black "B"]\n\n1. e4 e5 2. Nf3 Nc6',
    "a key with a space": '[White Elo "2800"]\n[Black "B"]\n\n1. e4 e5 2. Nf3 Nc6',
    "unread tags in a line with others": '[Round 3] [Event "A"] [x] 1. e4 e5 2. Nf3 Nc6',
    "empty lines between tags": '[Event "A"]\n\n[Site "B"]\n\n\n[Round "C"]\n\n1. e4 e5 2. Nf3 Nc6',
    "empty lines before the moves": '[Event "A"]\n\n\n\n1. e4 e5 2. Nf3 Nc6',
    "check signs without end": "1. e4++ e5## 2. Nf3+# Nc6 +",
    "signs joined to moves": "1. e4= e5-+ 2. Nf3N Nc6=\u221eD",
    "signs apart": "1. e4 = e5 -+ \u2013+ \u2212/+ 2. Nf3 N Nc6 =\u221e D \u2213 +\u2212",
    "arrows and shapes": "1. e4 \u2192 \u21c6 \u2191 e5 \u2a00 \u2295 \u2206 2. Nf3 Nc6 \u27f3",
    "question marks in one sign": "1. e4\u203c e5\u2047 2. Nf3\u2048 Nc6 \u2049",
    "a letter for the pawn": "1. Pe4 Pe7e5 2. Nf3 Nc6",
    "a backtick": "1. e4 ` e5` 2. Nf3 Nc6",
    "braces in braces": "1. e4 {a {b} c} e5 {a {b {c} d} e} 2. Nf3 {:-{ } Nc6 {x}",
    "braces beside braces in braces": "1. e4 {a {b} c {d} {e} f} e5 {{a}{b}{{c}{d}}} 2. Nf3 {:-{ } Nc6 {x} {y}",
    "a result with a dash": "1. e4 e5 2. Nf3 Nc6 1\u20130",
    "an ellipsis": "1. e4 1\u2026 e5 2. Nf3 \u2026 Nc6",
    "tabs and more": "\t1.\te4\v e5\f\n\n\n2. Nf3\n\nNc6  \n\n",
}


@pytest.mark.parametrize("word", ["exd6", "exd6 e.p.", "exd6e.p.", "e5d6e.p.+"])
async def test_en_passant_may_be_marked(client: Client, word: str) -> None:
    table = await new_table(client, pgn=f"1. e4 a6 2. e5 d5 3. {word} Nc6")
    assert table.state["pgn"].endswith("3.exd6 Nc6")


@pytest.mark.parametrize("name", TEXTS)
async def test_main_line_is_loaded(client: Client, name: str) -> None:
    table = await new_table(client, pgn=TEXTS[name])
    assert table.state["pgn"] == "1.e4 e5 2.Nf3 Nc6"
    assert (await client.ask("history", game_id=table.id))["moves"] == OPENING


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n\n", "*", "1-0", "{nothing}", "; nothing", '[Event "A"]\n', '[Event "A"]\n\n*\n', "\ufeff", "1.", "%"],
)
async def test_text_without_moves_is_a_game_without_moves(client: Client, text: str) -> None:
    table = await new_table(client, pgn=text)
    assert (table.state["ply_index"], table.state["fen"], table.state["pgn"]) == (0, START_FEN, "")
    assert table.state["termination"] == "available_move"


# --- Refused ----------------------------------------------------------------------------------------------------

NOT_LEGAL = "is not legal for white in rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -"

BAD = {
    "1. e4 e5 2. Ke3": f"pgn: at 2. (ply 2): move: 'Ke3' {NOT_LEGAL}",
    "1. e4 e5 2. --": "pgn: at 2. (ply 2): move: '--' is a null move: in chess white must move",
    "1. e4 e5 2. Z0": "pgn: at 2. (ply 2): move: 'Z0' is a null move: in chess white must move",
    "1. e4 e5 2. 0000": "pgn: at 2. (ply 2): move: '0000' is a null move: in chess white must move",
    "1. e4 Qh5": "pgn: at 1... (ply 1): move: 'Qh5' is not legal for black in "
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -",
    "1.e4e5": "pgn: at 1. (ply 0): move: 'e4e5' is not legal for white in "
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    "1. e4 e5 2. Nf3Nc6": "pgn: at 2. (ply 2): move: 'Nf3Nc6' is neither SAN (Nf3) nor UCI (g1f3)",
    "1. e4 e5 2. castles": "pgn: at 2. (ply 2): move: 'castles' is neither SAN (Nf3) nor UCI (g1f3)",
    "1. e4 { e5": "pgn: the comment that begins in line 1 is not closed: a '}' is missing",
    "1. e4\ne5 {\n2. Nf3 ( ": "pgn: the comment that begins in line 2 is not closed: a '}' is missing",
    "1. e4 (1. d4 e5": "pgn: 1 variation is not closed: a ')' is missing",
    "1. e4 (1. d4 (1. c4) (1. f4 e5": "pgn: 2 variations are not closed: a ')' is missing",
    "1. e4 e5)": "pgn: a ')' closes no variation",
    "1. e4 e5}": "pgn: line 1: '}' is neither a move nor anything else of PGN",
    "1. e4 é5": "pgn: line 1: 'é5' is neither a move nor anything else of PGN",
    "1. e4\n\n\x07": "pgn: line 3: '\\x07' is neither a move nor anything else of PGN",
    "1. e4 <e5>": "pgn: line 1: '<e5>' is neither a move nor anything else of PGN",
    "[Event A]": "pgn: line 1: '[Event A]' is no tag pair such as [White \"name\"]",
    '[Event "A"]\n[FEN x]\n\n1. e4': "pgn: line 2: '[FEN x]' is no tag pair such as [White \"name\"]",
    '[Variant "Chess\n960"]\n\n1. e4': 'pgn: line 1: \'[Variant "Chess\' is no tag pair such as [White "name"]',
    "1. e4 [%clk 0:10] e5": "pgn: line 1: '[%clk 0:10] e5' is no tag pair such as [White \"name\"]",
    "1. d4 d5 2. Sf3": "pgn: at 2. (ply 2): move: 'Sf3' is neither SAN (Nf3) nor UCI (g1f3)",
    "1. d4 d5 2. nf3": "pgn: at 2. (ply 2): move: 'nf3' is neither SAN (Nf3) nor UCI (g1f3)",
    "1. d4 d5 2. \u2658f3": "pgn: line 1: '\u2658f3' is neither a move nor anything else of PGN",
    "404: Not Found": "pgn: at 1. (ply 0): move: '404:' is neither SAN (Nf3) nor UCI (g1f3)",
    "<html>": "pgn: line 1: '<html>' is neither a move nor anything else of PGN",
    '[Event "A"]\n\n[Event "B"]\n\n1. e4': "pgn: holds 2 games; send one game at a time",
    "1. e4 c5\n\n1. d4 d5\n": "pgn: holds 2 games; send one game at a time",
    "1. e4 1-0 1. d4 0-1": "pgn: holds 2 games; send one game at a time",
    '1. e4 *\n[Event "B"]\n*': "pgn: holds 2 games; send one game at a time",
    '1. e4\n[Event "B"]\n1. d4\n[Event "C"]\n1. c4': "pgn: holds 3 games; send one game at a time",
    '[Variant "Atomic"]\n1. e4': "pgn: its Variant header 'Atomic' is none of standard, chess960, crazyhouse",
}


@pytest.mark.parametrize("text", BAD)
async def test_bad_pgn_is_refused_with_the_reason(client: Client, text: str) -> None:
    for kind in ("game_from_pgn", "new_game"):
        reply = await client.ask(kind, player_white=1, player_black=2, pgn=text)
        assert reply == {"game_id": None, "state": None, "code": "bad_pgn", "error": BAD[text]}
    assert (await client.ask("games"))["games"] == []


@pytest.mark.parametrize(
    ("pgn", "error"),
    [
        ('[FEN "4k3/8/8/8/8/8/4K3/R6R w - - 0 1"]\n\n1. Rd1', "at 1. (ply 0): move: 'Rd1' could be several moves"),
        ("1. f3 e5 2. g4 Qh4# 3. a3", "at 3. (ply 4): move: 'a3' is not legal"),
        ('[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 40"]\n\n40... Kd7 41. e4 Kd3', "at 41... (ply 2): move: 'Kd3'"),
    ],
)
async def test_error_gives_the_place_of_the_move_counted_from_the_fen(client: Client, pgn: str, error: str) -> None:
    reply = await refused_game(client, pgn=pgn)
    assert (reply["code"], reply["error"][: len(error) + 5]) == ("bad_pgn", f"pgn: {error}")


# --- Headers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "variant"),
    [
        ("Standard", "standard"),
        ("chess", "standard"),
        ("From Position", "standard"),
        ("Chess960", "chess960"),
        ("Fischerandom", "chess960"),
        ("FISCHER RANDOM", "chess960"),
        ("Crazyhouse", "crazyhouse"),
        ("zh", "crazyhouse"),
    ],
)
async def test_variant_header_sets_the_variant(client: Client, header: str, variant: str) -> None:
    pgn = f'[Variant "{header}"]\n\n1. e4 e5'
    assert (await new_table(client, pgn=pgn)).options["variant"] == variant
    assert (await new_table(client, pgn=pgn, variant=variant)).options["variant"] == variant


@pytest.mark.parametrize(
    ("header", "variant"),
    [
        *((name, "standard") for name in ("", "?", "Illegal", "Normal", "wild/0", "Wild/5", "wild/8a")),
        ("Crazyhouse960", "crazyhouse"),
    ],
)
async def test_names_that_other_programs_write_set_the_variant(client: Client, header: str, variant: str) -> None:
    assert (await new_table(client, pgn=f'[Variant "{header}"]\n\n1. e4 e5')).options["variant"] == variant


#: A start position of Chess960, and the classical one after castling became impossible.
START_960 = "nrbkqbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN w KQkq - 0 1"


@pytest.mark.parametrize(
    "header", ["", '[Variant "Standard"]\n', '[Variant "From Position"]\n', '[Variant "wild/5"]\n']
)
@pytest.mark.parametrize("fen", [START_960, START_960.replace("KQkq", "GBgb"), START_FEN])
async def test_castling_rights_of_the_fen_header_make_the_game_chess960_as_in_python_chess(
    client: Client, header: str, fen: str
) -> None:
    pgn = f'{header}[FEN "{fen}"]\n\n*'
    read = chess.pgn.read_headers(io.StringIO(pgn))
    assert read is not None
    board = read.board()
    options = (await new_table(client, pgn=pgn)).options
    assert options["variant"] == ("chess960" if board.chess960 else "standard")
    assert options["fen"] == board.fen(shredder=board.chess960)


async def test_variant_of_the_request_wins_over_a_header_that_says_standard(client: Client) -> None:
    pgn = f'[Variant "Standard"]\n[FEN "{START_960}"]\n\n1. e4 e5'
    table = await new_table(client, pgn=pgn, variant="standard")
    assert (table.options["variant"], table.state["start_fen"].split()[2]) == ("standard", "-")
    table = await new_table(client, pgn='[Variant "Standard"]\n\n1. e4 e5', variant="chess960")
    assert (table.options["variant"], table.state["start_fen"].split()[2]) == ("chess960", "HAha")


@pytest.mark.parametrize(
    ("variant", "given", "kept"),
    [
        ("Standard", "4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
        ("Chess960", "4k3/8/8/8/8/8/8/4K2R w HAha - 0 1", "4k3/8/8/8/8/8/8/4K2R w H - 0 1"),
        ("Crazyhouse", "4k3/8/8/8/8/8/8/4K2R[Q] w KQkq - 0 1", "4k3/8/8/8/8/8/8/4K2R[Q] w K - 0 1"),
        ("Standard", "4k3/8/8/3P4/8/8/8/4K3 w - e6 0 1", "4k3/8/8/3P4/8/8/8/4K3 w - - 0 1"),
        ("Standard", "4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1", "4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1"),
    ],
)
async def test_rights_that_do_not_fit_are_dropped_from_a_fen_header_and_refused_in_a_request(
    client: Client, variant: str, given: str, kept: str
) -> None:
    table = await new_table(client, pgn=f'[Variant "{variant}"]\n[FEN "{given}"]\n\n*')
    assert table.state["start_fen"] == kept
    if given != kept:
        reply = await refused_game(client, variant=variant.lower(), fen=given)
        assert reply["code"] == "bad_position"


async def test_fen_header_sets_the_start_position(client: Client) -> None:
    start = "4k3/8/8/8/8/8/4P3/4K3 b - - 5 40"
    for setup in ("", '[SetUp "1"]\n'):
        table = await new_table(client, pgn=f'{setup}[FEN "{start}"]\n\n40... Kd7 41. e4')
        assert (table.state["start_fen"], table.state["pgn"]) == (start, "40...Kd7 41.e4")
    assert (await new_table(client, pgn=f'[FEN "{start}"]')).state["fen"] == start
    assert (await new_table(client, pgn=f'[FEN "{start}"]', fen=start)).state["fen"] == start


async def test_request_alone_may_give_the_variant_and_the_start_position(client: Client) -> None:
    table = await new_table(client, variant="crazyhouse", pgn="1. e4 d5 2. exd5 Qxd5 3. P@e4")
    assert table.state["pgn"] == "1.e4 d5 2.exd5 Qxd5 3.@e4"
    start = "4k3/8/8/8/8/8/4P3/4K3 b - - 5 40"
    table = await new_table(client, pgn="40... Kd7 41. e4", fen=start)
    assert (table.state["start_fen"], table.state["pgn"]) == (start, "40...Kd7 41.e4")
    table = await new_table(client, pgn="1. O-O", variant="chess960", fen="4k3/8/8/8/8/8/8/5K1R w H - 0 1")
    assert table.state["last_move"] == "f1h1"


async def test_request_that_contradicts_a_header_is_refused(client: Client) -> None:
    reply = await refused_game(client, pgn='[Variant "Crazyhouse"]', variant="standard")
    assert reply["code"] == "bad_request"
    assert reply["error"] == "variant: 'standard' contradicts the PGN's Variant header 'Crazyhouse'"
    start = "4k3/8/8/8/8/8/4P3/4K3 b - - 5 40"
    reply = await refused_game(client, pgn=f'[FEN "{start}"]', fen=start.replace("5 40", "0 1"))
    assert reply["code"] == "bad_request"
    reply = await refused_game(client, pgn='[FEN "nonsense"]')
    assert reply["code"] == "bad_position"


async def test_chess960_header_needs_a_fen_for_another_start(client: Client) -> None:
    table = await new_table(client, pgn='[Variant "Chess960"]\n\n1. e4 e5')
    assert table.state["start_fen"] == START_FEN.replace("KQkq", "HAha")
    fen = "nrbkqbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN w KQkq - 0 1"
    table = await new_table(client, pgn=f'[Variant "Chess960"]\n[FEN "{fen}"]\n\n1. e4 e5')
    assert table.state["start_fen"] == fen.replace("KQkq", "GBgb")


async def test_other_headers_are_ignored_and_the_last_of_two_with_one_name_counts(client: Client) -> None:
    first, last = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "4k3/8/8/8/8/8/3P4/4K3 w - - 0 1"
    table = await new_table(client, pgn=f'[FEN "{first}"]\n[FEN "{last}"]\n\n1. d4')
    assert table.state["start_fen"] == last
    table = await new_table(
        client, pgn='[White "Kasparov"]\n[Black "2"]\n[Result "0-1"]\n[Termination "x"]\n\n1. e4 0-1'
    )
    assert (table.state["player_white"], table.state["player_black"]) == (1, 2)
    assert (table.state["result"], table.state["termination"]) == ("*", "available_move")


@pytest.mark.parametrize(
    ("pgn", "result"),
    [
        ("1. e4 e5 1-0", "1-0"),
        ("1. e4 e5 ½", "1/2-1/2"),
        ("1. e4 e5 1/2", "1/2-1/2"),
        ("1. e4 (1. d4 0-1) e5 {1-0} 0-1", "0-1"),
        ('[Result "*"]\n\n1. e4 1-0', "1-0"),
        ('[Result "White"]\n\n1. e4 0-1', "0-1"),
        ('[Result "White"]\n\n1. e4', "*"),
        ('[Result "0-1"]\n\n1. e4 1-0', "0-1"),
        ('[Result "0-1"]\n\n1. e4 *', "0-1"),
        ("1. e4 *", "*"),
        ("1. e4", "*"),
        ("", "*"),
        ("1-0", "1-0"),
    ],
)
async def test_result_after_the_moves_is_kept_if_no_header_gives_one(client: Client, pgn: str, result: str) -> None:
    """The result is the one of python-chess, except for an invalid header, a short draw, and a result in a
    variation.
    """
    table = await new_table(client, pgn=pgn)
    assert (table.state["result"], table.state["termination"]) == ("*", "available_move")
    kept = (await client.ask("history", game_id=table.id))["pgn"]
    assert f'[Result "{result}"]' in kept
    word = "unterminated" if result == "*" else "normal"
    assert f'[Termination "{word}"]\n[GmdTermination "available_move"]' in kept
    assert kept.endswith(f"{result}\n")
    if not any(text in pgn for text in ("White", "½", "1/2", "(")):
        game = chess.pgn.read_game(io.StringIO(pgn))
        assert (game.headers["Result"] if game else "*") == result


# --- The loaded game --------------------------------------------------------------------------------------------


async def test_game_loaded_to_a_final_position_is_over(client: Client) -> None:
    table = await new_table(client, pgn="1.f3 e5 2.g4 Qh4# *")
    assert (table.state["termination"], table.state["result"]) == ("victory_black", "0-1")
    shuffle = "Nf3 Nf6 Ng1 Ng8 " * 2
    assert (await new_table(client, pgn=shuffle, draws="automatic")).state["termination"] == "draw_repetition"
    assert (await new_table(client, pgn=shuffle)).state["draws"] == 2
    table = await new_table(client, pgn=shuffle + "e4", draws="automatic")  # the draw was missed, and no longer counts
    assert (table.state["ply_index"], table.state["termination"]) == (9, "available_move")
    table = await new_table(client, pgn="1. e4 e5 2. Nf3 Nc6", max_moves=1)
    assert (table.state["ply_index"], table.state["termination"]) == (4, "draw_move_limit")


# --- Any text ---------------------------------------------------------------------------------------------------

pieces_of_pgn = st.sampled_from(
    [
        *("e4", "e5", "Nf3", "Nc6", "O-O", "0-0", "--", "e.p.", "1.", "1...", "12", "*", "1-0", "1/2-1/2", "1/2"),
        *("(", ")", "{", "}", "[", "]", ";", "%", "$", "$1", "!?", '"', "\\", '[Event "x"]', '[FEN "', '"]'),
        *(" ", "\n", "\r\n", "\ufeff", "é", "\0"),
    ]
)


@given(st.text(max_size=60) | st.lists(pieces_of_pgn, max_size=40).map("".join) | st.lists(pieces_of_pgn).map(" ".join))
async def test_any_text_makes_a_game_or_is_refused_properly(text: str) -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        reply = await client.ask("game_from_pgn", player_white=1, player_black=2, pgn=text)
        assert reply.get("code") in (None, "bad_pgn", "bad_position")


def decorated(board: chess.Board, moves: list[chess.Move], rng: random.Random) -> str:
    """Return a game's PGN with everything that may stand between its moves."""
    words: list[str] = []
    board = board.copy()
    for move in moves:
        if rng.random() < 0.6:
            words.append(f"{board.fullmove_number}{'.' if board.turn else '...'}")
        words.append(rng.choice([board.san(move), board.san(move), board.san(move).rstrip("+#"), board.uci(move)]))
        while rng.random() < 0.3:
            words.append(rng.choice(_BETWEEN))
        board.push(move)
    return (
        rng.choice(["", "\ufeff"])
        + rng.choice(["", '[Round "3"]\n'])
        + rng.choice([" ", "\n", "\r\n", "  "]).join(words)
    )


_BETWEEN = [
    "$1",
    "!",
    "?!",
    "{a comment}",
    "{ [%clk 0:00:01] }",
    "(Nf3 (e4) {)})",
    "; to the end\n",
    "\n% not read\n",
    "\n",
]


async def test_main_line_is_found_whatever_stands_between_its_moves(client: Client) -> None:
    rng = random.Random("decorated")
    for number in range(cases(9)):
        variant = ("standard", "chess960", "crazyhouse")[number % 3]
        given = {} if variant == "standard" else {"position": rng.randrange(960)}
        start = start_board(variant, **given)
        board = start.copy()
        style = rng.choice(list(STYLES))
        while len(board.move_stack) < 30 and any(board.legal_moves):
            board.push(choose(board, style, rng))
        pgn = decorated(start, board.move_stack, rng)
        table = await new_table(client, variant=variant, pgn=pgn, **given)
        moves = (await client.ask("history", game_id=table.id))["moves"]
        assert moves == [move.uci() for move in board.move_stack], pgn
