"""The engine by UCI: its answers, its refusals, and its attention to commands during a search."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Iterator

import chess
import chess.engine
import pytest

from gm_bots.minimax.uci import BadCommand, Limit, Uci, read_limit, read_position

#: Seconds after which an answer counts as missing.
PATIENCE = 120


class Conversation:
    """Both sides of a conversation; the engine's runs in a thread."""

    def __init__(self) -> None:
        self._output: queue.Queue[str] = queue.Queue()
        self._input: queue.Queue[str | None] = queue.Queue()
        self._thread = threading.Thread(target=Uci(self._output.put).run, args=(iter(self._input.get, None),))
        self._thread.start()

    def send(self, *lines: str) -> None:
        for line in lines:
            self._input.put(line)

    def receive(self, until: str) -> list[str]:
        """Return the lines up to one that begins with a text."""
        received: list[str] = []
        while not received or not received[-1].startswith(until):
            received.append(self._output.get(timeout=PATIENCE))
        return received

    def end(self) -> list[str]:
        """End the input; return the lines not yet received."""
        self._input.put(None)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return [self._output.get() for _ in range(self._output.qsize())]


@pytest.fixture
def engine() -> Iterator[Conversation]:
    conversation = Conversation()
    yield conversation
    conversation.end()


def test_engine_introduces_itself_with_its_options(engine: Conversation) -> None:
    engine.send("uci", "isready")
    name, _, *options, ok, ready = engine.receive("readyok")
    assert (name, ok, ready) == ("id name gmd minimax", "uciok", "readyok")
    known = ("Hash type spin", "Seed type spin", "Margin type spin", "MaxDepth type spin", "CheckExtension type check")
    assert [option.partition(" default")[0] for option in options] == [
        *(f"option name {each}" for each in known), "option name Clear Hash type button",
    ]  # fmt: skip


def test_engine_searches_to_a_depth(engine: Conversation) -> None:
    engine.send("position startpos moves e2e4 e7e5", "go depth 3")
    *infos, best = engine.receive("bestmove")
    assert [info.split()[:3] for info in infos] == [["info", "depth", str(depth)] for depth in (1, 2, 3)]
    words = infos[-1].split()
    assert [words[number] for number in (3, 5, 6, 8, 10, 12, 14)] == [
        "seldepth", "score", "cp", "nodes", "nps", "time", "pv",
    ]  # fmt: skip
    assert best.split()[1] == words[15]


def test_mates_are_reported_as_mates(engine: Conversation) -> None:
    engine.send("position fen 7k/R7/8/8/8/8/8/1R5K w - - 0 1", "go movetime 5000")
    *_, info, best = engine.receive("bestmove")
    assert " score mate 1 " in info
    assert best == "bestmove b1b8"
    engine.send("position fen 7k/1R6/R7/8/8/8/8/7K b - - 0 1", "go depth 2")
    assert " score mate -1 " in engine.receive("bestmove")[-2]


def test_searchmoves_restricts_the_search(engine: Conversation) -> None:
    engine.send("position startpos", "go searchmoves a2a3 h2h4 depth 2")
    assert engine.receive("bestmove")[-1] in ("bestmove a2a3", "bestmove h2h4")
    engine.send("position fen 7k/R7/8/8/8/8/8/1R5K w - - 0 1", "go depth 3 searchmoves h1g1")
    assert engine.receive("bestmove")[-1] == "bestmove h1g1"


def test_finished_game_has_no_best_move(engine: Conversation) -> None:
    engine.send("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "go depth 3")
    assert engine.receive("bestmove")[-1] == "bestmove (none)"


def test_engine_reads_commands_during_a_search_and_stops_on_request(engine: Conversation) -> None:
    engine.send("position startpos", "go infinite", "isready")
    assert not any(line.startswith("bestmove") for line in engine.receive("readyok"))
    engine.send("stop")
    assert chess.Move.from_uci(engine.receive("bestmove")[-1].split()[1]) in chess.Board().legal_moves


def test_finished_infinite_search_waits_for_stop(engine: Conversation) -> None:
    engine.send("position fen 7k/R7/8/8/8/8/8/1R5K w - - 0 1", "go infinite")
    engine.receive("info depth 1 ")
    engine.send("isready")
    assert engine.receive("readyok") == ["readyok"]
    engine.send("stop")
    assert engine.receive("bestmove") == ["bestmove b1b8"]


@pytest.mark.parametrize("command", ["ponderhit", "stop"])
@pytest.mark.parametrize("limit", ["depth 1", "movetime 1", "wtime 1 btime 1"])
def test_finished_search_of_ponder_waits_for_ponderhit_or_stop(limit: str, command: str, engine: Conversation) -> None:
    engine.send("position fen 7k/R7/8/8/8/8/8/1R5K w - - 0 1", f"go ponder {limit}")
    engine.receive("info depth 1 ")
    engine.send("isready")
    assert engine.receive("readyok") == ["readyok"]
    engine.send(command)
    assert engine.receive("bestmove") == ["bestmove b1b8"]


def test_search_of_ponder_goes_on_after_ponderhit(engine: Conversation) -> None:
    engine.send("position startpos", "go ponder depth 3", "ponderhit")
    assert engine.receive("bestmove")[-2].startswith("info depth 3 ")


def test_ponderhit_does_not_end_an_infinite_search(engine: Conversation) -> None:
    engine.send("position fen 7k/R7/8/8/8/8/8/1R5K w - - 0 1", "go infinite")
    engine.receive("info depth 1 ")
    engine.send("ponderhit", "isready")
    assert engine.receive("readyok") == ["readyok"]


def test_command_after_an_unknown_word_is_obeyed(engine: Conversation) -> None:
    """UCI requires this: "joho debug on" is "debug on"."""
    engine.send("joho isready please")
    assert engine.receive("readyok") == ["info string 'joho' is not a known UCI command", "readyok"]


def test_stop_without_a_search_prints_nothing(engine: Conversation) -> None:
    engine.send("stop", "ponderhit", "", "debug on", "ucinewgame", "isready")
    assert engine.receive("readyok") == ["readyok"]


def test_end_of_the_input_ends_a_search() -> None:
    engine = Conversation()
    engine.send("go infinite")
    assert engine.end()[-1].startswith("bestmove ")


def test_search_without_the_check_extension_misses_a_mate(engine: Conversation) -> None:
    """The mate is one ply after a check: a search without the extension does not see it."""
    mate_in_two = "r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1"  # 1.Ra6+ f6 2.Bxf6+ Rg7 3.Rxa8#, the rook gives check
    sees: dict[str, list[str]] = {}
    for value in ("true", "false"):
        engine.send(f"setoption name CheckExtension value {value}", f"position fen {mate_in_two}", "go depth 3")
        sees[value] = engine.receive("bestmove")[-2].split()
    assert sees["true"][sees["true"].index("score") + 1] == "mate"
    assert sees["false"][sees["false"].index("score") + 1] == "cp"
    engine.send("setoption name CheckExtension value 1", "isready")
    assert engine.receive("readyok")[0] == "info string CheckExtension: '1' is neither true nor false"


def test_options_are_set(engine: Conversation) -> None:
    engine.send(
        "setoption name MaxDepth value 2", "setoption name clear hash", "setoption name HASH value 16", "go depth 5"
    )
    assert engine.receive("bestmove")[-2].startswith("info depth 2 ")
    moves = set()
    engine.send("setoption name Margin value 50")
    for seed in range(1, 20):
        engine.send(f"setoption name Seed value {seed}", "go depth 1")
        moves.add(engine.receive("bestmove")[-1])
    assert len(moves) > 2


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("castle", "'castle' is not a known UCI command"),
        ("setoption name Skill value 3",
         "'Skill' is not an option: known are Hash, Seed, Margin, MaxDepth, CheckExtension and Clear Hash"),
        ("setoption name Hash value 0", "Hash: 0 is not from 1 to 65536"),
        ("go depth", "go: depth needs a number"),
        ("go searchmoves e2e4 depth 3", "go: searchmoves: e2e4 is not legal here"),
        ("go depth 3 searchmoves", "go: searchmoves needs moves"),
        ("position", "position: needs startpos, or fen and a FEN"),
        ("position startpos moves e2e5", f"position: illegal uci: 'e2e5' in {chess.STARTING_FEN}"),
    ],
)  # fmt: skip
def test_wrong_command_is_reported_and_changes_nothing(line: str, complaint: str, engine: Conversation) -> None:
    engine.send("position startpos moves e2e4", line, "go depth 1")
    *_, best = said = engine.receive("bestmove")
    assert said[0] == f"info string {complaint}"
    assert best == "bestmove g8f6"


def test_position_that_cannot_be_searched_is_reported(engine: Conversation) -> None:
    engine.send("position fen 8/8/8/8/8/8/8/4K3 w - - 0 1", "go depth 1")
    complaint = "info string '8/8/8/8/8/8/8/4K3 w - - 0 1': each side needs one king"
    assert engine.receive("bestmove") == [complaint, "bestmove (none)"]


@pytest.mark.parametrize(
    ("text", "turn", "limit"),
    [
        ("infinite", chess.WHITE, Limit()),
        ("depth 4", chess.WHITE, Limit(depth=4)),
        ("nodes 500 movetime 250", chess.WHITE, Limit(nodes=500, seconds=0.25)),
        ("mate 3", chess.WHITE, Limit(depth=5)),
        ("wtime 60000 btime 30000 winc 1000 binc 500", chess.WHITE, Limit(clock=60, increment=1)),
        ("wtime 60000 btime 30000 winc 1000 binc 500", chess.BLACK, Limit(clock=30, increment=0.5)),
        ("wtime 60000 btime -10 movestogo 7", chess.BLACK, Limit(clock=0, moves_to_go=7)),
        ("wtime 60000", chess.BLACK, Limit()),
    ],
)
def test_limits_are_read(text: str, turn: chess.Color, limit: Limit) -> None:
    assert read_limit(text.split(), turn) == limit


def test_positions_are_read() -> None:
    assert (
        read_position(["startpos", "moves", "g1f3"]).fen()
        == "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1"
    )
    fen = "7k/R7/8/8/8/8/8/1R5K w - - 3 40"
    assert read_position(f"fen {fen}".split()).fen() == fen
    with pytest.raises(BadCommand, match="position: "):
        read_position(["fen", "nonsense"])


# The engine as programs drive it.

COMMANDS = ([sys.executable, "-m", "gm_bots.minimax"], [sys.executable, "-m", "gmd", "uci", "minimax"])


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_quit_ends_the_process_at_once(command: list[str]) -> None:
    lines = "uci\ngo infinite\nquit\n"
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("bestmove ")


@pytest.mark.slow
def test_python_chess_drives_the_engine() -> None:
    with chess.engine.SimpleEngine.popen_uci(COMMANDS[0]) as engine:
        engine.configure({"Hash": 8, "Seed": 0})
        board = chess.Board()
        while not board.is_game_over() and board.ply() < 20:
            limit = chess.engine.Limit(depth=2) if board.turn else chess.engine.Limit(white_clock=1, black_clock=1)
            played = engine.play(board, limit, info=chess.engine.INFO_SCORE)
            assert played.move is not None
            assert "score" in played.info
            board.push(played.move)
        assert board.ply() == 20
