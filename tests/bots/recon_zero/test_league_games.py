"""Games in step against others: all kinds of members, of which the learner's decisions are kept."""

from __future__ import annotations

from pathlib import Path

import chess
import pytest

pytest.importorskip("numba", reason="needs numba: .venv/bin/pip install -e '.[env]'")
pytest.importorskip("torch", reason="needs PyTorch: .venv/bin/pip install -e '.[train]'")

from gm_arena.bot import BotUnusable
from gm_bots.recon_zero.league.games import Fixture, Met, Rival, play_league
from gm_bots.recon_zero.league.members import Program
from gm_bots.recon_zero.lockstep.games import play_together
from gm_bots.recon_zero.lockstep.judging import Judge, count_material
from gm_bots.recon_zero.thinker import Settings
from tests.bots.recon_zero.learning import checkpoint
from tests.tools import require_tool

pytestmark = pytest.mark.slow

SETTINGS = Settings(determinisations=2, simulations=4, exploring=6, alarm=8)
MINIMAX = "minimax:depth=1,seed=1"


def fixtures(*members: str) -> list[Fixture]:
    """Return two games against each, one with each colour."""
    return [
        Fixture(f"{number} {color}", color, member) for number, member in enumerate(members) for color in chess.COLORS
    ]


def play(games: list[Fixture], rivals: dict[str, Rival], plies: int = 200, by: Judge = count_material) -> list[Met]:
    return play_league(by, games, rivals, SETTINGS, plies)


def told(met: list[Met]) -> list[object]:
    return [
        (game.member, game.outcome, [(each.planes.tobytes(), each.visits, each.searched) for each in game.samples])
        for game in met
    ]


def test_games_against_programs_end_and_repeat() -> None:
    rivals: dict[str, Rival] = {name: Program(name) for name in ("random", "attacker", MINIMAX)}
    rivals["same"] = count_material
    games = fixtures(*rivals)
    met = play(games, rivals)
    assert [game.member for game in met] == [fixture.member for fixture in games]
    assert {game.outcome for game in met} <= {-1.0, 0.0, 1.0}
    assert any(game.outcome for game in met)
    assert {game.ending for game in met if game.outcome} == {"king capture"}
    assert told(play(games, rivals)) == told(met)


def test_only_the_learners_decisions_are_kept() -> None:
    """Of five plies White makes three. Black's first sample has a pawn or a knight of White's moved."""
    white, black = play(fixtures("same"), {"same": count_material}, plies=5)
    assert (len(white.samples), len(black.samples)) == (3, 2)
    assert white.ending == black.ending == "too long"
    assert (white.outcome, black.outcome) == (0.0, 0.0)
    assert white.samples[0].planes[:6].sum() == 16
    start = white.samples[0].planes
    assert (black.samples[0].planes[6:12] != start[6:12]).any(), "White has moved before it"


def test_game_against_the_same_bot_is_a_game_against_itself() -> None:
    """With the same seed, and so with the same random numbers."""
    (itself,) = play_together(count_material, SETTINGS, ["one"], 30)
    (white,) = play([Fixture("one", chess.WHITE, "same")], {"same": count_material}, plies=30)
    (black,) = play([Fixture("one", chess.BLACK, "same")], {"same": count_material}, plies=30)
    both = [*white.samples, *black.samples]
    assert [sample.visits for sample in both] == [sample.visits for sample in itself]


def test_members_network_decides_its_own_moves(tmp_path: Path) -> None:
    """The learner's first decision is its own; what it meets later depends on the member."""
    from gm_bots.recon_zero.checkpoint import load_judge

    network = load_judge(checkpoint(tmp_path / "one.pt"))
    game = [Fixture("one", chess.WHITE, "other")]
    (against_material,) = play(game, {"other": count_material}, 30)
    (against_network,) = play(game, {"other": network}, 30)
    assert against_material.samples[0].visits == against_network.samples[0].visits
    assert told([against_material]) != told([against_network])
    (networks,) = play(game, {"other": count_material}, 30, by=network)
    assert networks.samples[0].visits != against_material.samples[0].visits


def test_trout_repeats_its_games() -> None:
    pytest.importorskip("reconchess", reason="needs reconchess: .venv/bin/pip install -e '.[reconchess]'")
    require_tool("stockfish")
    rivals: dict[str, Rival] = {"trout": Program("trout:nodes=200")}
    met = play(fixtures("trout", "trout"), rivals, 24)
    assert all(game.samples for game in met)
    assert told(play(fixtures("trout", "trout"), rivals, 24)) == told(met)


def test_stockfish_gets_no_board_with_more_pieces_than_chess_has() -> None:
    pytest.importorskip("reconchess", reason="needs reconchess: .venv/bin/pip install -e '.[reconchess]'")
    from gm_bots.recon_zero.league.trout import without_surplus

    seen = chess.Board("rnbqkbnr/pppppppp/4p3/8/3k4/2n5/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    left = without_surplus(seen)
    assert len(left.pieces(chess.KING, chess.BLACK)) == 1
    assert (len(left.pieces(chess.PAWN, chess.BLACK)), chess.popcount(left.occupied_co[chess.BLACK])) == (8, 16)
    assert left.piece_at(chess.E6) is not None, "it was seen where it is not at home"
    assert left.occupied_co[chess.WHITE] == seen.occupied_co[chess.WHITE]
    assert without_surplus(chess.Board()) == chess.Board()


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("fritz", "'fritz' is not a bot"),
        ("attacker:depth=2", "attacker: unknown option depth"),
        ("trout:nodes=0", "trout: nodes=0 is not from 1"),
        ("codingame:cat", "codingame:cat: plays chess960, crazyhouse, standard, and not blind chess"),
    ],
)
def test_program_that_cannot_play_is_refused(spec: str, complaint: str) -> None:
    with pytest.raises(BotUnusable, match=complaint):
        Program(spec).check()
