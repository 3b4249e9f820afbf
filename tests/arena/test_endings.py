"""The terminations of games, which are described everywhere in the same words."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from gm_arena.endings import CAUSES, ending_words, reason_words, result_words
from gm_arena.match.game import ending
from gm_arena.replay.recorded import pgn_game, served_game
from gm_protocol.endings import TERMINATIONS, Cause, Ending, Termination
from gm_recon import WinReason
from gm_recon.pgn_reading import REASONS
from gmd.games.pgn_text import pgn_games
from gmd.http.pages.words import result_words as page_words
from tests.helpers import running_daemon

WORDS = {
    "available_move": "available_move",
    "victory": "checkmate",
    "stalemate": "stalemate",
    "taken_draw": "draw claimed",
    "resignation": "resignation",
    "timeout": "time",
    "forfeit": "illegal move",
    "draw_agreed": "agreement",
    "draw_repetition": "threefold repetition",
    "draw_fifty_moves": "fifty-move rule",
    "draw_material": "insufficient material",
    "draw_move_limit": "move limit",
    "draw_turn_limit": "turn limit",
    "declined": "declined",
    "withdrawn": "withdrawn",
    "expired": "expired",
    "draw_timeout": "time against insufficient material",
}


@pytest.mark.parametrize("termination", get_args(Termination))
def test_every_termination_has_words_and_a_match_uses_the_same(termination: Termination) -> None:
    kind = termination.removesuffix("_white").removesuffix("_black")
    assert ending_words(termination) == WORDS[kind]
    assert ending_words(termination, "rbc") == {**WORDS, "victory": "king capture"}[kind]
    for variant in ("standard", "chess960", "crazyhouse", "rbc"):
        state: Any = {"termination": termination, "variant": variant}
        assert ending(state, {}) == ending_words(termination, variant)


def test_other_words_and_results() -> None:
    for reason in WinReason:
        assert REASONS[CAUSES[reason].value.word] is reason, "a record of blind chess ends as on the server"
        assert reason_words(reason) == CAUSES[reason].value.words
    for other in ("", "normal", "time forfeit", "White mates"):
        assert ending_words(other) == other, "endings of other programs stay as they are"
    assert result_words("1/2-1/2", "draw_turn_limit", "rbc") == "1/2-1/2 turn limit"


@pytest.mark.parametrize("ending", list(TERMINATIONS))
def test_sentence_on_pages_has_the_words_of_results(ending: Ending) -> None:
    exceptions = {Cause.DRAW_CLAIM, Cause.DECLINED, Cause.WITHDRAWN, Cause.EXPIRED}
    assert (ending.words in ending.sentence) or ending.cause in exceptions


async def test_blind_game_that_the_limit_of_moves_draws_ends_so_on_its_page_in_its_pgn_and_in_its_replay() -> None:
    async with running_daemon(max_plies=2) as daemon:
        game_id = (await daemon.ask("new_game", player_white=1, player_black=2, variant="rbc"))["game_id"]
        for player in (1, 2):
            await daemon.ask("sense", game_id=game_id, player=player, square=None)
            await daemon.ask("move", game_id=game_id, player=player, move=None)
        reply: Any = await daemon.ask("history", game_id=game_id)
        termination = (await daemon.ask("state", game_id=game_id))["state"]["termination"]
    assert page_words(termination, "rbc") == "Draw by move limit"
    assert served_game(reply, "game 1").ending == "move limit"
    assert pgn_game(next(pgn_games([reply["pgn"]], 10**6)), "game 1").ending == "move limit"
