"""Requests that browsers send for another site: by a name that resolves to this machine, and to the API."""

from __future__ import annotations

import socket

import httpx
import pytest

from gmd.config import Config, ConfigError
from gmd.daemon import open_daemon
from gmd.http.origins import Origins
from tests.helpers import running_daemon
from tests.http.helpers import http_client, http_daemon, open_http, read_to_end

#: A name of somebody else's that resolves to this machine.
FOREIGN = "rebound.example"
SENTENCE = f"host: '{FOREIGN}:80' is not a name of this server; if a proxy serves it so, start gmd with --public-host"
PATHS = ("/", "/games/1/aid", "/events", "/metrics", "/api/version", "/schema", "/sign-in", "/ranked", "/nowhere")


async def test_foreign_name_is_refused_on_loopback() -> None:
    asked = [("GET", path) for path in PATHS] + [("POST", "/games/1"), ("POST", "/play"), ("OPTIONS", "/api/version")]
    async with http_daemon() as (_, client):
        for method, path in asked:
            answer = await client.request(method, path, headers={"host": f"{FOREIGN}:80"})
            assert (answer.status_code, answer.json()) == (421, {"error": SENTENCE, "code": "bad_request"}), path


async def test_pages_of_a_game_are_shown_under_a_foreign_name_unless_they_show_what_is_hidden() -> None:
    for spectate, status in (("after", 200), ("live", 421)):
        async with http_daemon(spectate=spectate) as (daemon, client):
            await daemon.ask("new_game", player_white=1, player_black=2, variant="rbc")
            for path in ("/games/1", "/embed/1"):
                assert (await client.get(path, headers={"host": FOREIGN})).status_code == status
                assert (await client.get(path)).status_code == 200
            assert (await client.get("/healthz", headers={"host": FOREIGN})).status_code == 200


async def test_own_names_addresses_and_names_without_a_dot_are_served() -> None:
    named = "gmd.example.org, WWW.gmd.example.org"
    hosts = ["localhost", "LOCALHOST:7180", "gmd.localhost", "127.9.9.9:1", "[::1]:7180", "gmd", "192.0.2.1"]
    hosts += ["gmd.example.org", "GMD.example.org.:443", "www.gmd.example.org", "host.docker.internal."]
    hosts += ["mac.local:7180", "gmd.default.svc.cluster.local", "nas.home.arpa", "gmd.test"]
    async with http_daemon(public_host=named) as (_, client):
        for host in hosts:
            assert (await client.get("/api/version", headers={"host": host})).status_code == 200, host


async def test_foreign_name_is_refused_on_loopback_by_a_socket_for_both_versions_of_ip() -> None:
    listening = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    config, port = Config(port=0, data=":memory:", http=True), listening.getsockname()[1]
    async with open_daemon(config, http_sockets=[listening]), http_client(port) as client:
        assert (await client.get("/", headers={"host": FOREIGN})).status_code == 421


async def test_health_port_refuses_a_foreign_name_for_metrics_alone() -> None:
    async with running_daemon(health_port=0) as daemon, http_client(daemon.health_port) as client:
        answers = [await client.get(path, headers={"host": FOREIGN}) for path in ("/metrics", "/healthz")]
        assert [answer.status_code for answer in answers] == [421, 200]


async def test_browser_gets_a_page_that_says_why_its_name_is_refused() -> None:
    async with http_daemon() as (_, client):
        answer = await client.get("/", headers={"host": FOREIGN, "accept": "text/html"})
        assert answer.status_code == 421
        assert "start gmd with --public-host" in answer.text


@pytest.mark.parametrize("setting", ["https://gmd.example.org", "gmd.example.org:7180", "gmd example", "a..b"])
def test_public_host_that_is_no_name_is_refused(setting: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Origins.parse(f"gmd.example.org, {setting}")
    assert str(raised.value) == (f"public_host: {setting!r} is not a host name; give it without scheme, port and path")


async def test_api_refuses_what_another_site_sends() -> None:
    async with http_daemon() as (daemon, client):
        made = await daemon.ask("register", name="ann", password="correct horse")
        auth, own = httpx.BasicAuth("ann", made["key"]), f"http://{client.base_url.netloc.decode()}"
        for headers in (
            {"origin": "https://other.example"},
            {"origin": "null"},
            {"origin": "http://127.0.0.1:1"},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
            {"sec-fetch-site": "cross-site", "origin": own},
        ):
            for method, path in (
                ("POST", "/api/users/me"),
                ("POST", "/api/users/"),
                ("GET", "/api/games/1/color"),
                ("GET", f"{own}//api/version"),  # as /api/version
                ("GET", f"{own}/api//version"),
            ):
                answer = await client.request(method, path, headers=headers, auth=auth)
                assert (answer.status_code, answer.json()["code"]) == (403, "unauthorized"), headers
            assert (await client.get("/", headers=headers)).status_code == 200  # what a link leads to


async def test_api_answers_programs_and_what_its_own_pages_send() -> None:
    async with http_daemon(public_host="gmd.example.org") as (_, client):
        own = f"http://{client.base_url.netloc.decode()}"
        sent: list[dict[str, str]] = [{}, {"sec-fetch-site": "none"}]
        sent += [{"origin": origin} for origin in (own, own.upper(), "https://gmd.example.org")]
        sent += [{"sec-fetch-site": "same-origin", "origin": "https://other.example"}]  # a proxy may change the host
        for headers in sent:
            assert (await client.get("/api/version", headers=headers)).status_code == 200, headers


async def test_two_authorizations_are_refused() -> None:
    refusal = b'{"error":"authorization: sent more than once; send it once","code":"bad_request"}'
    async with http_daemon() as (daemon, _):
        for path in ("/api/users/me", "/api/games/1/color", "/api/version", "/metrics", "/"):
            for second in ("Basic b3RoZXI6", "Basic YW5uOg=="):
                lines = f"Host: gmd\r\nAuthorization: Basic YW5uOg==\r\nauthorization: {second}\r\nConnection: close"
                async with await open_http(daemon) as stream:
                    await stream.send_all(f"GET {path} HTTP/1.1\r\n{lines}\r\n\r\n".encode())
                    answer = await read_to_end(stream)
                assert answer.startswith(b"HTTP/1.1 400 "), path
                assert answer.endswith(refusal), path
