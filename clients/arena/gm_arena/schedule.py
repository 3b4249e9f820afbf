"""Pairings and colours that are known beforehand: round robins and gauntlets.

Players are numbers from 0. A schedule is a list of rounds, and in a round nobody plays twice; a player in none of its
games is free. Colours are balanced: nobody has one colour more than once oftener than the other.
"""

from __future__ import annotations

__all__ = ["Pairing", "round_robin", "gauntlet"]

#: The players with White and with Black.
Pairing = tuple[int, int]


def round_robin(players: int, cycles: int = 1) -> list[list[Pairing]]:
    """Return a round robin by FIDE's Berger tables (Handbook C.05, annex 1), with colours reversed in every second
    cycle.

    :param players: how many; with an odd number each is free in one round of a cycle.
    :param cycles: how many games two players have with each other.
    """
    circle = players - 1 + players % 2  # the players who rotate; with an even number the last one stays in place
    half = (circle + 1) // 2
    rounds = [_berger(turn * half % circle, circle, half, turn) for turn in range(circle)] if players > 1 else []
    there = [[pairing for pairing in games if max(pairing) < players] for games in rounds]
    return [_colored(games, cycle) for cycle in range(cycles) for games in there]


def _berger(top: int, circle: int, half: int, turn: int) -> list[Pairing]:
    """Return a round: the first meets the player who stays in place, and those at equal distance from it each other."""
    first = (top, circle) if turn % 2 == 0 else (circle, top)
    return [first, *(((top + step) % circle, (top - step) % circle) for step in range(1, half))]


def gauntlet(players: int, games: int = 2) -> list[list[Pairing]]:
    """Return a gauntlet: the first player meets each of the others, with White and with Black in turn.

    :param games: how many games two players have with each other, with alternating colours.
    """
    pairings: list[Pairing] = [(0, other) if other % 2 else (other, 0) for other in range(1, players)]
    return [_colored([pairing], cycle) for cycle in range(games) for pairing in pairings]


def _colored(games: list[Pairing], cycle: int) -> list[Pairing]:
    return [(black, white) for white, black in games] if cycle % 2 else list(games)
