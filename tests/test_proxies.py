"""The sender of a request: what a proxy says counts only if the proxy is trusted."""

from __future__ import annotations

import pytest

from gmd.config import ConfigError
from gmd.net.proxies import Proxies
from tests.http.helpers import http_daemon


@pytest.mark.parametrize(
    ("trusted", "client", "forwarded", "peer"),
    [
        (None, ("192.0.2.1", 4711), ["203.0.113.9"], "192.0.2.1:4711"),
        ("", ("192.0.2.1", 4711), ["203.0.113.9"], "192.0.2.1:4711"),
        ("192.0.2.2", ("192.0.2.1", 4711), ["203.0.113.9"], "192.0.2.1:4711"),
        ("192.0.2.1", ("192.0.2.1", 4711), [], "192.0.2.1:0"),
        ("192.0.2.1", ("192.0.2.1", 4711), ["203.0.113.9"], "203.0.113.9:0"),
        # Anything that the client itself wrote stands before what the proxy adds.
        ("192.0.2.1", ("192.0.2.1", 4711), ["10.9.8.7, 203.0.113.9"], "203.0.113.9:0"),
        ("192.0.2.1", ("192.0.2.1", 4711), ["10.9.8.7", "203.0.113.9"], "203.0.113.9:0"),
        ("192.0.2.1, 10.0.0.0/8", ("192.0.2.1", 4711), ["203.0.113.9, 10.1.1.1,10.2.2.2"], "203.0.113.9:0"),
        ("192.0.2.1, 10.0.0.0/8", ("192.0.2.1", 4711), ["10.1.1.1,10.2.2.2"], "10.1.1.1:0"),
        ("192.0.2.1", ("192.0.2.1", 4711), ["nonsense"], "192.0.2.1:0"),
        ("192.0.2.1", ("192.0.2.1", 4711), ["203.0.113.9:1_0"], "192.0.2.1:0"),
        ("192.0.2.1", ("192.0.2.1", 4711), ["203.0.113.9:+1"], "192.0.2.1:0"),
        ("192.0.2.1", ("192.0.2.1", 4711), ["203.0.113.9:١"], "192.0.2.1:0"),
        ("192.0.2.1", ("192.0.2.1", 4711), ["٢٠٣.0.113.9"], "192.0.2.1:0"),
        ("192.0.2.1", ("192.0.2.1", 4711), ["[2001:db8::1]x"], "192.0.2.1:0"),
        ("192.0.2.1,10.0.0.0/8", ("192.0.2.1", 4711), ["203.0.113.9, unknown, 10.1.1.1"], "10.1.1.1:0"),
        ("192.0.2.1", ("192.0.2.1", 4711), ["203.0.113.9:5050"], "203.0.113.9:0"),
        ("::1", ("::1", 4711), ["[2001:db8::1]:443"], "2001:db8::1:0"),
        ("::1", ("::1", 4711), ["2001:db8::1"], "2001:db8::1:0"),
        ("127.0.0.1", ("::ffff:127.0.0.1", 4711), ["::ffff:203.0.113.9"], "203.0.113.9:0"),
        ("127.0.0.1", None, ["203.0.113.9"], ""),
    ],
)
def test_sender_is_taken_from_trusted_proxies_only(
    trusted: str | None, client: tuple[str, int] | None, forwarded: list[str], peer: str
) -> None:
    assert Proxies.parse(trusted).peer(client, forwarded) == peer


@pytest.mark.parametrize("setting", ["proxy.example", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.1 10.0.0.2"])
def test_invalid_address_is_reported(setting: str) -> None:
    with pytest.raises(ConfigError, match="trusted_proxies: "):
        Proxies.parse(setting)


@pytest.mark.parametrize(("trusted", "last"), [("127.0.0.1", 200), pytest.param(None, 503, marks=pytest.mark.slow)])
async def test_limits_count_by_the_sender_and_ignore_untrusted_headers(trusted: str | None, last: int) -> None:
    async with http_daemon(trusted_proxies=trusted, max_registrations_per_hour=1) as (_, client):
        statuses = []
        for number in (1, 2):
            forwarded = {"X-Forwarded-For": f"203.0.113.{number}"}
            fields = {"username": f"bot-{number}", "password": "long enough"}
            statuses.append((await client.post("/api/users/", json=fields, headers=forwarded)).status_code)
        assert statuses == [200, last]
