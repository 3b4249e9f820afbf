"""Dark chess shows nothing hidden: in two games that look the same to a player, the player gets the same bytes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import chess
import pytest
import trio
from msgspec import structs
from trio.testing import MockClock

from gm_protocol.errors import IllegalMove
from gm_protocol.state import GameState
from gmd.games import dark, views
from gmd.games.commands import Play
from gmd.games.game import Decision, Snapshot
from tests.dark_twins import STARTS, DarkTwins, draw_dark_twins
from tests.helpers import Json
from tests.noninterference import quiet
from tests.paired_daemons import OBSERVER, OPPONENT, Distinguished, PairedDaemons, paired_daemons
from tests.proofs import cases, in_processes
from tests.request_catalogue import Seat

#: The pairs of games played on one pair of daemons.
PAIRS_PER_DAEMONS = 100

#: Start positions in which much is soon hidden: pawns and rooks that meet, and knights that give check unseen.
TELLING = STARTS[1:3]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with quiet():
        yield


def test_player_of_dark_chess_gets_same_bytes_in_games_that_look_the_same() -> None:
    pairs = cases(10)
    jobs = [(first, min(PAIRS_PER_DAEMONS, pairs - first)) for first in range(0, pairs, PAIRS_PER_DAEMONS)]
    played, different, compared = map(sum, zip(*in_processes(play_pairs, jobs), strict=True))
    assert played == pairs
    assert different > 0.6 * pairs
    assert compared > 50 * pairs
    print(f"{pairs} pairs, {different} of them of different positions in the end, {compared} replies compared")


def play_pairs(seed: int, pairs: int) -> tuple[int, int, int]:
    """Play pairs of games on two daemons; return how many, how many that differ, and the replies compared.

    :raises Distinguished: the replies differed somewhere.
    """
    return trio.run(_play_pairs, seed, pairs, clock=MockClock())


async def _play_pairs(seed: int, pairs: int) -> tuple[int, int, int]:
    clock = trio.lowlevel.current_clock()
    assert isinstance(clock, MockClock)
    different = 0
    with quiet():
        async with paired_daemons(clock) as daemons:
            for number in range(seed, seed + pairs):
                rng = random.Random(number)
                twins = draw_dark_twins(rng)
                different += twins.differ
                await play_twins(daemons, twins, rng)
            return pairs, different, daemons.compared


async def play_twins(daemons: PairedDaemons, twins: DarkTwins, rng: random.Random, *, thorough: bool = True) -> None:
    """Play a pair of games, with the observer's requests in between.

    :param thorough: make every request at the end.
    :raises Distinguished: the replies differed somewhere.
    """
    color, other = ("white", "black") if twins.observer else ("black", "white")
    players = {f"player_{color}": OBSERVER, f"player_{other}": OPPONENT}
    clock = rng.choice([None, "5000", "5000+2"])
    made = await daemons.act("new_game", OPPONENT, variant="dark_chess", fen=twins.fen, clock=clock, **players)
    seat = Seat(rng, made["game_id"], OBSERVER, OPPONENT, color, None, begun=True)
    await daemons.act("state", OPPONENT, game_id=seat.game_id)
    turn = chess.Board(twins.fen).turn
    for pair in twins.moves:
        daemons.clock.jump(rng.choice([0.0, 0.25, 1.0]))
        await daemons.ask(seat.mine("state", actions=True), *rng.sample(list(requests(seat)), 6))
        if turn == twins.observer:
            uci = pair[0].uci()
            await daemons.ask(seat.mine("move", move=uci, ply=seat.ply))
            seat.moved = seat.ply, uci
        else:
            await _opponent_moves(daemons, seat, pair)
        seat.ply, turn = seat.ply + 1, not turn
    if thorough:
        await daemons.ask(*requests(seat))
    for daemon in daemons.daemons:
        await daemon.act("end_game", OBSERVER, game_id=seat.game_id, termination=f"resignation_{color}")
        await daemon.act("ping", OBSERVER)


async def _opponent_moves(daemons: PairedDaemons, seat: Seat, pair: tuple[chess.Move, chess.Move]) -> None:
    wait = {"kind": "wait", "player": OBSERVER, "game_id": seat.game_id, "actions": True}
    await daemons.begin_wait(wait, OBSERVER)
    for daemon, move in zip(daemons.daemons, pair, strict=True):
        await daemon.act("move", OPPONENT, game_id=seat.game_id, move=move.uci())
    await daemons.end_wait(wait)


def requests(seat: Seat) -> Iterator[Json]:
    """Yield the observer's requests that change nothing: looks, lists, retries, and what is refused."""
    yield from seat._looks()
    yield from seat._lists()
    yield from seat._others_looks()
    yield from seat._others_seats()
    yield from seat._joins()
    yield from seat._refused()
    yield from seat._senses()
    yield from seat._endings()
    yield {"kind": "games", "player": None, "variant": "dark_chess", "limit": 2}
    for text in ("e9e4", "e1e1", "--", "", "P@e4", "a1h8q", "Qa1xh8", "Kd4d8"):
        yield seat.mine("move", move=text)
        yield seat.mine("move", move=text, ply=seat.ply)
    yield seat.mine("move", move="e2e4", ply=seat.ply + 1)
    yield seat.mine("move", move="e2e4", offer_draw=True, ply=seat.ply + 2)
    yield seat.mine("move", move=None)
    if seat.moved is not None:
        ply, move = seat.moved
        yield seat.mine("move", move=move, ply=ply)
        yield seat.mine("move", move="a1a1", ply=ply)


# --- Each leak is found ----------------------------------------------------------------------------------------------

_blind_state, _decide_play = views._blind_state, dark.DarkGame.decide_play


def showing(**fields: Callable[[dark.DarkGame, Snapshot, GameState], object]) -> tuple[Any, str, Any]:
    """Return a patch of the views in which some fields show the truth."""

    def state(game: dark.DarkGame, shown: Snapshot, *others: Any, **options: Any) -> GameState:
        blind = _blind_state(game, shown, *others, **options)
        return structs.replace(blind, **{name: truth(game, shown, blind) for name, truth in fields.items()})

    return views, "_blind_state", state


def with_the_position(game: dark.DarkGame, command: Play, elapsed: float) -> Decision:
    """Refuse with an error that names the position, as that of chess does."""
    decision = _decide_play(game, command, elapsed)
    if not isinstance(decision.refusal, IllegalMove):
        return decision
    return Decision(refusal=IllegalMove(f"move: {command.text!r} is not legal in {game._board.epd()}"))


LEAKS = {
    "the half-move clock": showing(fen=lambda _, shown, blind: blind.fen.replace(" 0 ", f" {shown.halfmoves} ")),
    "the opponent's castling rights": showing(available_castles=lambda game, shown, _: game.facts_at(shown).castles),
    "check": showing(in_check=lambda game, shown, _: game.facts_at(shown).check),
    "the last move": showing(last_move=lambda _, shown, blind: shown.last_move),
    "the movetext": showing(pgn=lambda game, shown, blind: game.movetext),
    "the access map": showing(access_map=lambda game, shown, _: game.facts_at(shown).access_map),
    "the position": showing(fen=lambda game, shown, _: game.facts_at(shown).fen_stem),
    "a refusal's words": (dark.DarkGame, "decide_play", with_the_position),
    "a history before the end": (views, "check_history", lambda game: None),
}


#: The seeds of pairs of games in which a leak shows. They come first, then all others; without an entry, 0 is as good.
SOON = {
    "the half-move clock": 94,
    "check": 7,
    "a history before the end": 5,
}


@pytest.mark.parametrize("leak", LEAKS)
async def test_planted_leak_is_found(leak: str, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*LEAKS[leak])
    async with paired_daemons(mock_clock) as daemons:
        assert await is_distinguished(daemons, pairs=300, first=SOON.get(leak, 0))


async def is_distinguished(daemons: PairedDaemons, pairs: int, first: int) -> bool:
    """Return whether some pair of games can be told apart.

    :param first: the seed of the pair that is tried first.
    """
    for seed in sorted(range(pairs), key=lambda seed: seed != first):
        rng = random.Random(seed)
        try:
            await play_twins(daemons, draw_dark_twins(rng, TELLING), rng, thorough=False)
        except Distinguished:
            return True
    return False
