"""UCI engines play through the bridge: a small one that shows its input, and Stockfish."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gm_arena.bot import BotFailed, BotUnusable
from gm_arena.bridge import BridgeError
from gm_arena.uci_bot import Limits, UciBots
from gm_client.blocking import Color, GameState
from gm_client.trio_client import connect
from tests.arena.playing import BOTS, Witness, bridged, new_games
from tests.serving import Served
from tests.tools import require_tool

ME, OTHER = 74_001, 74_002
COLORS: tuple[Color, ...] = get_args(Color)

Engines = Callable[..., UciBots]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return the file in which a test's engine records its input."""
    return tmp_path / "log"


@pytest.fixture
def engine(log: Path) -> Engines:
    """Return a function that makes the small engine, with the trouble of its second move."""

    def make(trouble: str = "play", **arguments: Any) -> UciBots:
        return UciBots(f"{sys.executable} {BOTS / 'engine.py'} {log} {trouble}", **arguments)

    return make


def lines(log: Path, first: str) -> list[str]:
    return [line for line in log.read_text().splitlines() if line.startswith(first)]


async def history(port: int, witness: Witness) -> list[str]:
    async with await connect(port=port) as client:
        return (await client.history(witness.played[0].place.game_id))["moves"]


@pytest.mark.slow
async def test_engine_gets_the_position_and_all_moves(engine: Engines, log: Path, daemon_process: Served) -> None:
    witness = await bridged(daemon_process.port, ME, engine(), new_games(ME, max_moves=6))
    assert [played.failed for played in witness.played] == [False, False]
    moves = await history(daemon_process.port, witness)
    positions = {line.partition("moves")[2].strip() for line in lines(log, "position startpos")}
    assert positions == {" ".join(moves[:ply]) for ply in range(12)}
    assert lines(log, "go") == ["go movetime 1000"] * 12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "limits", "line"),
    [
        (
            {"clock": {"initial": 1000, "increment": 2}},
            Limits(seconds=5),
            r"go wtime (\d+) btime (\d+) winc 2000 binc 2000 movetime 5000",
        ),
        ({"clock": {"first_move": 900, "per_move": 700}}, None, r"go wtime (\d+) btime (\d+) movestogo 1"),
        ({}, Limits(seconds=0.25, depth=4), "go depth 4 movetime 250"),
    ],
)
async def test_engine_gets_the_clocks_or_limits(
    options: dict[str, Any], limits: Limits, line: str, engine: Engines, log: Path, daemon_process: Served
) -> None:
    await bridged(daemon_process.port, ME, engine(limits=limits), new_games(ME, max_moves=2, **options))
    for each in lines(log, "go"):
        found = re.fullmatch(line, each)
        assert found
        assert all(400_000 < int(milliseconds) <= 1_010_000 for milliseconds in found.groups())


def clocks(white: float, black: float, turn: Color) -> GameState:
    return cast(GameState, {"clock": {"white": white, "black": black}, "turn": turn})


@pytest.mark.parametrize(
    ("clock", "seconds", "line"),
    [
        ({"initial": 60.0}, 2.0, "go wtime 40000 btime 30000 winc 0 binc 0 movetime 2000"),
        ({"initial": 60.0}, 9.0, "go wtime 40000 btime 30000 winc 0 binc 0 movetime 4000"),
        ({"initial": 60.0, "increment": 1.5}, 9.0, "go wtime 40000 btime 30000 winc 1500 binc 1500 movetime 5500"),
        ({"initial": 60.0, "increment": 50.0}, 90.0, "go wtime 40000 btime 30000 winc 50000 binc 50000 movetime 32000"),
        ({"first_move": 60.0, "per_move": 40.0}, 50.0, "go wtime 40000 btime 30000 movestogo 1 movetime 32000"),
        ({"initial": 60.0}, None, "go wtime 40000 btime 30000 winc 0 binc 0"),
        (None, 0.25, "go movetime 250"),
    ],
)
def test_movetime_with_a_clock_is_at_most_what_the_clock_allows(
    clock: dict[str, float], seconds: float | None, line: str
) -> None:
    assert Limits(seconds=seconds).of(clocks(40.0, 30.0, "white"), {"clock": clock}) == line


@given(st.floats(0.001, 1e4), st.floats(0.0, 1e4), st.floats(0.0, 100.0), st.booleans(), st.sampled_from(COLORS))
def test_movetime_never_exceeds_the_limit_or_the_time_left(
    seconds: float, left: float, increment: float, for_one_move: bool, turn: Color
) -> None:
    clock = {"first_move": 1.0, "per_move": 1.0} if for_one_move else {"initial": 1.0, "increment": increment}
    state = clocks(left, 5e4, turn) if turn == "white" else clocks(5e4, left, turn)
    sent = int(Limits(seconds=seconds).of(state, {"clock": clock}).rpartition(" movetime ")[2])
    assert sent <= max(1, round(1000 * min(seconds, left)))


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["chess960", "crazyhouse"])
async def test_variants_are_set_as_options(variant: str, engine: Engines, log: Path, daemon_process: Served) -> None:
    options = {"variant": variant, "position": 342, "max_moves": 30, "draws": "automatic"}
    witness = await bridged(daemon_process.port, ME, engine(), new_games(ME, **options))
    assert [played.failed for played in witness.played] == [False, False]
    assert lines(log, "setoption name UCI_Chess960") == ["setoption name UCI_Chess960 value true"] * 2
    assert bool(lines(log, "setoption name UCI_Variant value crazyhouse")) == (variant == "crazyhouse")
    assert any(line.startswith("position fen nrbkqbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN") for line in lines(log, "p"))


@pytest.mark.slow
async def test_options_are_set(engine: Engines, log: Path, daemon_process: Served) -> None:
    await bridged(daemon_process.port, ME, engine(options={"Style": "wild"}), new_games(ME, max_moves=1))
    assert lines(log, "setoption name Style") == ["setoption name Style value wild"] * 2
    with pytest.raises(BotFailed, match="engine does not support option Colour"):
        await bridged(daemon_process.port, ME, engine(options={"Colour": "red"}), new_games(ME))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        ("none", "wrote (none) in "),
        ("illegal", "e1e8 is not a legal move in "),
        ("garbage", "wrote '?!', which is not a move, in "),
        ("die", "ended, with exit status 7"),
    ],
)
async def test_forbidden_action_of_an_engine_loses(
    trouble: str, reason: str, engine: Engines, daemon_process: Served, caplog: pytest.LogCaptureFixture
) -> None:
    witness = await bridged(daemon_process.port, ME, engine(trouble), new_games(ME))
    failed = next(played for played in witness.played if played.failed)
    assert failed.state["termination"] == f"resignation_{failed.place.seat}"
    assert reason in caplog.text


@pytest.mark.slow
async def test_moves_in_an_unusual_form_are_played_once(engine: Engines, log: Path, daemon_process: Served) -> None:
    fen = "8/6PP/8/1k4K1/8/8/pp6/8 w - - 0 1"
    witness = await bridged(daemon_process.port, ME, engine("odd"), new_games(ME, max_moves=3, fen=fen))
    assert [played.failed for played in witness.played] == [False, False]
    moves = await history(daemon_process.port, witness)
    assert (len(moves), len(moves[0]), len(lines(log, "go"))) == (6, 5, 6)
    heard = [line.split()[0] for line in lines(log, "") if line.startswith(("isready", "go"))]
    assert heard.count("isready") == 2 + 2 + 6  # of each at its start, and before and after every move


async def test_program_that_is_no_engine_is_refused_at_once(daemon_process: Served) -> None:
    for command, reason in {"./no-such": "No such file or directory", "true": "ended, with exit status 0"}.items():
        with pytest.raises(BotFailed, match=f"'{command}' (cannot be started|is no UCI engine): .*{reason}"):
            await bridged(daemon_process.port, ME, UciBots(command), new_games(OTHER))
    with pytest.raises(BotUnusable, match="uci: needs a command"):
        UciBots("")


@pytest.mark.slow
async def test_engine_that_joins_a_game_in_progress_gets_its_moves(
    engine: Engines, log: Path, daemon_process: Served
) -> None:
    async with await connect(port=daemon_process.port, player=ME) as client:
        game_id = (await client.game_from_pgn(ME, ME, pgn="1.e4 e5 2.Nf3 Nc6", max_moves=4))["game_id"]
    await bridged(daemon_process.port, ME, engine(), lambda bridge: bridge.play_one(game_id))
    assert lines(log, "position")[0] == "position startpos moves e2e4 e7e5 g1f3 b8c6"


@pytest.mark.slow
async def test_game_that_is_over_at_once_is_played(engine: Engines, daemon_process: Served) -> None:
    mated = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
    witness = await bridged(daemon_process.port, ME, engine(), new_games(OTHER, colors=["white"], fen=mated))
    assert [(played.failed, played.state["termination"]) for played in witness.played] == [(False, "victory_black")]


# Stockfish.


@pytest.fixture(scope="session")
def stockfish() -> str:
    return str(require_tool("stockfish"))


@pytest.mark.slow
async def test_stockfish_plays_chess960_against_itself(stockfish: str, daemon_process: Served) -> None:
    bots = UciBots(stockfish, {"Threads": "1", "Hash": "16"}, Limits(nodes=200))
    plan = new_games(ME, 2, variant="chess960", max_moves=30)
    witness = await bridged(daemon_process.port, ME, bots, plan)
    assert [played.failed for played in witness.played] == [False] * 4
    assert bots.name.startswith("Stockfish")


async def test_variant_that_an_engine_does_not_play_is_refused(stockfish: str, daemon_process: Served) -> None:
    with pytest.raises(BridgeError, match=r"a new game is crazyhouse, and Stockfish .* plays chess960, standard"):
        await bridged(daemon_process.port, ME, UciBots(stockfish), new_games(OTHER, variant="crazyhouse"))
