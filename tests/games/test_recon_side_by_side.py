"""The rules of reconnaissance blind chess compared with reconchess's, action by action.

The layers above the rules play a handful of such games each; here they are played in depth.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import cycle, islice

from reconchess.bots.attacker_bot import AttackerBot
from reconchess.bots.random_bot import RandomBot

from tests.proofs import cases
from tests.side_by_side import POSITIONS, Bots, RandomPlayers, RulesSide, Start, count_events, play_side_by_side

#: The first seed with which the ordinary run's few games have every event.
FIRST_SEED = 1_900

#: Events that the games must reach.
HAPPENS = (
    "en passant by White",
    "en passant by Black",
    "castled",
    "castling refused",
    "cut short",
    "double step cut short",
    "refused",
    "passed",
    "promoted as asked",
    "promoted by default",
    "KING_CAPTURE",
    "RESIGN",
    "MOVE_LIMIT",
    "TURN_LIMIT",
)


async def test_games_from_every_start_position_equal_those_of_reconchess() -> None:
    seen: Counter[str] = Counter()
    for seed, fen in enumerate(islice(cycle(POSITIONS.values()), cases(len(POSITIONS))), FIRST_SEED):
        rng = random.Random(seed)
        start = Start(fen, rng.choice([100, 20, None]), rng.choice([None, 120, 12]))
        try:
            count_events(await play_side_by_side(start, RandomPlayers(rng), RulesSide()), seen)
        except AssertionError as error:
            error.add_note(f"in the game of seed {seed} from {fen}")
            raise
    assert [what for what in HAPPENS if not seen[what]] == []


async def test_games_between_bots_of_reconchess_are_the_same() -> None:
    for seed in range(cases(2)):
        white, black = (AttackerBot, RandomBot) if seed % 2 else (RandomBot, AttackerBot)
        start = Start()
        await play_side_by_side(start, Bots(seed, white, black, start), RulesSide())
