"""HTTP under TLS: its certificates, clients without TLS, and handshakes that never end."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
import trio
from reconchess.scripts import rc_register

from gmd.config import Config, ConfigError
from gmd.daemon import Daemon
from gmd.http.web import http_certificate_of
from gmd.net.tls import certificate_of
from tests.helpers import running_daemon
from tests.http.helpers import open_http, read_to_end
from tests.serving import served
from tests.test_serve_tls import JSON_LOG, said
from tests.tls import Certificates, make_certificates, tls_connected

HTTP = ("--http", "--http-port", "0")


@asynccontextmanager
async def https_daemon(certificates: Certificates, **settings: Any) -> AsyncIterator[tuple[Daemon, httpx.AsyncClient]]:
    """Yield a daemon with a certificate, and a client of its HTTP port that trusts it."""
    async with (
        running_daemon(http=True, http_port=0, **certificates.settings, **settings) as daemon,
        httpx.AsyncClient(
            base_url=f"https://localhost:{daemon.http_port}", verify=certificates.trust(), trust_env=False, timeout=None
        ) as client,
    ):
        yield daemon, client


def http_settings(certificates: Certificates) -> dict[str, str]:
    return {f"http_{name}": value for name, value in certificates.settings.items()}


async def test_http_has_the_certificate_of_the_game_port(certificates: Certificates) -> None:
    async with https_daemon(certificates) as (daemon, client):
        assert (await client.get("/healthz")).json() == {"status": "ok", "reason": None}
        body = {"username": "ada", "password": "correct horse"}
        assert (await client.post("/api/users/", json=body)).json() == {"username": "ada"}
        response = await client.get("/api/users/", auth=("ada", "correct horse"))
        assert response.json() == {"usernames": ["ada"]}
        assert daemon.certificates == [daemon.certificate]


async def test_http_may_have_its_own_certificate(certificates: Certificates, tmp_path: Path) -> None:
    own = make_certificates(tmp_path / "own")
    async with https_daemon(certificates, **http_settings(own)) as (daemon, client):
        with pytest.raises(httpx.ConnectError):
            await client.get("/healthz")
        async with httpx.AsyncClient(verify=own.trust(), trust_env=False) as trusting:
            assert (await trusting.get(f"https://localhost:{daemon.http_port}/healthz")).status_code == 200
        async with tls_connected(daemon, certificates) as session:
            assert (await session.ask("ping"))["error"] is None
        assert len(daemon.certificates) == 2


async def test_http_may_have_tls_if_the_game_port_has_none(certificates: Certificates) -> None:
    async with running_daemon(http=True, http_port=0, **http_settings(certificates)) as daemon:
        assert daemon.certificate is None
        async with httpx.AsyncClient(verify=certificates.trust(), trust_env=False) as client:
            assert (await client.get(f"https://localhost:{daemon.http_port}/healthz")).status_code == 200
        assert (await daemon.ask("ping"))["error"] is None


async def test_http_stays_plaintext_if_a_proxy_speaks_tls(certificates: Certificates) -> None:
    settings = {"http_tls": False, "trusted_proxies": "127.0.0.1", **certificates.settings}
    async with running_daemon(http=True, http_port=0, **settings) as daemon:
        async with httpx.AsyncClient(trust_env=False) as client:
            assert (await client.get(f"http://127.0.0.1:{daemon.http_port}/healthz")).status_code == 200
        async with tls_connected(daemon, certificates) as session:
            assert (await session.ask("ping"))["error"] is None


@pytest.mark.parametrize("settings", [{}, {"trusted_proxies": "127.0.0.1"}])
async def test_trusted_proxy_that_may_forward_plaintext_is_warned_about(
    certificates: Certificates, settings: dict[str, str]
) -> None:
    with structlog.testing.capture_logs() as logged:
        async with https_daemon(certificates, **settings):
            pass
    warned = [entry["advice"] for entry in logged if entry["log_level"] == "warning"]
    assert warned == ["a proxy that forwards plaintext needs --no-http-tls"] * len(settings)


async def test_client_without_tls_gets_a_refusal_that_names_https(certificates: Certificates) -> None:
    async with (
        https_daemon(certificates) as (daemon, client),
        httpx.AsyncClient(trust_env=False) as plain,
    ):
        response = await plain.get(f"http://127.0.0.1:{daemon.http_port}/healthz")
        assert response.status_code == 400
        assert response.json() == {
            "error": "this port requires TLS; use an https:// address",
            "code": "bad_request",
        }
        assert (await client.get("/healthz")).status_code == 200


async def test_response_ends_with_the_close_notify_of_tls(certificates: Certificates) -> None:
    async with (
        https_daemon(certificates) as (daemon, _),
        trio.SSLStream(await open_http(daemon), certificates.trust(), server_hostname="localhost") as stream,
    ):  # this client accepts no other end than TLS's own
        await stream.send_all(b"GET /healthz HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n")
        assert (await read_to_end(stream)).endswith(b'{"status":"ok","reason":null}')


async def test_handshake_that_takes_too_long_is_cut_off(certificates: Certificates) -> None:
    async with https_daemon(certificates, frame_timeout=0.5) as (daemon, _), await silent_client(daemon) as silent:
        assert await read_to_end(silent) == b""
        assert daemon.http is not None
        assert daemon.http.server.evicted == 0


async def test_handshake_gives_up_its_place_to_other_connections(certificates: Certificates) -> None:
    async with (
        https_daemon(certificates, frame_timeout=3_600, http_max_connections=1) as (daemon, client),
        await silent_client(daemon) as silent,
    ):
        assert (await client.get("/healthz")).status_code == 200
        assert daemon.http is not None
        assert daemon.http.server.evicted == 1
        assert await read_to_end(silent) == b""
        assert (await client.get("/healthz")).status_code == 200


async def silent_client(daemon: Daemon) -> trio.SocketStream:
    """Connect to the HTTP port, send nothing, and return once the daemon has noticed."""
    assert daemon.http is not None
    stream = await open_http(daemon)
    while daemon.http.server.connections == 0:
        await trio.lowlevel.checkpoint()
    return stream


async def test_garbage_does_not_bring_the_port_down(certificates: Certificates) -> None:
    async with https_daemon(certificates, frame_timeout=1) as (daemon, client):
        for garbage in (b"", b"\x16", b"\x16\x03\x01\x00\x05hello", b"\x16" * 5_000):
            async with await open_http(daemon) as stream:
                await stream.send_all(garbage)
                await stream.send_eof()
                await read_to_end(stream)
            assert (await client.get("/healthz")).status_code == 200


def test_contradicting_settings_are_named(certificates: Certificates) -> None:
    cert, key = str(certificates.cert), str(certificates.key)
    for settings, message in (
        ({"http_tls_cert": cert}, f"http_tls_cert: '{cert}' goes with http_tls_key, which is not given"),
        ({"http_tls_key": key}, f"http_tls_key: '{key}' goes with http_tls_cert, which is not given"),
        (
            {"http_tls_cert": cert, "http_tls_key": "no.pem"},
            "http_tls_key: no.pem cannot be read: No such file or directory",
        ),
        (
            {"http_tls_cert": key, "http_tls_key": key},
            f"http_tls_cert: {key} holds no certificate in PEM",
        ),
        (
            {"http_tls": False, "http_tls_key": key},
            f"http_tls_key: '{key}' is given, and http_tls is off: leave one of them out",
        ),
    ):
        with pytest.raises(ConfigError) as caught:
            http_certificate_of(Config(**settings), certificate_of(cert, key))
        assert str(caught.value) == message


@pytest.mark.slow
async def test_sighup_reloads_both_certificates(certificates: Certificates, tmp_path: Path) -> None:
    game, own = (make_certificates(tmp_path / name) for name in ("game", "own"))
    flags = [*game.flags, *(flag.replace("--tls", "--http-tls") for flag in own.flags)]
    with served(*flags, *HTTP, env=JSON_LOG) as daemon:
        url = daemon.http
        assert url.startswith("https://127.0.0.1:")
        renewed = make_certificates(tmp_path / "own")
        shutil.copy(own.key, game.key)  # this key does not belong to the game port's certificate
        daemon.process.send_signal(signal.SIGHUP)
        assert said(daemon) == (
            "SIGHUP: the certificate stays as it was",
            f"tls_key: {game.key} is not the key of the certificate in {game.cert}",
        )
        assert said(daemon) == ("SIGHUP: certificate and key are read again, for connections from now on", None)
        async with httpx.AsyncClient(verify=renewed.trust(), trust_env=False) as client:
            assert (await client.get(f"{url}/healthz")).status_code == 200
        assert daemon.stop(signal.SIGTERM) == 0


async def test_daemon_stops_although_a_handshake_never_ends(certificates: Certificates) -> None:
    async with https_daemon(certificates, frame_timeout=3_600) as (daemon, _):
        silent = await silent_client(daemon)
    assert await read_to_end(silent) == b""
    await silent.aclose()


async def test_programs_of_reconchess_can_use_tls(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificates.ca))
    async with https_daemon(certificates) as (daemon, _):
        fields = [f"--{name}=some-bot" for name in ("username", "email", "affiliation", "password")]
        url = f"https://127.0.0.1:{daemon.http_port}"
        monkeypatch.setattr(sys, "argv", ["rc-register", f"--server-url={url}", *fields])
        await trio.to_thread.run_sync(rc_register.main, abandon_on_cancel=True)
    assert 'Successfully registered with username "some-bot".' in capsys.readouterr().out
