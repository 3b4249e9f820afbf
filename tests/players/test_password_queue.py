"""A client with the right password is accepted despite many simultaneous wrong passwords: over TCP, over HTTP, and in
the authenticator.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from threading import Event
from typing import NamedTuple

import httpx
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from gm_protocol.errors import TooMany, Unauthorized
from gmd.daemon import Daemon
from gmd.players.authenticator import Authenticator
from gmd.players.credentials import Credentials
from gmd.players.fair_queue import OURSELVES, QueuedClient
from gmd.players.guesses import MAX_KNOWN, Guesses
from gmd.players.passwords import AT_A_TIME, Passwords
from gmd.players.rate_limiter import RateLimiter
from gmd.players.registry import Registry
from gmd.players.store import MemoryPlayers
from tests.helpers import Client, running_daemon
from tests.http.helpers import http_daemon

PASSWORD = "correct horse"
#: Number of addresses with wrong passwords, of simultaneous attempts from each, and of players with right ones.
ATTACKERS, AT_ONCE, HONEST = 100, 3, 26
#: Timeout in seconds of the whole test on a busy machine.
PATIENCE_SECONDS = 120


class Patient(Passwords):
    """Passwords with a cheap hash, which are hashed and compared only when permitted."""

    def __init__(self, max_waiting: int = 1_024, max_waiting_of_one: int = 64) -> None:
        super().__init__(1, 64, max_waiting, max_waiting_of_one)
        self.may_compare = Event()

    def _matches(self, stored: str, password: str) -> bool:
        self.may_compare.wait()
        return super()._matches(stored, password)

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def close(self) -> None:
        self.may_compare.set()
        super().close()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition that is certain to come true."""
    while not condition():
        await trio.lowlevel.checkpoint()


async def honest_players(daemon: Daemon) -> Patient:
    """Give a daemon patient passwords, and players who are not known at any address."""
    daemon.authenticator.passwords.close()
    patient = daemon.authenticator.passwords = Patient()
    for number in range(HONEST):
        await daemon.authenticator.registry.register(f"bot-{number}", await patient.hash(PASSWORD), None)
    return patient


#: Function that sends one login with address, name and password, and returns "let in" or the code of the refusal.
Login = Callable[[str, str, str], Awaitable[str]]


async def crowd(patient: Patient, login: Login) -> None:
    """Send wrong and right passwords while none is compared; then permit the comparisons."""
    try:
        await _crowd(patient, login)
    finally:
        patient.may_compare.set()


async def _crowd(patient: Patient, login: Login) -> None:
    answers: dict[tuple[str, int], str] = {}

    async def note(address: str, number: int, name: str, password: str) -> None:
        answers[address, number] = await login(address, name, password)

    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            for number in range(ATTACKERS * AT_ONCE):
                address = f"127.0.1.{1 + number % ATTACKERS}"
                nursery.start_soon(note, address, number, "bot-0", f"wrong password {number}")
            await until(lambda: patient.waiting == ATTACKERS * AT_ONCE - AT_A_TIME)
            for number in range(HONEST):
                nursery.start_soon(note, f"127.0.2.{1 + number}", number, f"bot-{number}", PASSWORD)
            await until(lambda: patient.waiting == ATTACKERS * AT_ONCE + HONEST - AT_A_TIME)
            patient.may_compare.set()
    honest = [answer for (address, _), answer in answers.items() if address.startswith("127.0.2.")]
    assert honest == ["let in"] * HONEST
    assert len(answers) == HONEST + ATTACKERS * AT_ONCE
    assert list(answers.values()).count("let in") == HONEST


@pytest.mark.usefixtures("separate_loopback")
async def test_right_password_is_accepted_despite_a_hundred_addresses_with_wrong_ones_over_tcp() -> None:
    async with running_daemon() as daemon:
        patient = await honest_players(daemon)

        async def login(address: str, name: str, password: str) -> str:
            client = Client(await trio.open_tcp_stream("127.0.0.1", daemon.port, local_address=address))
            reply = await client.ask("hello", name=name, password=password)
            await client.aclose()
            return "let in" if reply["error"] is None else str(reply["code"])

        await crowd(patient, login)


@pytest.mark.slow
@pytest.mark.usefixtures("separate_loopback")
async def test_right_password_is_accepted_despite_a_hundred_addresses_with_wrong_ones_over_http() -> None:
    async with http_daemon(trusted_proxies="127.0.0.1") as (daemon, client):
        patient = await honest_players(daemon)
        transport = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_connections=None))
        async with httpx.AsyncClient(base_url=client.base_url, transport=transport, timeout=PATIENCE_SECONDS) as many:

            async def login(address: str, name: str, password: str) -> str:
                pair = b64encode(f"{name}:{password}".encode()).decode()
                headers = {"authorization": f"Basic {pair}", "x-forwarded-for": address, "connection": "close"}
                response = await many.post("/api/users/me", headers=headers)
                return "let in" if response.status_code == 200 else str(response.json()["code"])

            await crowd(patient, login)


class House(NamedTuple):
    authenticator: Authenticator
    patient: Patient
    credentials: Credentials
    nursery: trio.Nursery


FULL = "max_waiting_passwords: 1 wait to be compared; try again later"
#: The address of the refused attempts, and other addresses.
MINE, OTHERS = "192.0.2.1:4711", [f"198.51.100.{number}:1" for number in range(AT_A_TIME + 1)]


@asynccontextmanager
async def full_house() -> AsyncIterator[House]:
    """Yield an authenticator with a full queue and a player; one attempt may fail from each address."""
    patient = Patient(max_waiting=1)
    authenticator = Authenticator(Registry(MemoryPlayers(), 10), 1, 10, patient)

    async def fill(peer: str) -> None:
        with pytest.raises(Unauthorized):
            await authenticator.admit_with_password("nobody", "wrong", peer)

    try:
        await authenticator.registry.register("bot", await patient.hash(PASSWORD), "token")
        async with trio.open_nursery() as nursery:
            for peer in OTHERS:
                nursery.start_soon(fill, peer)
            await wait_all_tasks_blocked()
            try:
                yield House(authenticator, patient, Credentials(authenticator), nursery)
            finally:
                patient.may_compare.set()
    finally:
        authenticator.close()


async def by_authenticator(house: House, password: str) -> object:
    return await house.authenticator.admit_with_password("bot", password, MINE)


async def by_credentials(house: House, password: str) -> object:
    return await house.credentials.admit("bot", password, MINE)


async def by_registering_again(house: House, password: str) -> object:
    account = house.authenticator.registry.named("bot")
    assert account is not None
    if not await house.authenticator.verify_again(account, password, MINE):
        raise Unauthorized("the same as the others say")
    return account


@pytest.mark.parametrize("way", [by_authenticator, by_credentials, by_registering_again])
async def test_password_that_was_not_compared_uses_up_no_attempt(
    way: Callable[[House, str], Awaitable[object]],
) -> None:
    async with full_house() as house:
        for _ in range(3):
            with pytest.raises(TooMany) as refusal:
                await way(house, "wrong")
            assert str(refusal.value) == FULL
        house.patient.may_compare.set()
        await until(lambda: house.patient.waiting == 0)
        with pytest.raises(Unauthorized):
            await way(house, "wrong")
        with pytest.raises(TooMany) as refusal:
            await way(house, "wrong")
        assert str(refusal.value).startswith("max_failures_per_minute: 1 from this address are used up")


async def test_accepted_connection_stays_accepted_although_the_queue_is_full() -> None:
    async with full_house() as house:
        credentials = Credentials(house.authenticator, seconds=0)  # nothing is cached
        house.patient.may_compare.set()
        await until(lambda: house.patient.waiting == 0)
        await credentials.admit("bot", PASSWORD, MINE)
        with pytest.raises(Unauthorized):
            await house.authenticator.admit_with_password("somebody", "wrong", MINE)
        house.patient.may_compare.clear()
        async with trio.open_nursery() as nursery:
            for number in range(len(OTHERS)):
                nursery.start_soon(refused, house.authenticator, "other", f"203.0.113.{number}:1")
            await until(lambda: house.patient.waiting == 1)
            house.authenticator.guesses.forget("bot")  # a known client would get a place
            with pytest.raises(TooMany) as refusal:
                await credentials.admit("bot", PASSWORD, MINE)
            assert str(refusal.value) == FULL
            house.patient.may_compare.set()
        # Its address has used up its attempts, but the connection itself sent no wrong password.
        assert (await credentials.admit("bot", PASSWORD, MINE)).name == "bot"


async def refused(authenticator: Authenticator, name: str, peer: str, password: str = "wrong") -> None:
    with pytest.raises((Unauthorized, TooMany)):
        await authenticator.admit_with_password(name, password, peer)


async def test_player_is_known_at_an_address_after_its_key_or_password_was_accepted() -> None:
    patient = Patient()
    patient.may_compare.set()
    authenticator = Authenticator(Registry(MemoryPlayers(), 10), 10, 10, patient)
    account, key = await authenticator.registry.register("Bot", await patient.hash(PASSWORD), None)
    assert key is not None
    ways: list[Callable[[str], object]] = [
        lambda peer: authenticator.admit(account.player, key, None, peer),
        lambda peer: authenticator.admit_named("bot", key, peer),
        lambda peer: authenticator.is_key("bot", key, peer),
    ]
    for number, way in enumerate(ways):
        peer = f"192.0.2.{number}:1"
        assert authenticator.guesses.client("bot", peer) == QueuedClient(f"192.0.2.{number}", known=False)
        way(peer)
        assert authenticator.guesses.client("BOT", f"192.0.2.{number}:99") == QueuedClient(
            f"192.0.2.{number}", known=True
        )
    await authenticator.admit_with_password("bot", PASSWORD, MINE)
    assert authenticator.guesses.client("bot", MINE).known
    assert not authenticator.guesses.client("other", MINE).known
    assert authenticator.guesses.client("bot", "") == OURSELVES
    await authenticator.registry.revoke(account.player)
    assert not any(authenticator.guesses.client("bot", peer).known for peer in (MINE, "192.0.2.0:1"))
    authenticator.close()


async def test_many_players_of_one_address_do_not_make_others_unknown() -> None:
    guesses = Guesses(RateLimiter("max_failures_per_minute", 1, 60))
    guesses.know("bot", MINE)
    for number in range(MAX_KNOWN + 10):
        guesses.know(f"sockpuppet-{number}", "198.51.100.1:1")
    assert guesses.client("bot", MINE).known
    puppets = [guesses.client(f"sockpuppet-{number}", "198.51.100.1:1").known for number in range(MAX_KNOWN + 10)]
    assert puppets == [False] * 11 + [True] * (MAX_KNOWN - 1)


@pytest.mark.parametrize("has_new_key", [False, True])
async def test_player_revoked_during_the_password_comparison_is_refused(has_new_key: bool) -> None:
    patient = Patient()
    with closing(Authenticator(Registry(MemoryPlayers(), 10), 1_000, 1_000, patient)) as authenticator:
        account, _ = await authenticator.registry.register("bot", await patient.hash(PASSWORD), None)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(refused, authenticator, "bot", "", PASSWORD)
            await wait_all_tasks_blocked()
            await authenticator.registry.revoke(account.player)
            if has_new_key:
                await authenticator.registry.rekey(account.player, None)
            patient.may_compare.set()
