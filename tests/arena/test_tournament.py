"""Tournaments of real players on a real daemon: every format, its table and its PGN, and absent players."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import trio

from gm_arena.tournament.plan import GameResult, Key, next_rounds
from gm_arena.tournament.record import Record
from gm_arena.tournament.results import played_games
from gm_client.trio_client import Client, Turn
from tests.arena.tournaments import NAMES, Hall, Witness, all_games, hall, results, seat_all, table


async def pgn_of(hall: Hall, record: Record) -> list[str]:
    async with hall.operator() as daemon:
        return [written.pgn or "" async for written in played_games(record, daemon)]


# --- Formats ----------------------------------------------------------------------------------------------------


async def test_double_round_robin_is_played(tmp_path: Path) -> None:
    names = NAMES[:3]
    async with hall(tmp_path, *names) as house:
        seat_all(house, names)
        witness = Witness()
        record = await house.direct(await house.begin(names, games=2), witness)
        assert [len(begun.pairings) for begun in witness.begun] == [1] * 6
        assert {outcome.reason for _, _, outcome in witness.over} <= {"resignation_white", "resignation_black"}
        assert table(record) == (
            "#,Player,Points,Games,1,2,3,S-B,Direct,Wins\n"
            "1,ada,4,4,×,11,11,4,0,4\n"
            "2,bea,2,4,00,×,11,0,0,2\n"
            "3,cleo,0,4,00,00,×,0,0,0\n"
        )
        ids = [entrant.id for entrant in record.settings.players]
        meetings = await all_games(house)
        assert sorted(meetings) == sorted((one, other) for one in ids for other in ids if one != other)


async def test_games_are_written_as_pgn(tmp_path: Path) -> None:
    async with hall(tmp_path, "ada", "bea") as house:
        seat_all(house, ("ada", "bea"))
        terms = {"variant": "standard", "clock": {"initial": 60.0, "increment": 1.0}}
        record = await house.direct(await house.begin(("ada", "bea"), games=2, terms=terms))
        first, second = (re.sub(r'Date "[\d.]+"', 'Date "?"', pgn) for pgn in await pgn_of(house, record))
        assert first == (
            '[Event "spring"]\n[Site "?"]\n[Date "?"]\n[Round "1.1"]\n[White "ada"]\n[Black "bea"]\n[Result "1-0"]\n'
            '[Termination "normal"]\n[GmdTermination "resignation_black"]\n[GmdWhite "4503599627370497"]\n'
            '[GmdBlack "4503599627370498"]\n[TimeControl "60+1"]\n\n1. Nh3 1-0\n'
        )
        assert second == (
            '[Event "spring"]\n[Site "?"]\n[Date "?"]\n[Round "2.1"]\n[White "bea"]\n[Black "ada"]\n[Result "0-1"]\n'
            '[Termination "normal"]\n[GmdTermination "resignation_white"]\n[GmdWhite "4503599627370498"]\n'
            '[GmdBlack "4503599627370497"]\n[TimeControl "60+1"]\n\n0-1\n'
        )


async def test_blind_games_are_played_and_written_as_pgn(tmp_path: Path) -> None:
    async with hall(tmp_path, "ada", "bea") as house:
        seat_all(house, ("ada", "bea"))
        record = await house.direct(await house.begin(("ada", "bea"), terms={"variant": "rbc"}))
        (pgn,) = await pgn_of(house, record)
        for tag in ("Event", "Round", "White", "Black", "Result", "Variant"):
            assert pgn.count(f"[{tag} ") == 1
        assert '[White "ada"]' in pgn
        assert '[Result "1-0"]' in pgn
        assert results(record) == {"1.1": "1-0 resignation_black"}


async def test_chess960_pairing_has_one_position_that_the_seed_decides(tmp_path: Path) -> None:
    names = NAMES[:3]
    async with hall(tmp_path, *names) as house:
        seat_all(house, names)
        record = await house.direct(await house.begin(names, games=2, seed=5, terms={"variant": "chess960"}))
        async with Client(path=str(tmp_path / "operator.sock")) as client:
            fens: dict[frozenset[int], set[str]] = {}
            for key, game_id in record.made.items():
                state = (await client.state(game_id))["state"]
                fens.setdefault(frozenset(record.rounds[key.round - 1].games[key]), set()).add(state["start_fen"])
        assert [len(found) for found in fens.values()] == [1, 1, 1]
        assert len(set.union(*fens.values())) == 3


async def test_number_of_games_at_once_is_limited(tmp_path: Path) -> None:
    names = NAMES[:4]
    async with hall(tmp_path, *names) as house:
        seat_all(house, names)
        witness = Witness()
        most = 0
        plays = witness.plays

        def counted(key: Key, pairing: tuple[int, int], game_id: int) -> None:
            nonlocal most
            plays(key, pairing, game_id)
            most = max(most, len(witness.played) - len(witness.over))

        witness.plays = counted  # type: ignore[method-assign]
        await house.direct(await house.begin(names), witness, at_once=1)
        assert (most, len(witness.over)) == (1, 6)


# --- Absent players ---------------------------------------------------------------------------------------------


async def test_absent_player_forfeits_and_two_absent_players_get_no_points(tmp_path: Path) -> None:
    names = NAMES[:4]
    async with hall(tmp_path, *names) as house:
        seat_all(house, names[:2])
        await house.gathered(*names[:2])
        record = await house.direct(await house.begin(names, absence=0.0))
        ends = {
            frozenset(record.rounds[key.round - 1].games[key]): (record.rounds[key.round - 1].games[key], outcome)
            for key, outcome in record.outcomes.items()
        }
        for one in (0, 1):
            for other in (2, 3):
                (white, _), outcome = ends[frozenset((one, other))]
                assert outcome == GameResult("+/-" if white == one else "-/+", "absent")
        assert ends[frozenset((2, 3))][1] == GameResult("-/-", "absent")
        assert ends[frozenset((0, 1))][1].result in ("1-0", "0-1")
        assert [row.split(",")[1:4] for row in table(record).splitlines()[1:]] == [
            ["ada", "3", "1"],
            ["bea", "2", "1"],
            ["cleo", "0", "0"],
            ["dora", "0", "0"],
        ]
        assert len(await all_games(house)) == 1
        assert len(await pgn_of(house, record)) == 1


async def test_player_who_comes_in_time_plays(tmp_path: Path) -> None:
    async with hall(tmp_path, "ada", "bea") as house, trio.open_nursery() as nursery:
        seat_all(house, ("ada",))
        witness = Witness()
        record = await house.begin(("ada", "bea"))
        nursery.start_soon(house.direct, record, witness)
        await witness.until(lambda: {1} in witness.awaited)
        assert witness.played == []
        house.seat("bea", lambda turn: turn.resign())
        await witness.until(lambda: witness.over)
    assert results(record) == {"1.1": "1-0 resignation_black"}


@pytest.mark.slow
async def test_player_who_does_not_answer_forfeits(tmp_path: Path) -> None:
    names = NAMES[:3]
    async with hall(tmp_path, *names, invitation_timeout=1.5) as house, house.here("bea"), house.here("cleo"):
        seat_all(house, ("ada",))
        record = await house.direct(await house.begin(names))
    ends = {frozenset(record.rounds[key.round - 1].games[key]): outcome for key, outcome in record.outcomes.items()}
    assert ends[frozenset((1, 2))] == GameResult("-/-", "expired"), "neither has answered"
    for other in (1, 2):
        assert ends[frozenset((0, other))] in (GameResult("+/-", "expired"), GameResult("-/+", "expired"))
    assert table(record).splitlines()[1].split(",")[1:4] == ["ada", "2", "0"]


@pytest.mark.parametrize(("name", "accepts"), [("ada", False), ("bea", True)])
async def test_player_who_declines_or_withdraws_forfeits(tmp_path: Path, name: str, accepts: bool) -> None:
    names = ("ada", "bea")
    async with hall(tmp_path, *names) as house, house.here("ada") as ada, house.here("bea") as bea:
        client = {"ada": ada, "bea": bea}[name]
        witness = Witness()
        record = await house.begin(names)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.direct, record, witness)
            await witness.until(lambda: witness.played)
            if accepts:
                await client.accept(1)
            await client.decline(1)
        end = f"{'-/+' if name == 'ada' else '+/-'} {'withdrawn' if accepts else 'declined'}"
        assert results(record) == {"1.1": end}


@pytest.mark.slow
async def test_player_who_leaves_a_game_loses_on_time(tmp_path: Path) -> None:
    async with hall(tmp_path, "ada", "bea") as house:
        leaving: list[trio.CancelScope] = []

        async def leave(turn: Turn) -> None:
            leaving[0].cancel()

        async def think(turn: Turn) -> None:
            await turn.move("e4")

        house.seat("ada", think)
        leaving.append(house.seat("bea", leave))
        record = await house.direct(await house.begin(("ada", "bea"), terms={"clock": {"initial": 1.5}}))
        assert results(record) == {"1.1": "1-0 timeout_black"}


async def test_revoked_player_forfeits_games_not_begun(tmp_path: Path) -> None:
    async with hall(tmp_path, "ada", "bea") as house, house.here("ada"), house.here("bea"):
        witness = Witness()
        record = await house.begin(("ada", "bea"), games=2, absence=0.0)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.direct, record, witness)
            await witness.until(lambda: len(witness.played) == 2)
            async with Client(path=str(tmp_path / "operator.sock")) as operator:
                await operator.revoke(name="bea")
        assert results(record) == {"1.1": "+/- declined", "2.1": "-/+ declined"}


async def test_game_lost_by_the_daemon_gives_no_points(tmp_path: Path) -> None:
    async with hall(tmp_path, "ada", "bea") as house:
        seat_all(house, ("ada", "bea"))
        record = await house.begin(("ada", "bea"), games=2)
        record.begin_round(next_rounds(record.settings, [])[0])
        record.ask_for(Key(1, 1))
        record.game_made(Key(1, 1), 4711)
        await house.direct(record)
        assert results(record) == {"1.1": "-/- lost", "2.1": "0-1 resignation_white"}


@pytest.mark.slow
async def test_player_at_its_limit_of_games_is_waited_for_if_busy_here_and_otherwise_absent(tmp_path: Path) -> None:
    names = NAMES[:3]
    async with hall(tmp_path, *names) as house:
        async with house.here("ada") as ada, house.here("cleo") as cleo:
            await ada.settings(max_games=1)
            await cleo.settings(max_games=0)
        seat_all(house, names)
        await house.gathered(*names)
        record = await house.direct(await house.begin(names, absence=2.0))
        reasons = {key: outcome.reason for key, outcome in record.outcomes.items()}
        assert sorted(reasons.values())[:2] == ["absent", "absent"]
        assert sorted(reasons.values())[2].startswith("resignation")
