"""The next games of a tournament, which depend only on its past events."""

from __future__ import annotations

from typing import Any

import pytest

from gm_arena.tournament.plan import Entrant, Settings, next_rounds, terms_of, total_games


def tournament(players: int, **given: Any) -> Settings:
    entrants = tuple(Entrant(number, f"p{number}") for number in range(players))
    return Settings("spring", "cafe", **{"format": "round-robin", "players": entrants, **given})


@pytest.mark.parametrize("format_", ["round-robin", "gauntlet"])
def test_fixed_schedule_begins_at_once_and_resumes_where_it_stopped(format_: str) -> None:
    plan = tournament(5, format=format_, games=2)
    rounds = next_rounds(plan, [])
    assert [begun.number for begun in rounds] == list(range(1, len(rounds) + 1))
    assert sum(len(begun.pairings) for begun in rounds) == total_games(plan)
    for written in range(len(rounds) + 1):
        assert next_rounds(plan, rounds[:written]) == rounds[written:]


def test_chess960_positions_depend_on_the_two_players_and_the_seed() -> None:
    plan = tournament(4, terms={"variant": "chess960"}, seed=1)
    assert terms_of(plan, 0, 1) == terms_of(plan, 1, 0)
    drawn = {terms_of(tournament(4, terms={"variant": "chess960"}, seed=seed), 0, 1)["position"] for seed in range(9)}
    assert len(drawn) > 1
    assert terms_of(tournament(4, terms={"variant": "chess960", "position": 7}), 0, 1)["position"] == 7
    assert terms_of(tournament(4, terms={"variant": "rbc"}), 0, 1) == {"variant": "rbc"}
