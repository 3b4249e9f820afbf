"""Histories over HTTP are cached, made in steps and charged as over TCP."""

from __future__ import annotations

import json

from gmd.play.budget import Budget
from tests.helpers import connected
from tests.http.helpers import http_daemon

PASSWORD = "correct horse battery staple"


async def test_history_over_http_equals_tcp_and_is_refused_without_budget() -> None:
    async with http_daemon() as (daemon, client), connected(daemon) as session:
        me = await session.ask("register", name="ann", password=PASSWORD)
        rbc = {"variant": "rbc", "white": me["player"], "player": me["player"], "key": me["key"]}
        games = [(await session.new_game(**rbc))["game_id"] for _ in range(2)]
        for game_id in games:
            await session.ask("end_game", game_id=game_id, player=2, termination="resignation_black")
        daemon.arbiter.cpu_queue.budget = Budget(1)
        path = "/api/games/{}/game_history"
        first = await client.get(path.format(games[0]), auth=("ann", PASSWORD))
        assert first.status_code == 200
        over_tcp = await session.ask("history", game_id=games[0])
        assert json.dumps(first.json()["game_history"]) == json.dumps(over_tcp["history"])
        assert (over_tcp["history"]["white_name"], over_tcp["history"]["black_name"]) == ("ann", "2")
        daemon.arbiter.cpu_queue.budget.charge("127.0.0.1:1", 1.0)
        refused = await client.get(path.format(games[1]), auth=("ann", PASSWORD))
        assert refused.status_code == 503  # a status that makes reconchess's client retry
        assert int(refused.headers["retry-after"]) > 60_000
        again = await client.get(path.format(games[0]), auth=("ann", PASSWORD))
        assert again.content == first.content
