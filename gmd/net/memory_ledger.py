"""The bytes that connections make the daemon hold, counted for each connection, for each address, and in total.

The ledger counts what a client can make large and keep for long: incomplete requests, replies that it does not read,
the games that it waits for, results that it does not acknowledge, and TLS. Beyond a limit, the connection that holds
most is cut off: of the address that exceeds its limit or, for the total limit, of the address that holds most. A client
that holds little is never cut off while others hold more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush

from msgspec import Struct

from gm_protocol.errors import TooMany
from gmd.config import Config
from gmd.logger import get_logger
from gmd.net.addresses import source_of

logger = get_logger(__name__)

#: Requests, or replies, of fewer bytes are not counted: usual ones are gone within a moment. Ten thousand connections
#: that hold less than this of both kinds take at most 80 MB.
UNCOUNTED = 4_096
#: Part of the limit that is freed at once: with many connections, finding the largest takes milliseconds.
ROOM = 1 / 16
#: Seconds until a client that was cut off should try again.
RETRY_AFTER = 5.0


class MemoryLimits(Struct, frozen=True):
    """How many bytes connections may hold.

    :ivar total: the limit for all connections together.
    :ivar per_address: the limit for the connections from one address.
    """

    total: int
    per_address: int


def memory_limits_of(config: Config, *, local: bool) -> MemoryLimits:
    """Return the limits: connections may hold half of ``max_memory``; the other half is for games.

    :param local: whether only this machine's users can reach the daemon: all of them have one address.
    """
    total = config.max_memory // 2
    share = config.max_memory_per_address or (total if local else total // 8)
    return MemoryLimits(total, share)


#: Called when a connection is cut off: it must free all that it holds at once, and end.
CutOff = Callable[[TooMany], None]


class _SourceAccounts:
    """The connections from one address that hold memory, in the order in which they began to."""

    __slots__ = ("accounts", "address", "held")

    def __init__(self, address: str) -> None:
        self.address = address
        self.held = 0
        self.accounts: dict[MemoryAccount, None] = {}


class MemoryAccount:
    """The memory that one connection holds.

    :ivar requests: bytes of requests that have not been answered.
    :ivar replies: bytes of replies that have not been sent.
    :ivar others: bytes of all else, such as TLS.
    """

    __slots__ = ("_cut_off", "_ledger", "_peer", "_source", "is_closed", "others", "replies", "requests")

    def __init__(self, ledger: MemoryLedger, peer: str, cut_off: CutOff) -> None:
        self._ledger = ledger
        self._peer = peer
        self._cut_off = cut_off
        self._source: _SourceAccounts | None = None
        self.requests = 0
        self.replies = 0
        self.others = 0
        self.is_closed = False

    @property
    def held(self) -> int:
        """The bytes that it holds."""
        return self.requests + self.replies + self.others

    def hold_requests(self, size: int) -> None:
        """Set how many bytes of requests it holds. The connection may be cut off before this returns."""
        if size < UNCOUNTED:
            size = 0
        if size != self.requests and not self.is_closed:
            change, self.requests = size - self.requests, size
            self._ledger._note(self, change)

    def hold_replies(self, size: int) -> None:
        """Set how many bytes of replies it holds. The connection may be cut off before this returns."""
        if size < UNCOUNTED:
            size = 0
        if size != self.replies and not self.is_closed:
            change, self.replies = size - self.replies, size
            self._ledger._note(self, change)

    def hold_others(self, change: int) -> None:
        """Hold so many bytes more of anything else. The connection may be cut off before this returns."""
        if change and not self.is_closed:
            self.others += change
            self._ledger._note(self, change)

    def close(self) -> None:
        """Set all to 0 and ignore later changes; a second call has no effect."""
        self.hold_requests(0)
        self.hold_replies(0)
        self.hold_others(-self.others)
        self.is_closed = True


class MemoryLedger:
    """The accounts of all connections, on all ports.

    :ivar held: the bytes that all of them hold.
    :ivar cut_off: how many connections were cut off so far.
    """

    def __init__(self, limits: MemoryLimits) -> None:
        self._limits = limits
        self._sources: dict[object, _SourceAccounts] = {}
        self.held = 0
        self.cut_off = 0

    def open(self, peer: str, cut_off: CutOff) -> MemoryAccount:
        """Open an account for a connection, which must close it.

        :param peer: the client, as host:port. Each connection with an empty one counts as a separate address, and the
            limit by address does not apply to it.
        """
        return MemoryAccount(self, peer, cut_off)

    def by_address(self) -> dict[str, int]:
        """Return the bytes that each address holds; the connections without an address are summed under ``""``."""
        held: dict[str, int] = {}
        for source in self._sources.values():
            held[source.address] = held.get(source.address, 0) + source.held
        return held

    def _note(self, account: MemoryAccount, change: int) -> None:
        """Update the sums, and cut connections off beyond the limits, when an account holds more bytes, or fewer."""
        source = account._source or self._enter(account)
        self.held += change
        source.held += change
        if not account.held:
            self._leave(account, source)
        elif change > 0:
            if source.address and source.held > self._limits.per_address:
                self._relieve_address(source)
            if self.held > self._limits.total:
                self._relieve_all()

    def _enter(self, account: MemoryAccount) -> _SourceAccounts:
        address = source_of(account._peer)
        key = address or account
        source = account._source = self._sources.get(key) or self._sources.setdefault(key, _SourceAccounts(address))
        source.accounts[account] = None
        return source

    def _leave(self, account: MemoryAccount, source: _SourceAccounts) -> None:
        account._source = None
        del source.accounts[account]
        if not source.accounts:
            del self._sources[source.address or account]

    def _relieve_address(self, source: _SourceAccounts) -> None:
        limit = self._limits.per_address
        reason = f"max_memory_per_address: this address makes the server hold more than {limit} bytes"
        self._cut(_largest_first(source), source.held - _with_room(limit), reason)

    def _relieve_all(self) -> None:
        limit = self._limits.total
        reason = f"max_memory: clients make the server hold more than {limit} bytes, and this one holds the most"
        self._cut(_largest_sources_first(list(self._sources.values())), self.held - _with_room(limit), reason)

    def _cut(self, accounts: Iterator[MemoryAccount], excess: int, reason: str) -> None:
        """Cut accounts off until the freed bytes reach the excess."""
        error = TooMany(f"{reason}; read the replies, complete the requests, and connect again later", RETRY_AFTER)
        connections = size = 0
        while size < excess and (account := next(accounts, None)) is not None:
            connections, size = connections + 1, size + account.held
            account.close()
            account._cut_off(error)
        self.cut_off += connections
        logger.warning(
            "connections that held most memory are cut off", reason=reason, connections=connections, bytes=size
        )


def _with_room(limit: int) -> int:
    return limit - int(limit * ROOM)


def _largest_first(source: _SourceAccounts) -> Iterator[MemoryAccount]:
    """Yield the accounts of an address, largest first; of equal ones, the one that has held memory for longer first."""
    return iter(sorted(source.accounts, key=lambda account: account.held, reverse=True))


def _largest_sources_first(sources: list[_SourceAccounts]) -> Iterator[MemoryAccount]:
    """Yield the largest account of the address that holds most, again and again, less what was yielded before."""
    heap = [(-source.held, number) for number, source in enumerate(sources)]
    heapify(heap)
    accounts = {}
    while heap:
        held, number = heappop(heap)
        if number not in accounts:
            accounts[number] = _largest_first(sources[number])
        if (account := next(accounts[number], None)) is not None:
            held += account.held
            yield account
            heappush(heap, (held, number))
