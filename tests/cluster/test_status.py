"""``gmd status``, the metrics and the operators' page of several daemons on one database."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import trio

from tests.cli.commands import gmd
from tests.cluster.members import PATIENCE
from tests.cluster.test_daemons import Daemons
from tests.helpers import Json
from tests.http.helpers import http_daemon
from tests.serving import served


@pytest.fixture
def daemons(database_url: str, tmp_path: Path) -> Iterator[Daemons]:
    with ExitStack() as stack:
        yield Daemons(database_url, tmp_path, stack)


def status_of(url: str) -> Json:
    ran = gmd("status", "--database", url, "--json")
    assert ran.status == 0, ran
    found: Json = json.loads(ran.out)
    return found


async def test_status_shows_what_each_daemon_owns_and_forwards(daemons: Daemons) -> None:
    one, two = await daemons.two()
    async with one.client() as first, two.client() as second:
        games = [(await first.new_game())["game_id"] for _ in range(3)]
        games += [(await second.new_game())["game_id"] for _ in range(2)]
        for game_id in games:
            assert (await second.ask("state", game_id=game_id))["error"] is None
        with trio.fail_after(PATIENCE):
            while True:
                found = await trio.to_thread.run_sync(status_of, daemons.url)
                told = found["daemons"][1]
                if (told["forwarded"] or 0) >= 3:
                    break
    assert found["lobby"] == found["daemons"][0]["game"] == f"127.0.0.1:{one.port}"
    assert (found["live_games"], found["free_shards"]) == (5, 0)
    assert [daemon["live_games"] for daemon in found["daemons"]] == [3, 2]
    assert [daemon["shards"] for daemon in found["daemons"]] == [128, 128]
    assert [daemon["lobby"] for daemon in found["daemons"]] == [True, False]
    assert all(0 < daemon["lease_seconds"] <= 2 for daemon in found["daemons"])
    assert all(daemon["links_down"] == [] for daemon in found["daemons"])
    assert 0 < told["forwarded_share"] <= 1
    assert "password" not in found["database"]
    shown = gmd("status", "--database", daemons.url)
    assert shown.out.startswith("2 daemons on postgresql://")
    assert ": 5 live games; " in shown.out
    assert f"127.0.0.1:{one.port} owns the lobby" in shown.out
    assert one.stop(signal.SIGTERM) == 0
    assert two.stop(signal.SIGTERM) == 0
    shown = gmd("status", "--database", daemons.url)
    assert shown.status == 1
    assert "0 daemons on postgresql://" in shown.out
    assert shown.out.endswith("5 live games; nobody owns the lobby; 256 shards without an owner\n")


def test_status_of_a_data_directory(tmp_path: Path) -> None:
    with served("--data", str(tmp_path)) as daemon:
        ran = gmd("status", "--data", tmp_path)
        process = daemon.process.pid
        assert ran.status == 0
        assert f" runs as process {process}; 0 games, 0 of them live\n" in ran.out
        assert json.loads(gmd("status", "--data", tmp_path, "--json").out)["process"] == process
    ran = gmd("status", "--data", tmp_path)
    assert (ran.status, ran.out) == (1, f"{tmp_path}: no daemon runs; 0 games, 0 of them live\n")


async def test_metrics_and_page_show_the_other_daemons(database_url: str, tmp_path: Path) -> None:
    import httpx

    token = ("--metrics-token", "sesame", "--http", "--http-port", "0", "--link-port", "0", "--database", database_url)
    with served(*token, "--data", str(tmp_path / "1")) as one, served(*token, "--data", str(tmp_path / "2")) as two:
        shared = Daemons(database_url, tmp_path, ExitStack())
        await shared.until(one, two)
        async with two.client() as client:
            made = (await client.new_game())["game_id"]
        async with one.client() as client:
            assert (await client.ask("state", game_id=made))["error"] is None
        addresses = [each["http"] for each in status_of(database_url)["daemons"]]
        async with httpx.AsyncClient() as http:
            for path in (f"games/{made}.json", f"api/games/{made}/is_my_turn", "healthz"):  # the owner is `two`
                assert (await http.get(f"http://{addresses[0]}/{path}")).status_code in (200, 401)
            bearer = {"authorization": "Bearer sesame"}
            lines = (await http.get(f"http://{addresses[0]}/metrics", headers=bearer)).text.splitlines()
            other = f'{{daemon="127.0.0.1:{two.port}"}}'
            assert {"gmd_cluster_shards 128.0", "gmd_cluster_lobby 1.0", f"gmd_link_up{other} 1.0"} <= set(lines)
            (forwarded,) = (line for line in lines if line.startswith(f"gmd_link_forwarded_total{other} "))
            assert float(forwarded.rpartition(" ")[2]) >= 1
            assert any(line.startswith(f"gmd_link_answered_total{other} ") for line in lines)
            (seconds,) = (line for line in lines if line.startswith("gmd_cluster_lease_seconds "))
            assert 0 < float(seconds.rpartition(" ")[2]) <= 2
            assert f"gmd_link_notes_waiting{other} 0.0" in lines
            assert {"gmd_cluster_http_requests_total 2.0", "gmd_cluster_http_forwarded_total 2.0"} <= set(lines)
            with trio.fail_after(PATIENCE):  # a renewal of the lease stores it
                told: Json = {"http_requests": 0}
                while (told["http_requests"] or 0) < 2:
                    told = (await trio.to_thread.run_sync(status_of, database_url))["daemons"][0]
            assert [told[f"http_{name}"] for name in ("requests", "forwarded", "forwarded_share")] == [2, 2, 1]
            page = f"http://{addresses[1]}/operator/daemons"
            browser = {"accept": "text/html"}
            refused = await http.get(page, headers=browser)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == 'Basic realm="operators of gmd"'
            assert (await http.get(page, headers=browser, auth=("me", "wrong"))).status_code == 401
            shown = await http.get(page, headers=browser, auth=("me", "sesame"))
            assert shown.status_code == 200
            assert f'<th scope="row">127.0.0.1:{one.port}</th>' in shown.text
            assert shown.text.count("owns the lobby") == 1
            assert "<td>2 (100 %)</td>" in shown.text


async def test_page_of_a_daemon_that_is_alone() -> None:
    async with http_daemon(pages=True) as (_, client):
        shown = await client.get("/operator/daemons", headers={"accept": "text/html"})
        assert shown.status_code == 200
        assert "This daemon is alone, and has 0 live games." in shown.text


@pytest.mark.parametrize("settings", [{"http_host": "0.0.0.0"}, {"trusted_proxies": "127.0.0.1"}])
async def test_page_of_daemons_is_refused_without_a_token_where_others_reach_it(settings: dict[str, str]) -> None:
    async with http_daemon(pages=True, **settings) as (_, client):
        shown = await client.get("/operator/daemons", headers={"accept": "text/html"})
        assert shown.status_code == 403
        assert "/operator/daemons shows the addresses of all daemons, so it needs a metrics_token" in shown.text
    async with http_daemon(pages=True, metrics_token="sesame", **settings) as (_, client):
        shown = await client.get("/operator/daemons", headers={"accept": "text/html"}, auth=("me", "sesame"))
        assert shown.status_code == 200
