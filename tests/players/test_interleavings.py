"""In any interleaving, a revoked player gets no key, and only one of several rekeys with one key succeeds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement, count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.errors import GmError
from gmd.handlers.context import Authority
from gmd.handlers.in_process import InProcessClient, Refused, Sender
from gmd.http.api_clients import Admitted, ApiClient
from gmd.http.claims import Claims
from gmd.players.authenticator import Authenticated
from gmd.players.credentials import Credentials
from gmd.players.registry import Registry
from gmd.tcp.listener import SessionServer
from tests.helpers import Client, Json, MemoryDaemon, durable_daemon, memory_daemon, store_in
from tests.players.interleaving import Choice, StoppedPasswords, StoppedStore, Stops, every_order, scheduled

PASSWORD, OTHER_PASSWORD = "correct horse", "another horse"
#: The token of the player's registration.
TOKEN = "register"
#: Peers of requests over HTTP: two addresses, whose passwords do not wait for each other.
PEER, OTHER_PEER = "192.0.2.1:4711", "192.0.2.2:4711"
#: The orders of a set of operations share a daemon and these addresses, so no limit may end one of them.
UNLIMITED: dict[str, Any] = {"max_players": 10**6, "max_failures_per_minute": 10**6}


class House(NamedTuple):
    """A daemon whose players' store and passwords stop.

    :ivar operators: serves the operator's connections.
    :ivar numbers: numbers for the names of players.
    """

    daemon: MemoryDaemon
    operators: SessionServer
    nursery: trio.Nursery
    stops: Stops
    store: StoppedStore
    numbers: Iterator[int]

    def operator(self) -> Client:
        """Return a connection of the operator."""
        ours, theirs = trio.testing.memory_stream_pair()
        self.nursery.start_soon(self.operators.handle, theirs)
        return Client(ours)


def in_memory() -> AbstractAsyncContextManager[MemoryDaemon]:
    return memory_daemon(**UNLIMITED)


@asynccontextmanager
async def in_sqlite() -> AsyncIterator[MemoryDaemon]:
    with TemporaryDirectory() as directory, store_in(Path(directory)) as store:
        async with durable_daemon(store, **UNLIMITED) as daemon:
            yield daemon


#: Function that runs a new daemon.
NewDaemon = Callable[[], AbstractAsyncContextManager[MemoryDaemon]]


@asynccontextmanager
async def house(new_daemon: NewDaemon) -> AsyncIterator[House]:
    stops = Stops()
    async with new_daemon() as daemon, trio.open_nursery() as nursery:
        authenticator = daemon.authenticator
        authenticator.passwords.close()
        authenticator.passwords = StoppedPasswords(stops)
        store = authenticator.registry._store = StoppedStore(authenticator.registry._store, stops)
        made_under = daemon.arbiter.log.made_under

        async def stopped(player: int | None, token: bytes, peer: str = "") -> tuple[int, bytes] | None:
            with stops.working():
                made = await made_under(player, token, peer)
            await stops.stop()
            return made

        daemon.arbiter.log.made_under = stopped  # type: ignore[method-assign]
        yield House(
            daemon, SessionServer(daemon.services, authority=Authority.OPERATOR), nursery, stops, store, count()
        )
        nursery.cancel_scope.cancel()


class Done(NamedTuple):
    """A reply; replies are listed in the order in which they came."""

    operation: str
    reply: Json

    @property
    def ok(self) -> bool:
        return self.reply["error"] is None


@dataclass
class Scene:
    """One player and the operations on it.

    :ivar key: its first key; empty while it is not registered.
    :ivar session: a session begun with its password, which one operation uses at a time.
    :ivar done: every reply so far.
    """

    house: House
    name: str
    credentials: Credentials
    player: int = 0
    key: str = ""
    session: Client | None = None
    asking: trio.Lock = field(default_factory=trio.Lock)
    clients: list[Client] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)

    async def client(self) -> Client:
        client = await self.house.daemon.connect()
        self.clients.append(client)
        return client

    async def settle_in(self) -> None:
        """Register the player without using its key."""
        client = await self.client()
        reply = await client.ask("register", name=self.name, token=TOKEN, password=PASSWORD)
        self.player, self.key = reply["player"], reply["key"]
        self.session = await self.client()
        await self.session.ask("hello", name=self.name, password=PASSWORD)

    def shown_keys(self) -> set[str]:
        """Return every key that any reply showed."""
        shown = {done.reply["key"] for done in self.done if done.reply.get("key")}
        return shown | ({self.key} if self.key else set())

    async def close(self) -> None:
        for client in self.clients:
            await client.aclose()


#: An operation on a scene, with its own connection.
Operation = Callable[[Scene, Client], Awaitable[Json]]


def asks(kind: str, **fields: Any) -> Operation:
    """Return a request with the first key."""

    async def ask(scene: Scene, client: Client) -> Json:
        return await client.ask(kind, player=scene.player, key=scene.key, **fields)

    return ask


def registers(token: str | None, password: str | None) -> Operation:
    async def register(scene: Scene, client: Client) -> Json:
        given = {"token": token, "password": password}
        return await client.ask("register", name=scene.name, **{k: v for k, v in given.items() if v is not None})

    return register


def operates(kind: str, **fields: Any) -> Operation:
    async def operate(scene: Scene, _: Client) -> Json:
        operator = scene.house.operator()
        try:
            return await operator.ask(kind, name=scene.name, **fields)
        finally:
            await operator.aclose()

    return operate


def with_password(kind: str, **fields: Any) -> Operation:
    """Return a session begun with the password, and a request in it."""

    async def ask(scene: Scene, client: Client) -> Json:
        reply = await client.ask("hello", name=scene.name, password=PASSWORD)
        return reply if reply["error"] else await client.ask(kind, **fields)

    return ask


async def new_game(scene: Scene, client: Client) -> Json:
    """Create a game with a token, for which the log is searched first."""
    seats = {"player_white": scene.player, "player_black": 2}
    return await client.ask("new_game", player=scene.player, key=scene.key, token=scene.name, brief=True, **seats)


async def rekey_in_session(scene: Scene, _: Client) -> Json:
    assert scene.session is not None
    async with scene.asking:
        return await scene.session.ask("rekey", token="session")


async def closing_as_refusal(asked: Awaitable[Json]) -> Json:
    """Return a reply, or a refusal if the session was ended together with its player."""
    try:
        return await asked
    except (EOFError, trio.BrokenResourceError):
        return {"error": "closed", "code": "closed"}


async def by_http(scene: Scene, _: Client) -> Json:
    """Change a setting as HTTP does, with name and password in the request."""
    services = scene.house.daemon.services
    secrets = services.authenticator.registry.changed_secrets
    try:
        account = await scene.credentials.admit(scene.name, PASSWORD, PEER)
        assert account.key is not None
        sender = Sender(Authenticated(account.player, account.key), PEER, trio.current_time(), admitted=secrets)
        return await InProcessClient(services).ask(Authority.CLIENT, "settings", {"max_games": 9}, sender)
    except (GmError, Refused) as refusal:
        return {"error": str(refusal), "code": refusal.code}


async def version_by_http(scene: Scene, _: Client) -> Json:
    """Begin another version of the bot as HTTP's route does."""
    services, authenticator = scene.house.daemon.services, scene.house.daemon.authenticator
    secrets = authenticator.registry.changed_secrets
    try:
        account = await scene.credentials.admit(scene.name, PASSWORD, OTHER_PEER)
        admission = Admitted(account, secrets)
        api_client = ApiClient(
            InProcessClient(services), OTHER_PEER, trio.current_time(), admission, Claims(1), authenticator
        )
        await authenticator.registry.next_version(account.player, api_client.check)
    except GmError as refusal:
        return {"error": str(refusal), "code": refusal.code}
    return {"error": None}


#: Operations on an existing player.
OPERATIONS: dict[str, Operation] = {
    "register again": registers(TOKEN, PASSWORD),
    "register with another password": registers(TOKEN, OTHER_PASSWORD),
    "hello with key": asks("hello"),
    "settings with key": asks("settings", max_games=7),
    "settings with password": with_password("settings", max_games=8),
    "settings over HTTP": by_http,
    "version over HTTP": version_by_http,
    "new game": new_game,
    "rekey a": asks("rekey", token="a"),
    "rekey b": asks("rekey", token="b"),
    "rekey": asks("rekey"),
    "rekey in a session": rekey_in_session,
    "rekey with password": with_password("rekey"),
    "revoke": operates("revoke"),
    "operator's rekey": operates("rekey", token="operator"),
}
#: Operations that ask for another key with the first key, or in the session that began under it.
WITH_FIRST_KEY = ("rekey a", "rekey b", "rekey", "rekey in a session")
OPERATORS = ("revoke", "operator's rekey")

#: Operations on a name that is not registered.
BEGINNINGS: dict[str, Operation] = {
    "register": registers(TOKEN, PASSWORD),
    "register, the same": registers(TOKEN, PASSWORD),
    "register with another password": registers(TOKEN, OTHER_PASSWORD),
    "register without a password": registers(TOKEN, None),
    "register with another token": registers("other", PASSWORD),
    "settings with password": with_password("settings", max_games=8),
    "revoke": operates("revoke"),
}
#: Those of them with the same token, and their passwords.
PASSWORDS = {
    "register": PASSWORD,
    "register, the same": PASSWORD,
    "register with another password": OTHER_PASSWORD,
    "register without a password": None,
}


async def play(scene: Scene, operations: Sequence[tuple[str, Operation]], first: Sequence[int]) -> list[Choice]:
    """Run operations at once, in one order."""
    made: list[Choice] = []
    stops = scene.house.stops
    clients = [await scene.client() for _ in operations]

    async def happen(name: str, operation: Operation, client: Client) -> None:
        await stops.stop()
        scene.done.append(Done(name, await closing_as_refusal(operation(scene, client))))

    async with scheduled(stops, first, made) as nursery:
        for (name, operation), client in zip(operations, clients, strict=True):
            nursery.start_soon(happen, name, operation, client)
            await stops.settled()
    return made


async def accepted(scene: Scene, kind: str, **fields: Any) -> bool:
    reply = await (await scene.client()).ask(kind, **fields)
    assert reply["error"] is None or reply["code"] == "unauthorized", reply
    return bool(reply["error"] is None)


async def check_keys(scene: Scene, own_password: str | None = PASSWORD) -> None:
    """Assert that only the last key is valid, or none after a revocation, when no password is valid either."""
    changes = [done for done in scene.done if done.ok and (done.reply.get("key") or done.operation == "revoke")]
    last = changes[-1] if changes else None
    revoked = any(done.operation == "revoke" and done.ok for done in changes)
    clients = list(scene.clients)
    valid = {scene.key} if last is None else set() if last.operation == "revoke" else {last.reply["key"]}
    assert {key for key in scene.shown_keys() if await accepted(scene, "hello", name=scene.name, key=key)} == valid
    for password in (PASSWORD, OTHER_PASSWORD):
        expected = password == own_password and not revoked
        assert await accepted(scene, "hello", name=scene.name, password=password) is expected
    if revoked:
        for client in clients:
            reply = await closing_as_refusal(client.ask("settings", player=scene.player))
            assert reply.get("code") in ("closed", "unauthorized"), reply


def check_replies(scene: Scene) -> None:
    """Assert that only the operator is accepted after a revocation, no used key is shown, and no limit is reached."""
    revoked = used = False
    for name, reply in scene.done:
        assert reply.get("code") != "too_many"
        if revoked and name not in OPERATORS:
            assert not reply.get("key")
            assert reply["error"] is not None or (name == "register again" and reply["key"] is None)
        if name == "register with another password":
            assert reply.get("code") == "bad_request"
        if name == "register again" and reply["error"] is None:
            assert reply["key"] in ((None,) if used else (None, scene.key))
        revoked |= name == "revoke"
        used |= (
            name in ("hello with key", "settings with key", "new game", *WITH_FIRST_KEY[:3]) and reply["error"] is None
        )
    registry = scene.house.daemon.authenticator.registry
    account = registry.named(scene.name)
    if account is not None and (used or revoked):
        assert registry.key_of_registration(account, TOKEN) is None


def check_rekeys(scene: Scene, names: Sequence[str]) -> None:
    """Assert that of several rekeys with one key at most one succeeds, and exactly one if nothing else changes the
    key.
    """
    keys = {done.reply["key"] for done in scene.done if done.operation in WITH_FIRST_KEY and done.ok}
    assert len(keys) <= 1
    others = {*OPERATORS, "rekey with password"}
    if any(name in WITH_FIRST_KEY for name in names) and not others & set(names):
        assert len(keys) == 1


async def check_beginning(scene: Scene) -> None:
    """Assert that of several registrations of a name one created the player; the others were refused or are the
    same.
    """
    registered = [done for done in scene.done if done.ok and done.operation.startswith("register")]
    tokens = {TOKEN if done.operation in PASSWORDS else "other" for done in registered}
    passwords = {PASSWORDS.get(done.operation, PASSWORD) for done in registered}
    assert len(tokens) == len(passwords) == 1
    (scene.player,) = {done.reply["player"] for done in registered}
    assert len({done.reply["key"] for done in registered} - {None}) == 1
    await check_keys(scene, *passwords)


async def check_store(scene: Scene) -> None:
    """Assert that the store agrees with the daemon."""
    await scene.house.stops.settled()  # the check of the keys has used a key
    registry = scene.house.daemon.authenticator.registry
    again = Registry(scene.house.store, 10**6)
    await again.start()
    assert again.named(scene.name) == registry.named(scene.name)


async def faults_in(scene: Scene, names: Sequence[str]) -> str | None:
    """Return what is wrong, or None."""
    try:
        if scene.key:
            check_replies(scene)
            check_rekeys(scene, names)
            await check_keys(scene)
        else:
            await check_beginning(scene)
        await check_store(scene)
    except AssertionError as error:
        return f"{error} after {[(name, reply.get('key') or reply['error']) for name, reply in scene.done]}"
    return None


@dataclass
class Tried:
    """The number of orders tried, and the first fault of each set of operations."""

    orders: int = 0
    faults: dict[tuple[str, ...], str] = field(default_factory=dict)


def new_scene(there: House) -> Scene:
    """Return a scene with a name that is unused in this house."""
    return Scene(there, f"bot-{next(there.numbers)}", Credentials(there.daemon.authenticator))


async def try_every_order(
    new_daemon: NewDaemon, names: Sequence[str], tried: Tried, *, beginning: bool = False
) -> None:
    """Run some operations on a player in every order, each time on another player of one daemon."""
    operations = BEGINNINGS if beginning else OPERATIONS
    scene: Scene

    async def run(first: Sequence[int]) -> list[Choice]:
        nonlocal scene
        scene = new_scene(there)
        if not beginning:
            await scene.settle_in()
        return await play(scene, [(name, operations[name]) for name in names], first)

    async with house(new_daemon) as there:
        async for choices in every_order(run):
            tried.orders += 1
            fault = await faults_in(scene, names)
            if fault is not None:
                tried.faults.setdefault(tuple(names), f"{[choice.taken for choice in choices]}: {fault}")
            await scene.close()


#: Tests that share the sets of operations, so that several processes try them at the same time.
SHARES = 8


@pytest.mark.slow
@pytest.mark.parametrize(("size", "step", "orders"), [(2, 3, 22), pytest.param(3, 1, 2_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("share", range(SHARES))
async def test_concurrent_operations_leave_the_account_as_sequential_ones_would(
    share: int, size: int, step: int, orders: int
) -> None:
    """Each set of so many operations, or each third one, is tried in every order: at least so many in each share."""
    tried = Tried()
    accounts = [name for name in OPERATIONS if name != "new game"]  # another thread writes that
    sets = combinations_with_replacement(accounts, size)
    for names in islice(sets, step * share, None, step * SHARES):
        await try_every_order(in_sqlite, names, tried)
    assert tried.faults == {}
    assert tried.orders > orders


@pytest.mark.slow
async def test_lost_key_cannot_create_a_game() -> None:
    tried = Tried()
    for other in OPERATIONS:
        await try_every_order(in_memory, ("new game", other), tried)
    assert tried.faults == {}
    assert tried.orders > 2 * len(OPERATIONS)


@pytest.mark.slow
@pytest.mark.parametrize(("others", "orders"), [(1, 56), pytest.param(2, 1_300, marks=pytest.mark.nightly)])
async def test_one_of_several_concurrent_registrations_of_a_name_creates_the_player(others: int, orders: int) -> None:
    tried = Tried()
    for names in combinations(list(BEGINNINGS)[1:], others):
        await try_every_order(in_sqlite, ("register", *names), tried, beginning=True)
    assert tried.faults == {}
    assert tried.orders > orders


async def play_one_order(names: Sequence[str], first: Sequence[int]) -> str | None:
    """Return what goes wrong when some operations run in an order."""
    async with house(in_memory) as there:
        scene = new_scene(there)
        await scene.settle_in()
        await play(scene, [(name, OPERATIONS[name]) for name in names], first)
        fault = await faults_in(scene, names)
        await scene.close()
    return fault


@given(
    st.lists(st.sampled_from(list(OPERATIONS)), min_size=3, max_size=6),
    st.lists(st.integers(0, 5), max_size=30),
)
def test_many_concurrent_operations_leave_the_account_as_sequential_ones_would(
    names: list[str], first: list[int]
) -> None:
    assert trio.run(play_one_order, names, first) is None
