"""gmd's bots as players of reconchess's, loaded and played by reconchess's own programs."""

from __future__ import annotations

import random
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import chess
import pytest
from reconchess import Player, WinReason, load_player, play_local_game
from reconchess.bots.random_bot import RandomBot

from gm_arena.bot import BotUnusable
from tests.bots.reconchess_programs import wins_by_rc_bot_match, wins_by_rc_connect
from tests.tools import require_module, require_tool


class Kind(NamedTuple):
    """A bot that is a player of reconchess's."""

    bot: str
    module: str
    name: str
    variable: str
    #: Options with which it plays quickly.
    quick: dict[str, Any]
    #: Another value of the first of them that is refused, and how.
    refused: tuple[str, str]

    def make(self, **options: Any) -> Player:
        return load_player(self.module)[1](**options)

    def text(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.quick.items())


MINIMAX = Kind(
    *("minimax", "gm_bots.minimax", "Minimax", "GM_MINIMAX"),
    *({"depth": 1, "seed": 1}, ("depth=0", "depth=0 is not from 1 to 60")),
)
EXPECTATION = Kind(
    *("expectation", "gm_bots.expectation", "Expectation", "GM_EXPECTATION"),
    {"positions": 10, "depth": 2, "refined": 4, "seed": 1},
    ("positions=0", "positions=0 is not from 1 to 10000"),
)
RECON_ZERO = Kind(
    *("recon-zero", "gm_bots.recon_zero", "ReconZero", "GM_RECON_ZERO"),
    {"simulations": 10, "determinisations": 2, "seed": 1, "checkpoint": "none"},
    ("simulations=0", "simulations=0 is not from 1 to 100000"),
)


@pytest.fixture(
    params=[MINIMAX, EXPECTATION, pytest.param(RECON_ZERO, marks=pytest.mark.slow)], ids=lambda kind: kind.bot
)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Kind:
    """Return each of the bots, without options in the environment."""
    chosen: Kind = request.param
    if chosen is EXPECTATION:
        require_tool("stockfish")
    if chosen is RECON_ZERO:
        require_module("numba")
    monkeypatch.delenv(chosen.variable, raising=False)
    return chosen


@pytest.mark.slow
def test_reconchess_loads_the_player_by_name_and_folder(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(str(import_module(kind.module).__file__)).parent
    monkeypatch.setattr(sys, "path", [*sys.path])  # reconchess adds the folder
    for source in (kind.module, str(folder)):
        name, player = load_player(source)
        assert (name, type(player(**kind.quick)).__name__) == (kind.name, kind.name)


def test_package_lists_the_player_only_when_reconchess_is_installed(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = import_module(kind.module)
    assert kind.name in dir(package)
    monkeypatch.setitem(sys.modules, "reconchess", None)  # makes its import fail
    assert kind.name not in dir(package)
    with pytest.raises(AttributeError, match=f"module '{kind.module}' has no attribute 'Maximin'"):
        getattr(package, "Maximin")  # noqa: B009 - mypy knows that it is not there


@pytest.mark.slow
@pytest.mark.parametrize("color", chess.COLORS)
def test_player_takes_the_king_of_a_random_mover(color: chess.Color, kind: Kind) -> None:
    """Its last move ends the game, and reconchess reports that move to it like any other."""
    random.seed(1)
    quick = {"depth": 2} if kind is MINIMAX else kind.quick
    players: list[Player] = [RandomBot(), kind.make(**quick)]
    winner, reason, history = play_local_game(*(players if color == chess.BLACK else reversed(players)))
    assert (winner, reason) == (color, WinReason.KING_CAPTURE)
    names = (history.get_white_player_name(), history.get_black_player_name())
    assert names == ((kind.name, "RandomBot") if color else ("RandomBot", kind.name))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [MINIMAX, RECON_ZERO], indirect=True, ids=lambda kind: kind.bot)
def test_player_plays_several_games_and_a_seed_repeats_them(kind: Kind) -> None:
    def played() -> list[list[chess.Move | None]]:
        random.seed(1)
        player = kind.make(**kind.quick, **({"margin": 100} if kind is MINIMAX else {}))
        histories = [play_local_game(player, RandomBot())[2] for _ in range(2)]
        return [[history.requested_move(turn) for turn in history.turns(chess.WHITE)] for history in histories]

    first, again = played(), played()
    assert first == again
    assert first[0] != first[1]


def test_player_begins_from_the_given_board(kind: Kind) -> None:
    """Black moves first, the opponent has not moved yet, and an en passant capture takes the pawn behind its square."""
    player = kind.make(**kind.quick)
    player.handle_game_start(chess.BLACK, chess.Board("4k3/8/8/8/1pP5/8/3K4/8 b - c3 0 1"), "other")
    player.handle_opponent_move_result(False, None)
    capture = chess.Move.from_uci("b4c3")
    assert player.choose_sense(list(chess.SQUARES), [capture], 900) in chess.SQUARES
    player.handle_sense_result([(chess.C4, chess.Piece.from_symbol("P"))])
    assert player.choose_move([capture], 900) in (capture, None)
    player.handle_move_result(capture, capture, True, chess.C4)
    player.handle_opponent_move_result(True, chess.C3)
    assert player.choose_sense([chess.E4], [], 900) == chess.E4


def test_options_of_the_constructor_override_those_of_the_environment(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong, reason = kind.refused
    monkeypatch.setenv(kind.variable, f"{kind.text()},{wrong}")
    with pytest.raises(BotUnusable, match=f"{kind.bot}: {reason}"):
        kind.make()
    kind.make(**kind.quick)
    monkeypatch.setenv(kind.variable, "seed")
    with pytest.raises(BotUnusable, match=f"{kind.variable}: 'seed' is not NAME=VALUE"):
        kind.make()
    monkeypatch.setenv(kind.variable, "moon=2")
    with pytest.raises(BotUnusable, match=f"{kind.bot}: unknown option moon; known are "):
        kind.make()


@pytest.mark.parametrize("seconds", [0.0, 0.05, float("inf"), 10_000_000])
def test_player_moves_in_time_whatever_its_clock_says(seconds: float, kind: Kind) -> None:
    """reconchess gives infinity without a clock, and gmd over HTTP a large number."""
    endless = {"minimax": {"depth": 60}, "recon-zero": {"simulations": 100_000}}.get(kind.bot, {})
    player = kind.make(**{**kind.quick, **endless, "movetime": 0.05})
    player.handle_game_start(chess.WHITE, chess.Board(), "other")
    player.handle_opponent_move_result(False, None)
    allowed = list(chess.Board().legal_moves)
    assert player.choose_move(allowed, seconds) in [*allowed, None]


@pytest.mark.slow
def test_rc_bot_match_plays_the_player(kind: Kind, tmp_path: Path) -> None:
    wins_by_rc_bot_match(kind.module, kind.name, {kind.variable: kind.text()}, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", [MINIMAX, RECON_ZERO], indirect=True, ids=lambda kind: kind.bot)
def test_rc_connect_plays_the_player_on_a_daemon(kind: Kind) -> None:
    wins_by_rc_connect(kind.module, {kind.variable: kind.text()})
