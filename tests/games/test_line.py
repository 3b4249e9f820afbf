"""Moves on a line have the results that they have one by one, where replies are made of each."""

from __future__ import annotations

import random
from collections.abc import Callable

import chess

from gm_protocol.errors import GmError
from gmd.games.facts import Played, facts_of
from gmd.games.line import Line
from gmd.games.position import Family, pack
from tests.games.playing import STYLES, choose
from tests.proofs import cases


def result_of(play: Callable[[str], Played], text: str) -> tuple[object, ...]:
    """Return what a text does: the move, or the refusal."""
    try:
        made = play(text)
    except GmError as error:
        return (str(error),)
    return made.uci, made.san, made.code, made.position, made.zeroing


def test_every_move_and_every_refusal_is_the_one_of_the_position() -> None:
    rng = random.Random("lines")
    for _ in range(cases(6)):
        family = rng.choice(list(Family))
        board = family.board()
        board.set_chess960_pos(rng.randrange(960) if family.chess960 else 518)
        board.chess960 = family.chess960
        style, position, line = rng.choice(list(STYLES)), pack(board), Line(pack(board))
        while len(board.move_stack) < 60 and any(board.legal_moves):
            move = choose(board, style, rng)
            text = rng.choice([board.san(move), board.uci(move), board.lan(move)])
            any_text = rng.choice(["", *"NBRQK"]) + rng.choice(["", *chess.FILE_NAMES]) + rng.choice(chess.SQUARE_NAMES)
            facts = facts_of(position)
            assert result_of(Line(position).play, any_text) == result_of(facts.play, any_text)
            assert result_of(line.play, text) == result_of(facts.play, text)
            assert line.can_move() == facts.play(text).goes_on
            position = facts.play(text).position
            board.push(move)
