"""The repair of a log that has contests: those with whole rows are kept, others are set aside."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import trio

from gmd.repair.repairing import repair
from tests.helpers import running_daemon
from tests.repair.logs import FILE


def made_in(directory: Path) -> None:
    trio.run(_make, directory)


async def _make(directory: Path) -> None:
    async with running_daemon(data=str(directory)) as daemon:
        await daemon.ask("new_game", player_white=1, player_black=2)
        ada = await daemon.ask("register", name="ada")
        who = {"player": ada["player"], "key": ada["key"]}
        rows = {"columns": ["x" * 90] * 20, "players": [{"name": "ada", "cells": ["y" * 90] * 20}] * 20}
        for number, fields in enumerate(({"players": [{"name": "ada"}]}, rows)):  # the second one fills several pages
            report = {"title": f"match {number}", "form": "match", "variant": "rbc", **fields}
            await daemon.ask("contest", token=f"{number:016}", report=report, **who)
        await daemon.ask_as_operator("contest", token=f"{3:016}", report=report | {"form": "tournament"})


def contests_in(directory: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(directory / FILE)) as connection:
        return connection.execute("SELECT * FROM contests ORDER BY contest_id").fetchall()


def test_contests_survive_damage_at_the_start_of_the_file(tmp_path: Path) -> None:
    made_in(tmp_path)
    before = contests_in(tmp_path)
    assert len(before) == 3
    content = bytearray((tmp_path / FILE).read_bytes())
    content[:512] = bytes(512)
    (tmp_path / FILE).write_bytes(content)
    repair(tmp_path)
    assert contests_in(tmp_path) == before


def test_contest_with_a_damaged_report_is_set_aside(tmp_path: Path) -> None:
    made_in(tmp_path)
    before = contests_in(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("UPDATE contests SET report = '{}' WHERE contest_id = 2")
        connection.commit()
    done = repair(tmp_path)
    assert contests_in(tmp_path) == [before[0], before[2]]
    assert any("contests, row 2: set aside: report: " in change for change in done.changes)
