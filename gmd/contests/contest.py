"""A contest with its latest report."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct

from gm_protocol.contests import ContestForm, ContestReport, ContestStatus
from gm_protocol.options import Variant
from gmd.players.account import is_registered


class Owner(Struct, frozen=True):
    """Who reports a contest: a registered player, the operator, or a client without a registered player.

    :ivar player: the registered player.
    """

    player: int | None = None
    operator: bool = False

    @classmethod
    def of(cls, player: int | None, *, is_operator: bool) -> Owner:
        """Return the owner of the contests that a request begins."""
        if player is not None and is_registered(player):
            return cls(player)
        return cls(operator=is_operator)

    def digest(self, token: str) -> bytes:
        """Return what identifies a contest of this owner: a digest of 32 bytes, which does not reveal the token."""
        return hashlib.sha256(f"{self.player or 0} {self.operator:d} {token}".encode()).digest()


class Head(Struct, frozen=True):
    """What lists show of a report."""

    title: str
    form: ContestForm
    variant: Variant
    status: ContestStatus
    planned: int | None
    games: int


class Contest(Struct, frozen=True):
    """A contest.

    :ivar token: identifies it in its owner's requests: :meth:`Owner.digest`.
    :ivar began: when the first report came, in seconds since 1970; ``changed``: the latest one.
    :ivar encoded: the latest report as JSON.
    :ivar head: what lists show of it.
    """

    contest_id: int
    owner: Owner
    token: bytes
    began: float
    changed: float
    encoded: bytes
    head: Head

    @property
    def report(self) -> ContestReport:
        """The latest report."""
        return _decoder.decode(self.encoded)


_decoder = msgspec.json.Decoder(ContestReport)


def head_of(report: ContestReport) -> Head:
    """Return what lists show of a report."""
    return Head(report.title, report.form, report.variant, report.status, report.planned, report.games)


def contest_of(contest_id: int, owner: Owner, token: bytes, began: float, changed: float, encoded: bytes) -> Contest:
    """Return a contest that was stored.

    :raises msgspec.MsgspecError: the report is none.
    """
    return Contest(contest_id, owner, token, began, changed, encoded, head_of(_decoder.decode(encoded)))
