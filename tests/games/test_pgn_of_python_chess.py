"""Any PGN that python-chess writes is read here as python-chess reads it."""

from __future__ import annotations

import io
import random

import chess
import chess.pgn
import pytest

from gm_arena.replay.recorded import pgn_game, read_main_line
from gm_recon.pgn import ReconRules
from gmd.games.notation import run_through
from gmd.games.pgn_text import pgn_games, read_pgn
from tests.games.playing import STYLES, choose
from tests.games.talk import new_table
from tests.helpers import Client
from tests.oracle import start_board
from tests.proofs import cases

#: Parts of comments: python-chess takes closing braces out of them, and writes the rest as it is.
WORDS = [
    "good",
    "1-0",
    "2. Nf3",
    "(",
    ")",
    ";",
    "%",
    "[Event",
    '"x"]',
    "{",
    "}",
    "[%clk 0:01:02]",
    "\n",
    "é→",
    "$1",
    "\\",
]
TAGS = ["Event", "Site", "Round", "White", "Opening", "WhiteElo", "Annotator"]
VALUES = ["?", "", "A. N. Other", "1. e4 [x] {y} (z) ; %", "Ł’→", "1-0", "*", "x" * 90]


def text_of(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randrange(1, 12)))


#: The tags of the variants that python-chess does not know by name.
HIDDEN = {"rbc": "Reconnaissance blind chess", "dark_chess": "Dark chess"}


class _Headers(chess.pgn.Headers):
    def variant(self) -> type[chess.Board]:
        return ReconRules


def annotated(variant: str, rng: random.Random) -> chess.pgn.Game:
    """Return a game with comments, variations and assessments, of random moves."""
    game = chess.pgn.Game()
    if variant in HIDDEN:
        board: chess.Board = ReconRules()
    else:
        board = start_board(variant, **({} if variant == "standard" else {"position": rng.randrange(960)}))
    if rng.random() < 0.3:
        board.push(choose(board, "any", rng))
        board = type(board)(board.fen(shredder=board.chess960), chess960=board.chess960)
    game.setup(board)
    game.headers.update({tag: rng.choice(VALUES) for tag in rng.sample(TAGS, 3)})
    if variant in HIDDEN:
        game.headers = _Headers({**game.headers, "Variant": HIDDEN[variant]})
    game.headers["Result"] = rng.choice(["1-0", "0-1", "1/2-1/2", "*"])
    game.comment = text_of(rng) if rng.random() < 0.3 else ""
    annotate(game, board, rng, rng.choice(list(STYLES)), rng.randrange(60), 3)
    return game


def annotate(
    node: chess.pgn.GameNode, board: chess.Board, rng: random.Random, style: str, plies: int, variations: int
) -> None:
    """Add a line of moves to a node, and further lines beside some of them."""
    for _ in range(plies):
        if not any(board.legal_moves):
            return
        child = node.add_main_variation(choose(board, style, rng))
        child.nags = set(rng.choices(range(1, 140), k=rng.choice([0, 0, 0, 1, 2])))
        child.comment = text_of(rng) if rng.random() < 0.2 else ""
        others = [move for move in board.legal_moves if move != child.move]
        if variations and others and rng.random() < 0.15:
            other = rng.choice(others)
            side = node.add_variation(other, comment=text_of(rng), starting_comment=text_of(rng))
            beside = board.copy()
            beside.push(other)
            annotate(side, beside, rng, style, rng.randrange(5), variations - 1)
        board.push(child.move)
        node = child


def written(game: chess.pgn.Game, rng: random.Random) -> str:
    return game.accept(chess.pgn.StringExporter(columns=rng.choice([None, 80, 30]))) + "\n"


def squeezed(text: str) -> str:
    return " ".join(text.split())


async def test_any_game_is_read_as_by_python_chess(client: Client) -> None:
    rng = random.Random("written by python-chess")
    for number in range(cases(9)):
        variant = ("standard", "chess960", "crazyhouse")[number % 3]
        text = written(annotated(variant, rng), rng)
        theirs = chess.pgn.read_game(io.StringIO(text))
        assert theirs is not None
        ours = run_through(read_pgn(text, 1_000))
        assert ours.headers | {"Result": str(ours.result)} == dict(theirs.headers), text
        nodes = list(theirs.mainline())
        read = [squeezed(ours.comments.get(ply, "")) for ply in range(1, len(nodes) + 1)]
        assert read == [squeezed(node.comment) for node in nodes], text
        table = await new_table(client, pgn=text)
        assert table.options["variant"] == variant
        moves = (await client.ask("history", game_id=table.id))["moves"]
        assert moves == [theirs.board().uci(node.move) for node in nodes], text


class _Builder(chess.pgn.GameBuilder[chess.pgn.Game]):
    def begin_headers(self) -> chess.pgn.Headers:
        self.game.headers = _Headers({})
        return self.game.headers


@pytest.mark.parametrize("variant", HIDDEN)
def test_any_game_that_hides_something_is_read_as_by_python_chess_with_its_rules(variant: str) -> None:
    rng = random.Random(f"{variant}, written by python-chess")
    for _ in range(cases(4)):
        text = written(annotated(variant, rng), rng)
        theirs = chess.pgn.read_game(io.StringIO(text), Visitor=_Builder)
        assert theirs is not None
        (found,) = pgn_games(io.StringIO(text), 1_000)
        ours = found.read()
        assert ours.headers | {"Result": str(ours.result)} == dict(theirs.headers), text
        nodes, wrong = read_main_line(ours, theirs.board())
        assert (wrong, theirs.errors) == ("", [])
        assert [node.move for node in nodes] == [node.move for node in theirs.mainline()], text
        said = [[squeezed(node.comment) for node in read] for read in (nodes, theirs.mainline())]
        assert said[0] == said[1], text
        replayed = pgn_game(found, "here")
        taken = replayed.history and [turn.taken or chess.Move.null() for turn in replayed.history.turns]
        assert (taken or [node.move for node in replayed.moves]) == [node.move for node in nodes], text


def test_any_file_is_read_as_by_python_chess() -> None:
    rng = random.Random("a file of python-chess")
    texts = [written(annotated(rng.choice(["standard", "chess960", "crazyhouse"]), rng), rng) for _ in range(cases(9))]
    found = pgn_games(io.StringIO("\n".join(texts)), 1_000)
    assert [game.read() for game in found] == [run_through(read_pgn(text, 1_000)) for text in texts]
