"""CodinGame's protocol as its statement defines it: the codec, and bots that speak it in games on the daemon."""

from __future__ import annotations

import logging
import random
import sys
from pathlib import Path
from typing import Any

import chess
import pytest
from chess.variant import CrazyhouseBoard
from hypothesis import given
from hypothesis import strategies as st

from gm_arena import codingame_bot, process
from gm_arena.bot import BotUnusable
from gm_arena.bridge import BridgeError
from gm_arena.codingame import (
    INPUTS,
    Action,
    Answer,
    BadAnswer,
    Position,
    constants,
    fen,
    inputs,
    last_move,
    legal_moves,
    read_answer,
    read_configuration,
    read_move,
)
from gm_arena.codingame_bot import CodinGameBots
from gm_client.trio_client import connect
from tests.arena.playing import Witness, bridged, new_games, script
from tests.chaos import chaos
from tests.serving import Served

ME, OTHER = 73_001, 73_002

# The codec.


def test_constants_are_counted_and_named() -> None:
    assert constants(crazyhouse=False, max_moves=125) == "2\ncrazyHouse 0\nmaxMoves 125\n"
    assert constants(crazyhouse=True, max_moves=40) == "2\ncrazyHouse 1\nmaxMoves 40\n"


def test_configuration_names_inputs_in_the_bots_order() -> None:
    assert read_configuration("score game draw lastmove moves fen") == (list(INPUTS[::-1]), [])
    assert read_configuration("  fen   moves ") == (["fen", "moves"], [])
    assert read_configuration("") == ([], [])
    assert read_configuration("clock fen board moves") == (["fen", "moves"], ["clock", "board"]), "as the referee does"
    assert read_configuration("x" * 1000 + " y" * 1000) == ([], ["x" * 100, *["y"] * 99])


def played(*moves: str, board: chess.Board | None = None) -> chess.Board:
    board = board or chess.Board()
    for move in moves:
        board.push_uci(move)
    return board


def test_inputs_come_in_the_configured_order() -> None:
    position = Position(played("g1f3", "e7e5"), draw_offered=True, game=2, score=(1, 3))
    assert inputs(("score", "draw", "fen", "game", "lastmove"), position).splitlines() == [
        "1 3",
        "1",
        "rnbqkbnr/pppp1ppp/8/4p3/8/5N2/PPPPPPPP/RNBQKB1R w AHah e6 0 2",
        "2",
        "e7e5",
    ]
    count, *moves = inputs(("moves",), position).splitlines()
    assert int(count) == len(moves) == position.board.legal_moves.count()
    assert "f3e5" in moves
    assert inputs((), position) == ""
    assert last_move(chess.Board()) == "none"
    assert last_move(played("e2e4", "d7d5", "e4d5", "d8d5", "P@e4", board=CrazyhouseBoard())) == "P@e4"


@pytest.mark.parametrize(
    ("board", "expected"),
    [
        (chess.Board(), "AHah"),
        (chess.Board("r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1"), "Ha"),
        (chess.Board("8/8/4k3/8/8/4K3/8/7R w - - 0 1"), "-"),
        (chess.Board.from_chess960_pos(342), "BGbg"),
    ],
)
def test_castling_rights_are_the_files_of_rooks(board: chess.Board, expected: str) -> None:
    assert fen(board).split()[2] == expected
    assert chess.Board(fen(board), chess960=True).fen(shredder=True) == board.fen(shredder=True)


def test_castling_is_written_as_the_king_moving_to_its_rook() -> None:
    board = played("e2e4", "e7e5", "g1f3", "g8f6", "f1c4", "f8c5")
    assert "e1h1" in legal_moves(board)
    assert "e1g1" not in legal_moves(board)
    assert read_move(board, "e1h1") == chess.Move.from_uci("e1g1")
    with pytest.raises(BadAnswer):
        read_move(board, "e1g1")
    board.push_uci("e1g1")
    assert last_move(board) == "e1h1"


@given(st.integers(0, 959), st.integers(0, 2**32), st.integers(0, 80))
def test_every_listed_move_is_read_as_itself(number: int, seed: int, plies: int) -> None:
    board, rng = chess.Board.from_chess960_pos(number), random.Random(seed)
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            return
        board.push(rng.choice(moves))
    assert [read_move(board, text) for text in legal_moves(board)] == list(board.legal_moves)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("e2e4", Answer(Action.MOVE, "e2e4")),
        ("h7h8q", Answer(Action.MOVE, "h7h8q")),
        ("P@e4", Answer(Action.MOVE, "P@e4")),
        ("e2e4 the king's pawn", Answer(Action.MOVE, "e2e4", comment="the king's pawn")),
        ("e2e4= a draw?", Answer(Action.MOVE, "e2e4", offers_draw=True, comment="a draw?")),
        ("random", Answer(Action.RANDOM)),
        ("random=", Answer(Action.RANDOM, offers_draw=True)),
        ("resign well played", Answer(Action.RESIGN, comment="well played")),
        ("draw", Answer(Action.ACCEPT_DRAW)),
    ],
)
def test_answers_are_read(line: str, expected: Answer) -> None:
    assert read_answer(line, draw_offered=True) == expected


@pytest.mark.parametrize("line", ["", " e2e4", "Nf3", "e2-e4", "e2e4=x", "e7e8Q", "resign=", "e2e4=="])
def test_meaningless_answer_is_refused(line: str) -> None:
    with pytest.raises(BadAnswer, match="is not a move, 'random', 'resign' or 'draw'"):
        read_answer(line, draw_offered=True)


def test_draw_cannot_be_accepted_without_an_offer() -> None:
    with pytest.raises(BadAnswer, match="none was made"):
        read_answer("draw", draw_offered=False)


# Bots.


async def play(port: int, white: CodinGameBots, black: CodinGameBots, **options: Any) -> tuple[Witness, Witness]:
    """Play a game between two commands."""
    witnesses = []

    async def plan(bridge: Any) -> None:
        await new_games(OTHER, colors=["white"], **{"variant": "standard", **options})(bridge)
        game_id = bridge.games_in_hand[0]
        witnesses.append(await bridged(port, OTHER, black, lambda other: other.play_one(game_id)))

    witnesses.insert(0, await bridged(port, ME, white, plan))
    return witnesses[0], witnesses[1]


def ending(witness: Witness) -> str:
    (played,) = witness.played
    return played.state["termination"]


async def moves_of(port: int, witness: Witness) -> list[str]:
    async with await connect(port=port) as client:
        return (await client.history(witness.played[0].place.game_id))["moves"]


@pytest.mark.parametrize(
    ("fen_of_position", "castling", "why"),
    [
        ("4k3/8/8/8/8/8/8/1KRN4 w C - 0 1", "b1c1", "over a piece beyond the rook"),
        ("1r2k3/8/8/8/8/8/8/RK6 w A - 0 1", "b1a1", "out of check"),
    ],
)
def test_castling_that_codingame_s_referee_allows_and_chess_does_not_is_illegal(
    fen_of_position: str, castling: str, why: str
) -> None:
    """Check a difference that ``docs/reference/match.md`` names."""
    board = chess.Board(fen_of_position, chess960=True)
    assert castling not in legal_moves(board), why
    board.remove_piece_at(chess.D1)
    board.remove_piece_at(chess.B8)
    assert castling in legal_moves(board)


def test_en_passant_square_is_given_where_no_capture_is_possible_and_cleared_by_a_drop() -> None:
    """The latter is a difference that ``docs/reference/match.md`` names."""
    assert fen(played("e2e4")).split()[3] == "e3"
    board = CrazyhouseBoard("4k3/3p4/8/4P3/8/8/8/4K3[Nn] b - - 0 1")
    for uci in ("d7d5", "N@a3"):
        board.push_uci(uci)
    assert fen(board).split()[3] == "-"


async def test_moves_comments_and_resignations_are_played(daemon_process: Served) -> None:
    white = script("fen", "e2e4 hello", "g1f3", "f1c4", "e1h1 castles")
    black = script("moves", "e7e5", "b8c6", "g8f6", "resign I am outplayed")
    ends = await play(daemon_process.port, white, black)
    assert [ending(witness) for witness in ends] == ["resignation_black"] * 2
    assert [witness.played[0].failed for witness in ends] == [False, False]
    assert await moves_of(daemon_process.port, ends[0]) == ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "e1g1"]


async def test_bot_that_asks_for_unknown_inputs_plays_on(
    daemon_process: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """`gmd match --referee` and `gmd connect` accept the same bots."""
    ends = await play(daemon_process.port, script("board fen", "e2e4"), script("", "resign"))
    assert [ending(witness) for witness in ends] == ["resignation_black"] * 2
    game_id = ends[0].played[0].place.game_id
    words = "unknown inputs 'board' are ignored; known are fen, moves, lastmove, draw, game, score"
    assert f"bash in game {game_id}: {words}" in caplog.text


async def test_draw_offer_is_accepted_in_the_next_turn_or_lost(
    daemon_process: Served, caplog: pytest.LogCaptureFixture
) -> None:
    ends = await play(daemon_process.port, script("fen", "e2e4="), script("draw", "draw thank you"))
    assert [ending(witness) for witness in ends] == ["draw_agreed"] * 2
    white, black = script("fen", "e2e4=", "d2d4"), script("draw", "e7e5", "draw")
    ends = await play(daemon_process.port, white, black)
    assert [ending(witness) for witness in ends] == ["resignation_black"] * 2
    assert "'draw' accepts an offer, but none was made" in caplog.text


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (
            "bash -c 'echo fen; echo e2e5; cat'",
            "bash in game {id}: 'e2e5' is not a legal move in rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w AHah",
        ),
        (
            "bash -c 'echo fen; echo castle!; cat'",
            "bash in game {id}: 'castle!' is not a move, 'random', 'resign' or 'draw'",
        ),
        ("true", "true in game {id} ended, with exit status 0"),
        ("bash -c 'kill -SEGV $$'", "bash in game {id} was ended by Segmentation fault"),
        ("bash -c 'exec >&-; while read line; do :; done'", "bash in game {id} closed its standard output"),
        ("bash -c 'cat /dev/zero'", "bash in game {id} wrote a line of more than 1048576 bytes"),
        ("sleep 1000", "sleep in game {id} wrote no configuration in 0.1 seconds"),
    ],
)
async def test_bot_that_answers_wrongly_ends_floods_or_is_silent_loses(
    command: str, reason: str, daemon_process: Served, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codingame_bot, "CONFIGURATION_SECONDS", 0.1 if command == "sleep 1000" else 60)
    plan = new_games(OTHER, colors=["white"], variant="standard")
    witness = await bridged(daemon_process.port, ME, CodinGameBots(command), plan)
    (played,) = witness.played
    assert (ending(witness), played.failed) == ("resignation_white", True)
    assert f"game {played.place.game_id}, white: {reason.format(id=played.place.game_id)}" in caplog.text


async def test_standard_error_is_logged_up_to_a_limit(
    daemon_process: Served, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(process, "MAX_LOGGED_LINES", 3)
    bots = CodinGameBots("bash -c 'echo fen; seq 1000 >&2; echo resign'")
    await bridged(daemon_process.port, ME, bots, new_games(OTHER, colors=["white"]))
    lines = [record.getMessage().partition(": ")[2] for record in caplog.records]
    assert lines == ["1", "2", "3", "more than 3 lines; the rest is not logged"]


LISTENER = """
import random, sys
rng = random.Random(sys.argv[1])
for _ in range(int(input())): print(input(), file=sys.stderr)
print("fen moves lastmove draw game score", flush=True)
while True:
    board, moves = input(), [input() for _ in range(int(input()))]
    print("told", board, "|", len(moves), "|", *[input() for _ in range(4)], sep="/", file=sys.stderr)
    print(rng.choice(moves), flush=True)
"""


@pytest.mark.parametrize("variant", ["chess960", "crazyhouse"])
async def test_bot_gets_the_inputs_it_asked_for(
    variant: str, daemon_process: Served, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    bot = tmp_path / "listener.py"
    bot.write_text(LISTENER)
    bots = CodinGameBots(f"{sys.executable} {bot} 4")
    witness = await bridged(
        daemon_process.port, ME, bots, new_games(ME, variant=variant, max_moves=20, draws="automatic")
    )
    assert [played.failed for played in witness.played] == [False, False]
    log = [record.getMessage().partition(": ")[2] for record in caplog.records]
    assert log.count(f"crazyHouse {int(variant == 'crazyhouse')}") == log.count("maxMoves 20") == 2
    place, moves = witness.played[0].place, await moves_of(daemon_process.port, witness)
    chess960 = variant == "chess960"
    board = (CrazyhouseBoard if variant == "crazyhouse" else chess.Board)(place.start_fen, chess960=chess960)
    expected = []
    for move in moves:
        expected.append(f"told/{fen(board)}/|/{board.legal_moves.count()}/|/{last_move(board)}/0/1/0 0")
        board.push_uci(move)
    assert len(moves) > 20
    assert [line for line in log if line.startswith("told")] == expected


async def test_claimable_draws_are_claimed(daemon_process: Served) -> None:
    there_and_back = ["g1f3", "f3g1"] * 4
    white = script("fen", *there_and_back)
    black = script("fen", *[move.replace("1", "8").replace("3", "6") for move in there_and_back])
    ends = await play(daemon_process.port, white, black, draws="claimed")
    assert [ending(witness) for witness in ends] == ["taken_draw_white"] * 2
    assert len(await moves_of(daemon_process.port, ends[0])) == 8


async def test_bot_may_join_a_game_in_progress(daemon_process: Served) -> None:
    async with await connect(port=daemon_process.port, player=ME) as client:
        pgn = "1.e4 e5 2.Nf3 Nc6 3.Bc4 Nf6"
        game_id = (await client.game_from_pgn(ME, ME, pgn=pgn))["game_id"]
    witness = await bridged(
        daemon_process.port, ME, script("lastmove", "e1h1", "resign"), lambda bridge: bridge.play_one(game_id)
    )
    assert {played.failed for played in witness.played} == {False, True}  # e1h1 is Black's answer, too


async def test_finished_or_unsuitable_game_is_refused(daemon_process: Served) -> None:
    async with await connect(port=daemon_process.port, player=ME) as client:
        over = (await client.new_game(ME, OTHER))["game_id"]
        await client.end_game(over, "resignation_white")
        others = (await client.new_game(OTHER, OTHER))["game_id"]
        blind = (await client.new_game(ME, OTHER, variant="rbc"))["game_id"]
    for game_id, reason in {
        over: f"game {over} is over: 0-1 resignation",
        others: f"player {ME} has no seat in game {others}, and none is open",
        blind: f"game {blind} is rbc, and {script('fen').name} plays chess960, crazyhouse, standard",
    }.items():
        with pytest.raises(BridgeError) as refused:
            await bridged(daemon_process.port, ME, script("fen"), lambda bridge, which=game_id: bridge.play_one(which))
        assert str(refused.value) == reason


@pytest.mark.slow
async def test_broken_connections_do_not_change_the_moves(daemon_process: Served) -> None:
    """Check that the same bots draw the same moves, whatever happens to the connection."""

    async def game(port: int) -> list[str]:
        bots = CodinGameBots("bash -c 'echo fen; yes random'", random.Random(7))
        witness = await bridged(port, ME, bots, new_games(ME, variant="standard", max_moves=40))
        assert [played.failed for played in witness.played] == [False, False]
        return await moves_of(daemon_process.port, witness)

    async with chaos(1, daemon_process.port, 5_000) as proxy:
        broken = await game(proxy.port)
    assert broken == await game(daemon_process.port)
    assert proxy.cuts > 10


def test_command_is_required() -> None:
    for command, reason in {"": "codingame: needs a command", "'a": "codingame:'a: No closing quotation"}.items():
        with pytest.raises(BotUnusable, match=reason):
            CodinGameBots(command)
