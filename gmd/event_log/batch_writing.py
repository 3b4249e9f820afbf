"""The writing of a batch to a store: games that cannot be written do not keep the others from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gm_protocol.errors import GmError

from .interface import LogFailed, LogUnreachable, OutcomeInDoubt, SequenceConflict
from .store import Conflicts, GameAppend, OutcomeUnknown, ResultDelivered, Store, Unreachable


class Batch(NamedTuple):
    """The data of one transaction."""

    appends: Sequence[GameAppend]
    delivered: Sequence[ResultDelivered]


class Result(NamedTuple):
    """The result of a batch: the games that were not written, each with its error, and the database's error if any."""

    failed: Mapping[int, GmError]
    error: Exception | None


def write_batch(store: Store, batch: Batch) -> Result:
    """Write a batch, except games that have conflicts. Called in the writer's thread."""
    refused: dict[int, GmError] = {}
    appends, delivered = batch
    while True:
        try:
            store.write(appends, delivered)
        except Conflicts as conflicts:
            refused |= {append.game_id: error for append in appends if (error := _conflict(append, conflicts))}
        except Exception as error:
            return Result(refused | {append.game_id: _failure(error, append.game_id) for append in appends}, error)
        else:
            return Result(refused, None)
        appends = [append for append in appends if append.game_id not in refused]


def failed(what: str, game_id: int | None, why: Exception) -> LogFailed:
    """Return the error of a game, or of everything, that cannot be written or read."""
    game = "" if game_id is None else f"game {game_id}: "
    if isinstance(why, Unreachable):
        return LogUnreachable(f"{game}the database cannot be reached now; nothing was done: send the request again")
    return LogFailed(f"{game}the event log cannot be {what}; nothing was done")


def lost_by_failure(game_id: int) -> OutcomeInDoubt:
    """Return the error of an append that was under way when the event log failed."""
    return OutcomeInDoubt(
        f"game {game_id}: the server failed, and it is not known whether the request was carried out: look at the "
        "game, or send the request again with the same ply or token"
    )


def _conflict(append: GameAppend, conflicts: Conflicts) -> GmError | None:
    actual = conflicts.actual.get(append.game_id)
    return None if actual is None else SequenceConflict(append.game_id, append.expected, actual)


def _failure(error: Exception, game_id: int) -> LogFailed:
    if not isinstance(error, OutcomeUnknown):
        return failed("written", game_id, error)
    return OutcomeInDoubt(
        f"game {game_id}: the connection to the database was lost, and it is not known whether the request was "
        "carried out: look at the game, or send the request again with the same ply or token"
    )
