"""``belief``: the possible positions of a player of blind chess, from what it has observed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import cast

import chess
import pytest
import trio
import trio.testing
from chess import Board, Move
from trio.testing import MockClock

from gm_recon.belief import PIECES
from gm_recon.possible import SENSE_SQUARES
from gmd.daemon import Daemon
from gmd.games.rbc import RbcGame
from gmd.handlers.in_process import Refused
from gmd.play.beliefs import MOST_KEPT, SAMPLE_CAP, FollowedCache
from gmd.play.budget import Budget
from gmd.tcp.session import Session
from tests.helpers import START_FEN, Client, Json, connected, memory_daemon, running_daemon

SEATS: dict[str, int] = {"white": 1, "black": 2}
#: White can take the king at once.
DECIDED = "4k3/8/8/8/8/8/4Q3/4K3 w - - 0 1"


async def begun(client: Client, **options: object) -> None:
    """Begin game 1, of rbc between 1 and 2."""
    await client.new_game(**{"variant": "rbc", "clock": None, **options})


async def ask(client: Client, seat: str, **fields: object) -> Json:
    """Return a seat's belief in game 1."""
    reply = await client.ask("belief", game_id=1, player=SEATS[seat], **fields)
    assert reply["error"] is None
    return reply


async def turn(client: Client, seat: str, square: str | None, move: str | None, game_id: int = 1) -> None:
    for kind, fields in (("sense", {"square": square}), ("move", {"move": move})):
        reply = await client.ask(kind, game_id=game_id, player=SEATS[seat], brief=True, **fields)
        assert reply["error"] is None


async def played_at_random(client: Client, rng: random.Random) -> None:
    """Play a turn in game 1, with a sense that shows much."""
    state = (await client.ask("state", game_id=1, player=1))["state"]
    if state["phase"] != "over":
        moves = (await client.ask("actions", game_id=1, player=SEATS[state["turn"]]))["move_actions"]
        await turn(client, state["turn"], rng.choice(["c3", "f3", "c6", "f6", "d4", "e5"]), rng.choice(moves))


def truth(daemon: Daemon) -> Board:
    """Return the true position of game 1."""
    live = daemon.arbiter.cached(1)
    assert live is not None
    return cast(RbcGame, live.game).recon.board.as_chess()


def forget(daemon: Daemon) -> None:
    """Forget all positions, as if others had taken their places."""
    daemon.services.beliefs.kept = FollowedCache(MOST_KEPT, held=0.0, idle=0.0)


def key(board: Board) -> str:
    """Return what tells positions apart: pieces, side to move, castling rights and en passant."""
    return " ".join(board.fen(en_passant="fen").split()[:4])


async def test_belief_begins_with_the_start_position_for_both_seats(client: Client) -> None:
    await begun(client)
    for seat in SEATS:
        belief = await ask(client, seat, samples=5)
        assert (belief["ply"], belief["count"], belief["exact"]) == (0, 1, True)
        assert belief["samples"] == [START_FEN]
        board = Board()
        for piece, row in zip(PIECES, belief["marginals"], strict=True):
            assert row == [float(board.piece_at(square) == piece) for square in chess.SQUARES]


def after_one_move() -> Iterator[Board]:
    """Yield the positions after White's first move or pass."""
    for move in [Move.null(), *Board().pseudo_legal_moves]:
        board = Board()
        board.push(move)
        yield board


async def test_samples_are_the_possible_positions_and_marginals_their_shares(client: Client) -> None:
    await begun(client)
    await turn(client, "white", "e7", "e2e4")
    belief = await ask(client, "black", samples=100)
    assert (belief["ply"], belief["count"], belief["exact"]) == (1, 21, True)
    boards = [Board(fen) for fen in belief["samples"]]
    assert {board.board_fen() for board in boards} == {board.board_fen() for board in after_one_move()}
    assert len(boards) == 21
    for piece, row in zip(PIECES, belief["marginals"], strict=True):
        expected = [sum(board.piece_at(square) == piece for board in boards) / 21 for square in chess.SQUARES]
        assert row == pytest.approx(expected)
    assert (await ask(client, "white"))["count"] == 1
    await client.ask("sense", game_id=1, player=2, square="e3")
    assert (await ask(client, "black"))["count"] == 1


async def test_same_seed_draws_the_same_samples_and_another_seed_others(client: Client) -> None:
    await begun(client)
    await turn(client, "white", None, "e2e4")
    one, again, other = [await ask(client, "black", samples=4, seed=seed) for seed in (1, 1, 2)]
    assert one == again
    assert len(set(one["samples"])) == 4
    assert one["samples"] != other["samples"]
    assert one["marginals"] == other["marginals"]


async def test_belief_has_the_truth_and_is_the_same_after_a_restart_of_the_following() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await begun(client)
        rng = random.Random(1)
        for _ in range(6):
            await played_at_random(client, rng)
            for seat in SEATS:
                belief = await ask(client, seat, samples=10)
                if truth(daemon).king(chess.WHITE) and truth(daemon).king(chess.BLACK) and belief["exact"]:
                    shares = [belief["marginals"][PIECES.index(p)][s] for s, p in truth(daemon).piece_map().items()]
                    assert min(shares) >= 1 / belief["count"] - 1e-12
        followed = [await ask(client, seat, samples=10) for seat in SEATS]
        forget(daemon)
        assert [await ask(client, seat, samples=10) for seat in SEATS] == followed


async def test_finished_game_keeps_each_seats_own_belief(client: Client) -> None:
    await begun(client)
    await turn(client, "white", None, "e2e4")
    before = await ask(client, "black")
    await client.ask("end_game", game_id=1, player=2, termination="resignation_black")
    assert await ask(client, "black") == before
    assert (await ask(client, "white"))["count"] == 1


async def test_capture_of_a_king_is_left_out(client: Client) -> None:
    await begun(client, fen=DECIDED)
    before = await ask(client, "white"), await ask(client, "black")
    await turn(client, "white", None, "e2e8")
    assert (await client.ask("state", game_id=1))["state"]["phase"] == "over"
    assert (await ask(client, "white"), await ask(client, "black")) == before


async def test_more_positions_than_the_cap_are_sampled_and_said_to_be_inexact() -> None:
    async with memory_daemon() as daemon:
        daemon.services.beliefs.cap = 10
        client = await daemon.connect()
        await begun(client)
        await turn(client, "white", None, "e2e4")
        belief = await ask(client, "black", samples=100)
        assert (belief["count"], belief["exact"], len(belief["samples"])) == (10, False, 10)
        possible = {board.board_fen() for board in after_one_move()}
        assert {Board(fen).board_fen() for fen in belief["samples"]} < possible
        await client.ask("sense", game_id=1, player=2, square="e3")
        assert (await ask(client, "black"))["count"] == 1, "a sense brings the others back"


async def test_belief_that_has_lost_the_truth_shows_own_pieces_alone() -> None:
    async with memory_daemon() as daemon:
        daemon.services.beliefs.cap = 1
        client = await daemon.connect()
        await begun(client)
        await turn(client, "white", None, "e2e4")
        await turn(client, "black", "c6", None)
        await turn(client, "white", None, "d2d4")
        await client.ask("sense", game_id=1, player=2, square="e3")
        lost = await ask(client, "black", samples=3)
        assert (lost["count"], lost["exact"], lost["samples"]) == (0, False, [])
        shown = {piece for piece, row in zip(PIECES, lost["marginals"], strict=True) if any(row)}
        assert shown == {piece for piece in PIECES if piece.color == chess.BLACK}


async def test_long_work_is_refused_and_goes_on_with_the_next_request() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect()
        await begun(client)
        for seat in ("white", "black", "white", "black", "white"):
            await turn(client, seat, "e3", None)
        whole = await ask(client, "black")
        forget(daemon)
        daemon.services.beliefs.most_steps = 1
        refused = 0
        while (reply := await client.ask("belief", game_id=1, player=2))["error"] is not None:
            assert (reply["code"], reply["retry_after"]) == ("too_many", 0.0)
            assert reply["error"].startswith("belief: ")
            refused += 1
        assert refused >= 2
        assert reply == whole


async def test_belief_is_computed_in_steps_and_charged_to_the_address() -> None:
    async with running_daemon() as daemon, connected(daemon, player=2) as client:
        daemon.arbiter.cpu_queue.slice_seconds = 0.0
        await begun(client)
        before = daemon.arbiter.cpu_queue.slices
        assert (await client.ask("belief", game_id=1, samples=100))["error"] is None
        assert daemon.arbiter.cpu_queue.slices > before + 2
        daemon.arbiter.cpu_queue.budget = Budget(1)
        replies = [await client.ask("belief", game_id=1, samples=100) for _ in range(50)]
        code, reason = replies[-1]["code"], replies[-1]["error"]
        assert (code, reason.split()[0]) == ("too_many", "max_work_per_minute:")
        assert (await client.ask("state", game_id=1))["error"] is None


async def test_positions_of_the_players_who_asked_last_are_kept() -> None:
    async with memory_daemon() as daemon:
        client = await daemon.connect(player=1)
        for _ in range(MOST_KEPT + 2):
            game_id = (await client.new_game(variant="rbc", clock=None))["game_id"]
            await client.ask("belief", game_id=game_id)
        assert len(daemon.services.beliefs.kept) == MOST_KEPT


async def catching_up(client: Client, count: int) -> list[int]:
    """Begin games in which White's belief takes several requests; return their ids."""
    games = [(await client.new_game(variant="rbc", clock=None))["game_id"] for _ in range(count)]
    for game_id in games:
        for seat in ("white", "black", "white", "black"):
            await turn(client, seat, "e3", None, game_id)
    return games


async def test_players_who_catch_up_get_answers_however_many_others_ask(mock_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        daemon.services.beliefs.most_steps = 1
        client = await daemon.connect()
        waiting = await catching_up(client, MOST_KEPT + 1)
        for _ in range(10):
            replies = {game_id: await client.ask("belief", game_id=game_id, player=1) for game_id in waiting}
            waiting = [game_id for game_id, reply in replies.items() if reply["error"] is not None]
        assert len(waiting) == 1
        refused = replies[waiting[0]]
        assert refused["code"] == "too_many"
        mock_clock.jump(refused["retry_after"])
        for _ in range(10):
            reply = await client.ask("belief", game_id=waiting[0], player=1)
        assert reply["error"] is None


async def refusals(client: Client, games: list[int]) -> list[Json]:
    """Ask for White's belief in each game, and return the replies that are refusals."""
    replies = [await client.ask("belief", game_id=game_id, player=1) for game_id in games]
    return [reply for reply in replies if reply["error"] is not None]


async def test_address_with_all_places_yields_a_share_to_another_address() -> None:
    async with memory_daemon() as daemon, trio.open_nursery() as nursery:
        daemon.services.beliefs.most_steps = 1

        def connect(address: str) -> Client:
            ours, theirs = trio.testing.memory_stream_pair()
            nursery.start_soon(Session(theirs, daemon.services, peer=f"{address}:1").run)
            return Client(ours)

        clients = hog, other = connect("192.0.2.1"), connect("192.0.2.2")
        for client in clients:
            await client.ask("hello", protocol=2)
        hogged, games = await catching_up(hog, MOST_KEPT), await catching_up(other, MOST_KEPT // 2 + 1)
        while await refusals(hog, hogged):
            pass
        for _ in range(6):
            await refusals(other, games)
        assert len(await refusals(hog, hogged)) == MOST_KEPT // 2
        refused = await refusals(other, games)
        assert [reply["retry_after"] > 0 for reply in refused] == [True], "more than its share"
        for client in clients:
            await client.aclose()


async def test_hint_names_the_sense_that_leaves_the_fewest_positions_while_the_seat_is_to_sense(client: Client) -> None:
    await begun(client)
    assert "hint" not in await ask(client, "white")
    assert (await ask(client, "white", hint=True))["hint"] == {"square": "b2", "left": 1.0}, "nothing is unknown"
    assert (await ask(client, "black", hint=True))["hint"] is None
    await turn(client, "white", "e7", "e2e4")
    hint = (await ask(client, "black", hint=True))["hint"]
    expected = {square: share_left(list(after_one_move()), square) for square in SENSE_SQUARES}
    assert hint["left"] == pytest.approx(min(expected.values()))
    assert expected[chess.parse_square(hint["square"])] == min(expected.values())
    assert (await ask(client, "white", hint=True))["hint"] is None
    await client.ask("sense", game_id=1, player=2, square=hint["square"])
    assert (await ask(client, "black", hint=True))["hint"] is None
    await client.ask("end_game", game_id=1, player=2, termination="resignation_black")
    assert (await ask(client, "black", hint=True))["hint"] is None


def share_left(boards: list[Board], square: chess.Square) -> float:
    """Return the share of positions that a sense leaves on average, by comparing what it would show on each."""
    window = chess.SquareSet(chess.BB_KING_ATTACKS[square] | chess.BB_SQUARES[square])
    shown = Counter(str([board.piece_at(each) for each in window]) for board in boards)
    return sum(count * count for count in shown.values()) / len(boards) ** 2


@pytest.mark.parametrize("ranked", [True, False])
async def test_ranked_game_gives_its_players_beliefs_without_hints(ranked: bool) -> None:
    async with running_daemon() as daemon:
        players = {}
        for name in ("ann", "bob"):
            reply = await daemon.ask("register", name=name)
            players[name] = {"player": reply["player"], "key": reply["key"]}
            await daemon.ask("settings", **players[name])  # it is present
        ann, bob = players["ann"], players["bob"]
        pair = {"white": ann["player"], "black": bob["player"], "variant": "rbc", "ranked": ranked}
        game_id = (await daemon.ask_as_operator("pair", **pair))["game_id"]
        for player in players.values():
            await daemon.ask("accept", game_id=game_id, **player)
        assert (await daemon.ask("belief", game_id=game_id, **ann))["count"] == 1
        if ranked:
            with pytest.raises(Refused, match=f"hint: game {game_id} is ranked: ask for a belief without a hint"):
                await daemon.ask("belief", game_id=game_id, hint=True, **ann)
        else:
            assert (await daemon.ask("belief", game_id=game_id, hint=True, **ann))["hint"]["square"]


@pytest.mark.slow
async def test_inexact_belief_keeps_fewer_positions(client: Client) -> None:
    await begun(client)
    for _ in range(4):
        await turn(client, "white", "d2", None)
        await turn(client, "black", "d7", None)
    await turn(client, "white", "d2", None)
    while (await client.ask("belief", game_id=1, player=1))["error"] is not None:
        pass
    await turn(client, "black", "d7", None)
    reply = await ask(client, "white")
    assert (reply["exact"], reply["count"]) == (False, SAMPLE_CAP)
