"""Standings and crosstables, letter for letter."""

from __future__ import annotations

import itertools

import pytest

from gm_arena.crosstable import (
    Game,
    Table,
    crosstable,
    csv_text,
    drawn_table,
    halves,
    standings,
)

ROBIN = [
    Game("ada", "bea", "1-0"),
    Game("bea", "ada", "1/2-1/2"),
    Game("ada", "cleo", "0-1"),
    Game("cleo", "ada", "1-0"),
    Game("bea", "cleo", "1-0"),
    Game("cleo", "bea", None),
]


def test_crosstable_of_a_round_robin() -> None:
    assert csv_text(crosstable(["ada", "bea", "cleo"], ROBIN)) == (
        "#,Player,Points,Games,1,2,3,S-B,Direct,Wins\n"
        "1,cleo,2,3,×,0·,11,3,0,2\n"
        "2,bea,1.5,3,1·,×,0½,2.75,0.5,1\n"
        "3,ada,1.5,4,00,1½,×,2.25,1.5,1\n"
    )


def test_table_as_text() -> None:
    text = drawn_table(crosstable(["ada", "[b]bea"], [Game("ada", "[b]bea", "1/2-1/2")]), "spring [i]")
    assert text.splitlines() == [
        "spring [i]",
        "┏━━━┳━━━━━━━━┳━━━━━━━━┳━━━━━━━┳━━━┳━━━┳━━━━━━┳━━━━━━━━┳━━━━━━┓",
        "┃ # ┃ Player ┃ Points ┃ Games ┃ 1 ┃ 2 ┃  S-B ┃ Direct ┃ Wins ┃",
        "┡━━━╇━━━━━━━━╇━━━━━━━━╇━━━━━━━╇━━━╇━━━╇━━━━━━╇━━━━━━━━╇━━━━━━┩",
        "│ 1 │ ada    │      ½ │     1 │ × │ ½ │ 0.25 │      ½ │    0 │",
        "│ 2 │ [b]bea │      ½ │     1 │ ½ │ × │ 0.25 │      ½ │    0 │",
        "└───┴────────┴────────┴───────┴───┴───┴──────┴────────┴──────┘",
    ]


LONG = [f"an-engine-with-a-rather-long-name-{number}" for number in range(60)]


def test_text_has_all_columns_of_a_table_of_sixty() -> None:
    table = crosstable(LONG, [Game(one, other, "1-0") for one, other in itertools.combinations(LONG, 2)])
    lines = drawn_table(table).splitlines()
    assert [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")] == (
        table.rows
    )


@pytest.mark.parametrize(
    ("result", "points", "cell"),
    [("+/-", (1.0, 0.0), "+"), ("-/+", (0.0, 1.0), "-"), ("-/-", (0.0, 0.0), "-"), (None, (0.0, 0.0), "·")],
)
def test_unplayed_game_gives_points_and_counts_for_no_tie_break(
    result: str | None, points: tuple[float, float], cell: str
) -> None:
    games = [Game("ada", "bea", result)]
    rows = {row.name: row for row in standings(["ada", "bea"], games)}
    assert (rows["ada"].points, rows["bea"].points) == points
    assert {value for row in rows.values() for value in row.tiebreaks.values()} == {0.0}
    assert {row.games for row in rows.values()} == {0}
    table = crosstable(["ada", "bea"], games)
    assert {row[1]: row[4:6] for row in table.rows}["ada"].count(cell) == 1


def test_tie_breaks_apply_and_then_the_order_of_names() -> None:
    games = [Game("a", "b", "1-0"), Game("c", "d", "1-0"), Game("a", "d", "1/2-1/2"), Game("c", "b", "1/2-1/2")]
    assert [row.name for row in standings(["c", "a", "b", "d"], games)] == ["c", "a", "b", "d"]
    games += [Game("a", "c", "0-1"), Game("a", "d", "1-0")]  # 2½ each; between a and c, it is c who has won
    rows = standings(["a", "b", "c", "d"], games)
    assert [(row.name, row.points, row.tiebreaks["Direct"]) for row in rows] == [
        ("c", 2.5, 1.0),
        ("a", 2.5, 0.0),
        ("b", 0.5, 0.0),
        ("d", 0.5, 0.0),
    ]


def test_row_has_every_count() -> None:
    row = standings(["ada", "bea", "cleo"], ROBIN)[2]
    assert row == (3, "ada", 1.5, 4, 1, 1, 2, {"S-B": 2.25, "Direct": 1.5, "Wins": 1.0})


def test_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError, match="dora"):
        crosstable(["ada"], [Game("ada", "dora", "1-0")])


def test_tables_without_games_or_players() -> None:
    assert crosstable([], []) == Table(["#", "Player", "Points", "Games", "S-B", "Direct", "Wins"], [])


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (0.5, "½"), (1, "1"), (10.5, "10½"), (2.25, "2.25")])
def test_halves_are_written_as_fractions(value: float, text: str) -> None:
    assert halves(value) == text
