"""Links under TLS: both sides need a certificate of the cluster's authority, and the cluster's secret all the same."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
import structlog
import trio
import trio.testing

from gmd.cluster.directory import Peer
from gmd.cluster.link_messages import LinkMessage
from gmd.cluster.link_tls import Contexts
from gmd.cluster.links import Links, running_links
from gmd.config import Config, ConfigError
from gmd.link_certificate import LinkCertificate, link_certificate_of
from tests.cluster.members import PATIENCE
from tests.cluster.static_directory import ClusterMap, StaticDirectory
from tests.cluster.test_daemons import Daemons
from tests.cluster.test_http_daemons import FLAGS, opened
from tests.http.pages.test_home import play_form
from tests.http.pages.test_playing import act
from tests.tls import Certificates, make_certificates

SECRET = b"s" * 32


class Sum(LinkMessage, frozen=True, gc=False):
    terms: bytes
    total: int = 0


def files(certificates: Certificates) -> dict[str, str]:
    return {
        "link_cert": str(certificates.cert),
        "link_key": str(certificates.key),
        "link_ca": str(certificates.ca),
    }


def flags(certificates: Certificates) -> list[str]:
    return [part for name, file in files(certificates).items() for part in (f"--{name.replace('_', '-')}", file)]


def loaded(certificates: Certificates) -> LinkCertificate:
    found = link_certificate_of(Config(**files(certificates)))
    assert found is not None
    return found


@asynccontextmanager
async def linked(*contexts: Contexts | None, secrets: tuple[bytes, bytes] = (SECRET, SECRET)) -> AsyncIterator[Links]:
    """Run the links of two daemons; yield those of the first, which can ask the second."""
    cluster = ClusterMap({1: Peer("a:1", "a:2"), 2: Peer("b:1", "b:2")})

    async def dial(daemon: int) -> trio.abc.Stream:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(both[daemon - 1].serve, theirs)
        return ours

    async def answer(ask: Sum, _daemon: int) -> Sum:
        return Sum(ask.terms, sum(ask.terms))

    both = [
        Links(StaticDirectory(cluster, me), secret, dial, context)
        for me, secret, context in zip((1, 2), secrets, contexts, strict=True)
    ]
    for each in both:
        each.on_ask(Sum, answer)
    async with trio.open_nursery() as nursery, running_links(both[0]), running_links(both[1]):
        yield both[0]
        nursery.cancel_scope.cancel()


async def asked(links: Links) -> int | None:
    """Return the answer to an ask of the second daemon; None if there is no link within some seconds."""
    with trio.move_on_after(10):
        answer = await links.ask(2, Sum(bytes([1, 2]) * 500_000))
        assert isinstance(answer, Sum)
        return answer.total
    return None


def reasons(events: list[structlog.typing.EventDict], event: str) -> set[str]:
    return {str(each["reason"]) for each in events if each["event"] == event}


async def test_daemons_with_certificates_of_one_authority_are_linked(certificates: Certificates) -> None:
    async with linked(loaded(certificates), loaded(certificates)) as links:
        assert await asked(links) == 1_500_000


async def test_certificate_of_another_authority_is_refused_with_a_reason(
    certificates: Certificates,
    tmp_path: Path,
    autojump_clock: trio.testing.MockClock,
) -> None:
    others = make_certificates(tmp_path / "others")
    with structlog.testing.capture_logs() as events:
        async with linked(loaded(others), loaded(certificates)) as links:
            assert await asked(links) is None
    assert any(
        reason.startswith("TLS: its certificate does not fit link_ca: ")
        for reason in reasons(events, "no link to a daemon")
    ), events
    assert len([each for each in events if each["event"] == "no link to a daemon"]) <= 4  # not one for each attempt


async def test_daemon_that_trusts_us_but_whom_we_do_not_trust_is_refused(
    certificates: Certificates,
    tmp_path: Path,
    autojump_clock: trio.testing.MockClock,
) -> None:
    others = make_certificates(tmp_path / "others")
    mixed = LinkCertificate(str(others.cert), str(others.key), str(certificates.ca))  # it trusts; its own is foreign
    with structlog.testing.capture_logs() as events:
        async with linked(mixed, loaded(certificates)) as links:
            assert await asked(links) is None
    assert any(
        reason.startswith("TLS: its certificate does not fit link_ca: ")
        for reason in reasons(events, "a connection to the port for links is refused")
    ), events


@pytest.mark.parametrize("plain", [0, 1])
async def test_daemon_without_certificate_is_refused(
    plain: int,
    certificates: Certificates,
    autojump_clock: trio.testing.MockClock,
) -> None:
    contexts: list[Contexts | None] = [loaded(certificates), loaded(certificates)]
    contexts[plain] = None
    with structlog.testing.capture_logs() as events:
        async with linked(*contexts) as links:
            assert await asked(links) is None
    assert any(reason.startswith("TLS: ") for each in events if (reason := str(each.get("reason")))), events


async def test_secret_is_needed_under_tls_too(
    certificates: Certificates, autojump_clock: trio.testing.MockClock
) -> None:
    with structlog.testing.capture_logs() as events:
        async with linked(loaded(certificates), loaded(certificates), secrets=(SECRET, b"x" * 32)) as links:
            assert await asked(links) is None
    assert "it does not have the cluster's secret" in reasons(events, "a connection to the port for links is refused")


async def test_renewed_certificates_are_used_after_reload(certificates: Certificates, tmp_path: Path) -> None:
    used = make_certificates(tmp_path / "used")
    one, two = loaded(used), loaded(certificates)
    for ours, new in zip(used, certificates, strict=True):
        ours.write_bytes(new.read_bytes())
    one.reload()
    async with linked(one, two) as links:
        assert await asked(links) == 1_500_000
    used.ca.write_text("nonsense")
    with pytest.raises(ConfigError, match=r"link_ca: .* holds no certificate in PEM"):
        one.reload()


def test_settings_need_each_other(certificates: Certificates) -> None:
    given = files(certificates)
    with pytest.raises(ConfigError, match=r"link_cert: '.*' goes with link_ca, which is not given"):
        link_certificate_of(Config(link_cert=given["link_cert"], link_key=given["link_key"]))
    with pytest.raises(ConfigError, match=r"link_ca: '.*' goes with link_cert, which is not given"):
        link_certificate_of(Config(link_ca=given["link_ca"]))
    with pytest.raises(ConfigError, match=r"link_ca: no.pem cannot be read: No such file or directory"):
        link_certificate_of(Config(**{**given, "link_ca": "no.pem"}))
    with pytest.raises(ConfigError, match=r"link_key: .* holds no private key in PEM"):
        link_certificate_of(Config(**{**given, "link_key": given["link_ca"]}))
    assert link_certificate_of(Config()) is None


@pytest.fixture
def daemons(database_url: str, tmp_path: Path) -> Iterator[Daemons]:
    with ExitStack() as stack:
        yield Daemons(database_url, tmp_path, stack)


async def test_games_and_pages_of_two_daemons_pass_links_under_tls(
    daemons: Daemons,
    certificates: Certificates,
) -> None:
    one, two = (daemons.start(*FLAGS, *flags(certificates)) for _ in range(2))
    await daemons.until(one, two)
    async with one.client() as first, two.client() as second, opened() as clients:
        game_id = (await first.new_game())["game_id"]
        for ply, move in enumerate(("g1f3", "g8f6")):
            reply = await (first, second)[ply].ask("move", game_id=game_id, player=1 + ply, move=move)
            assert reply["state"]["last_move"] == move
        one.process.send_signal(signal.SIGHUP)
        white, black = await clients.browser(one), await clients.browser(two)
        form = play_form(await white.get("/"), "standard")
        path = (await white.submit(form, opponent="link", variant="standard", color="white")).path
        await black.submit((await black.get(path)).form(f"{path}/join"), seat="black")
        readers = [await clients.events(daemon, f"{path}/events") for daemon in (one, two)]
        with trio.fail_after(PATIENCE):
            for reader in readers:
                await reader.state()
            for ply, move in enumerate(["e4", "e5", "Nf3"]):
                await act((white, black)[ply % 2], "move", path, move=move)
                assert await readers[0].state() == await readers[1].state()
    for daemon in (one, two):
        assert daemon.stop(signal.SIGTERM) == 0
