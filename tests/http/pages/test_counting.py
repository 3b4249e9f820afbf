"""The numbers of possible positions in finished games of RBC, against an enumeration on boards."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import get_args
from xml.etree import ElementTree

import chess
import pytest
import trio

from gm_protocol.belief import Hint
from gm_recon import ReconGame
from gm_recon.possible import SENSE_SQUARES
from gmd.games.notation import run_through
from gmd.http.pages import counting, counts
from gmd.http.pages.counting import Count, Counts, CountsCache, Kind, Sight, count_steps, surprises
from gmd.http.pages.counts import view_counts
from gmd.http.pages.curve import draw_counts
from gmd.http.pages.replay import ReconReplay
from tests.clients.test_tracker import RARE, BruteForce
from tests.handlers.test_belief import share_left
from tests.http.pages.browser import pages
from tests.http.pages.recon_games import past_of, random_game
from tests.http.pages.test_game_page import over, played

SVG = "{http://www.w3.org/2000/svg}"


def replay_of(game: ReconGame, fen: str = chess.STARTING_FEN) -> ReconReplay:
    record = past_of(game).record
    assert record is not None
    return ReconReplay(record, fen)


def counted(game: ReconGame, fen: str = chess.STARTING_FEN) -> Counts:
    return run_through(count_steps(replay_of(game, fen), fen))


def enumerated(game: ReconGame, fen: str) -> Iterator[Count]:
    """Yield the counts of a game by trying all moves on all boards."""
    players = {side: BruteForce(side, fen) for side in chess.COLORS}
    for ply, replayed in enumerate(game.history().replay(), 1):
        sense, *move = replayed.turn
        mover, other = players[replayed.color], players[not replayed.color]
        before = len(mover.boards)
        if sense is not None:
            mover.saw(sense, replayed.sense_result)
        yield Count(ply, replayed.color, before, len(mover.boards))
        if ply < len(game.turns):
            mover.player_moved(*move)
            other.opponent_moved(move[-1])


@pytest.mark.parametrize("fen", [chess.STARTING_FEN, chess.STARTING_FEN.replace(" w ", " b "), *RARE[1:8]])
def test_counts_equal_an_enumeration(fen: str) -> None:
    game = random_game(RARE.index(fen) if fen in RARE else 0, turns=5 if fen in RARE else 4, fen=fen)
    found = counted(game, fen)
    assert [Count(turn.ply, turn.side, turn.before, turn.after) for turn in found.turns] == list(enumerated(game, fen))
    assert found.plies == len(game.turns)
    assert all(map(found.is_whole, chess.COLORS))


def boards_known(game: ReconGame, fen: str) -> Iterator[dict[chess.Color, list[chess.Board]]]:
    """Yield the boards that are possible for each side, at each ply, by trying all moves on all boards."""
    players = {side: BruteForce(side, fen) for side in chess.COLORS}
    replay, turns = replay_of(game, fen), list(game.history().replay())
    for ply in range(len(turns) + 1):
        if ply:
            replayed = turns[ply - 1]
            sense, *move = replayed.turn
            mover, other = players[replayed.color], players[not replayed.color]
            if sense is not None:
                mover.saw(sense, replayed.sense_result)
            if ply < len(turns) or replay.has_both_kings:
                mover.player_moved(*move)
                other.opponent_moved(move[-1])
        if (cut := replay.unfinished(ply)) is not None and cut[1].square is not None:
            players[cut[0]].saw(cut[1].square, game.board.window(cut[1].square))
        yield {side: [board.as_chess() for board in brute.boards] for side, brute in players.items()}


@pytest.mark.parametrize("fen", [chess.STARTING_FEN, *RARE[1:8]])
def test_shares_equal_an_enumeration_at_each_ply(fen: str) -> None:
    game = random_game(RARE.index(fen) if fen in RARE else 0, turns=5 if fen in RARE else 3, fen=fen)
    found = counted(game, fen)
    for ply, boards in enumerate(boards_known(game, fen)):
        for side in chess.COLORS:
            known = found.known_at(ply, side)
            assert known is not None
            assert (known.count, known.exact) == (len(boards[side]), True), (ply, side)
            for kind in get_args(Kind):
                pieces = [chess.Piece.from_symbol(kind).piece_type] if kind != "any" else list(chess.PIECE_TYPES)
                shares = [
                    sum(
                        board.piece_at(square) in [chess.Piece(each, not side) for each in pieces]
                        for board in boards[side]
                    )
                    / len(boards[side])
                    for square in chess.SQUARES
                ]
                assert known.shares(kind) == pytest.approx(shares, abs=1e-4)
    assert found.known_at(found.plies + 1, chess.WHITE) is None


def test_turn_has_what_its_sense_left_on_average_and_the_best_one() -> None:
    game = ReconGame()
    for square, move in ((None, "e2e4"), (chess.E3, None)):
        game.sense(square)
        game.move(None if move is None else chess.Move.from_uci(move))
    game.resign(chess.WHITE)
    first, second = counted(game).turns
    assert (first.left, first.hint, first.sight) == (None, Hint("b2", 1.0), None)
    assert (second.before, second.after) == (21, 1)
    assert second.sight is not None
    assert second.sight.share == pytest.approx(1 / 21, abs=1e-4)
    assert second.sight[1:] in ((chess.E4, chess.PAWN), (chess.E2, None))
    boards = list(boards_known(game, chess.STARTING_FEN))[1][chess.BLACK]
    assert second.left == pytest.approx(share_left(boards, chess.E3))
    assert second.hint is not None
    assert second.hint.left == pytest.approx(min(share_left(boards, square) for square in SENSE_SQUARES))


def test_surprises_are_the_senses_that_showed_what_was_least_likely() -> None:
    def turn(ply: int, share: float | None, piece: chess.PieceType | None = chess.QUEEN) -> Count:
        sight = None if share is None else Sight(share, chess.D5, piece)
        return Count(ply, ply % 2 == 1, 800, 5, sight=sight)

    turns = (turn(1, 0.05), turn(2, 0.01), turn(3, 0.002), turn(4, 0.9), turn(5, None), turn(6, 0.02, None))
    counts = Counts(6, chess.WHITE, turns)
    assert [each.ply for each in surprises(counts)] == [2, 3, 6]
    assert [(each.ply, each.side, each.words) for each in view_counts(counts, chess.STARTING_FEN).surprises] == [
        (2, "Black", "saw a queen on d5, as in 8 of 800 possible positions."),
        (3, "White", "saw a queen on d5, as in 2 of 800 possible positions."),
        (6, "Black", "saw no piece on d5, as in 16 of 800 possible positions."),
    ]
    assert surprises(Counts(1, chess.WHITE, turns[3:5])) == []


@pytest.mark.slow
def test_player_with_too_many_positions_is_followed_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    game = random_game(1, turns=12)
    whole = counted(game)
    monkeypatch.setattr(counting, "CAP", 300)
    part = counted(game)
    assert counted(game) == part
    for side in chess.COLORS:
        all_turns = [turn for turn in whole.turns if turn.side == side]
        turns = [turn for turn in part.turns if turn.side == side]
        for capped, exact in zip(turns, all_turns, strict=False):
            assert capped.before == (exact.before if exact.before is not None and exact.before <= 300 else None)
            assert capped.after == (exact.after if exact.after is not None and exact.after <= 300 else None)
        assert [turn.after is None for turn in turns] == [False] * (len(turns) - 1) + [len(turns) < len(all_turns)]
    assert not all(map(part.is_whole, chess.COLORS))
    assert any(turn.before is None and turn.after is not None for turn in part.turns)


def test_work_for_a_game_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    game = random_game(1, turns=12)
    monkeypatch.setattr(counting, "MOST_STEPS", 20)
    assert sum(1 for _ in count_steps(replay_of(game), chess.STARTING_FEN)) == 20
    part = counted(game)
    assert 0 < len(part.turns) < 12
    words = view_counts(part, chess.STARTING_FEN).missing
    assert [each.endswith("because it would take too long.") for each in words] == [True, True]


def test_table_has_the_numbers_of_the_moves() -> None:
    fen = chess.STARTING_FEN.replace(" w ", " b ").replace(" 1", " 9")
    turns = (Count(1, chess.BLACK, 1, 1), Count(2, chess.WHITE, 21, 14), Count(3, chess.BLACK, None, None))
    view = view_counts(Counts(5, chess.BLACK, turns), fen)
    assert [(row.ply, row.number, row.side, row.before, row.after) for row in view.rows] == [
        (1, 9, "Black", "1", "1"),
        (2, 10, "White", "21", "14"),
        (3, 10, "Black", "more than 20,000", "more than 20,000"),
    ]
    assert view.missing == [
        "White’s positions are not counted to the end of the game, because it would take too long.",
        "Black’s positions are not counted to the end of the game, because there were more than 20,000 of them.",
    ]


# --- Curves -----------------------------------------------------------------------------------------------------------


def test_curves_have_a_point_for_each_turn_and_higher_points_for_larger_numbers() -> None:
    turns = tuple(Count(ply, ply % 2 == 1, 10**ply, 10 ** (ply - 1)) for ply in range(1, 5))
    svg = ElementTree.fromstring(draw_counts(Counts(5, chess.WHITE, (*turns, Count(5, chess.WHITE, None, None))), 3))
    curves = {each.attrib["class"]: each.attrib["points"].split() for each in svg.iter(f"{SVG}polyline")}
    assert [len(curves["curve white"]), len(curves["curve black"])] == [3, 2]
    heights = [float(point.partition(",")[2]) for point in curves["curve white"]]
    assert heights == sorted(heights, reverse=True)
    (line,) = (each for each in svg.iter(f"{SVG}line") if each.attrib["class"] == "ply")
    assert line.attrib["x1"] == curves["curve white"][1].partition(",")[0]
    titles = [each.text for each in svg.iter(f"{SVG}title")]
    assert "Ply 4, Black: 10,000 before the sense, 1,000 after it" in titles
    assert "Ply 5, White: more than 20,000 before the sense, more than 20,000 after it" in titles


# --- The cache, and the way to the browser ----------------------------------------------------------------------------


def test_cache_is_bounded_and_evicts_what_was_not_used() -> None:
    cache, turns = CountsCache(max_turns=5), (Count(1, chess.WHITE, 1, 1), Count(2, chess.BLACK, 1, 1))
    games = [Counts(2, chess.WHITE, turns) for _ in range(3)]
    cache.keep(0, games[0])
    cache.keep(1, games[1])
    assert cache.find(0) is games[0]
    cache.keep(2, games[2])
    assert (cache.find(0), cache.find(1), cache.find(2)) == (games[0], None, games[2])
    assert cache.turns == 4


def test_cache_is_bounded_for_games_without_a_turn() -> None:
    cache, none = CountsCache(max_turns=5), Counts(0, chess.WHITE, ())
    for game_id in range(100):
        cache.keep(game_id, none)
    assert sum(cache.find(game_id) is not None for game_id in range(100)) == 5


async def test_counts_of_a_finished_game_are_made_when_asked_for_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def noted(replay: ReconReplay, start_fen: str) -> Generator[None, None, Counts]:
        made.append(replay.plies)
        return count_steps(replay, start_fen)

    monkeypatch.setattr(counts, "count_steps", noted)
    async with pages() as (daemon, browser):
        await over(daemon, "e2e4", "d7d5", "e4d5", variant="rbc")
        page = await browser.get("/games/1")
        assert "/games/1/counts" in page.links
        assert "/games/1.counts.svg?ply=3" in page.sources
        assert "gmd replay 1 --analyse" in page.text
        assert made == []
        async with trio.open_nursery() as nursery:
            for path in ("/games/1/counts", "/games/1.counts.svg", "/games/1.counts.svg?ply=2"):
                nursery.start_soon(browser.client.get, path)
        assert made == [3]
        table = await browser.get("/games/1/counts")
        assert "1 1 White 1 1 2 1 Black 21 1 3 2 White 21 1 " in table.text
        for path in ("/games/1.counts.svg", "/games/1.counts.svg?ply=2"):
            got = await browser.client.get(path)
            assert (got.status_code, got.headers["cache-control"]) == (200, "public, max-age=300")
            again = await browser.client.get(path, headers={"if-none-match": got.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
        assert made == [3]


async def test_page_and_picture_show_what_each_side_could_know() -> None:
    async with pages() as (daemon, browser):
        await over(daemon, "e2e4", "d7d5", "e4d5", variant="rbc")
        plain, shaded = [await browser.get(path) for path in ("/games/1?ply=1", "/games/1?ply=1&belief=n")]
        assert "possible" not in plain.text
        knights = "White’s knights: b1 90 %, g1 90 %, a3 5 %, c3 5 %, f3 5 %, h3 5 %."
        assert f"21 positions are possible. {knights} The next sense left 1." in shaded.text
        assert "1 position is possible. Black’s knights: b8 100 %, g8 100 %." in shaded.text
        links = {each.partition("/games/1")[2] for each in shaded.links}
        assert {"?ply=1", "?ply=1&belief=any", "?ply=1&belief=q"} <= links
        black = next(source for source in shaded.sources if "view=black" in source)
        for kind, is_there in (("n", True), ("q", False)):
            picture = await browser.client.get(black.replace("belief=n", f"belief={kind}"))
            assert (">90</text>" in picture.text) == is_there
        assert "belief" not in next(source for source in shaded.sources if "view=truth" in source)
        refused = await browser.client.get("/games/1?belief=x", headers={"accept": "application/json"})
        assert refused.json()["error"].startswith("belief: ")


async def test_belief_of_a_game_without_any_changes_nothing() -> None:
    async with pages() as (daemon, browser):
        await over(daemon, "e2e4", variant="dark_chess")
        await played(daemon, "e2e4", variant="rbc")
        for game_id in (1, 2):
            page = await browser.get(f"/games/{game_id}?belief=k")
            assert (page.status, "possible" in page.text) == (200, False)


@pytest.mark.parametrize("path", ["/games/{}/counts", "/games/{}.counts.svg"])
async def test_counts_are_refused_where_there_are_none(path: str) -> None:
    async with pages() as (daemon, browser):
        await played(daemon, "e2e4", variant="rbc")
        await over(daemon, "e2e4", variant="dark_chess")
        for game_id, status, words in (
            (1, 409, "game 1 is not over: positions are counted once it is over"),
            (2, 409, "game 2: positions are counted in reconnaissance blind chess only"),
            (3, 404, "There is no game 3"),
        ):
            page = await browser.get(path.format(game_id))
            assert (page.status, words.lower() in page.text.lower()) == (status, True), page.text


async def test_counting_is_charged_to_the_visitor() -> None:
    async with pages(max_work_per_minute=1) as (daemon, browser):
        await over(daemon, *["e2e4", "e7e5", "g1f3", "g8f6", "f3e5"], variant="rbc")
        answers = [await browser.client.get("/games/1.counts.svg") for _ in range(2)]
        assert answers[1].status_code == 503
        assert "max_work_per_minute" in answers[1].text
