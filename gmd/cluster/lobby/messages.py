"""What daemons tell the lobby's owner, and what it asks them."""

from __future__ import annotations

from gmd.cluster.link_messages import LinkMessage
from gmd.event_log.interface import RankedResult
from gmd.games.events import Created
from gmd.games.game_note import GameNote, TurnNote
from gmd.players.account import Account

# --- From the owners of games to the lobby's owner --------------------------------------------------------------------


class SeatsChanged(LinkMessage, frozen=True, gc=False):
    """A note: a game was created, joined or ended."""

    game: GameNote


class Turned(LinkMessage, frozen=True, gc=False):
    """A note: the turn has changed in a game of a watched player."""

    game: TurnNote


class CalledOff(LinkMessage, frozen=True, gc=False):
    """A note: a player has called a game off."""

    game: GameNote
    player: int


class Ready(LinkMessage, frozen=True, gc=False):
    """A note: a player was shown its game, and needs no invitation any more."""

    game: GameNote
    player: int


# --- From the lobby's owner to the owners of games --------------------------------------------------------------------


class LookAtGame(LinkMessage, frozen=True, gc=False):
    """An ask for a game as it is; the answer is :class:`GameIs`."""

    game_id: int
    peer: str


class GameIs(LinkMessage, frozen=True, gc=False):
    """A game as it is."""

    game: GameNote


class CallGameOff(LinkMessage, frozen=True, gc=False):
    """An ask to call a game off, if it has not begun: as a player, or as if its time were up (None)."""

    game_id: int
    player: int | None


class GiveIds(LinkMessage, frozen=True, gc=False):
    """An ask for ids of games that this daemon is going to be asked to make; the answer is :class:`Ids`."""

    number: int


class Ids(LinkMessage, frozen=True, gc=False):
    """Ids that no game has, and the number of live games of the daemon."""

    ids: list[int]
    live_games: int


class MakeGame(LinkMessage, frozen=True, gc=False):
    """An ask to make a game; the answer is :class:`GameIs`. It may be repeated: the token makes one game.

    :ivar game_id: one of the :class:`Ids`.
    :ivar token, content: as in :class:`~gmd.event_log.interface.TokenUse`; so is ``token_player``.
    """

    game_id: int
    created: Created
    token_player: int | None
    token: bytes
    content: bytes


class FinishInvitation(LinkMessage, frozen=True, gc=False):
    """An ask to note that a player has finished with an invitation.

    :ivar waited: seconds since its request arrived.
    """

    game_id: int
    player: int
    waited: float
    peer: str


class Lapse(LinkMessage, frozen=True, gc=False):
    """A note: a game is to be called off after some seconds if it has not begun, unless its owner knows when."""

    game_id: int
    seconds: float


class Removed(LinkMessage, frozen=True, gc=False):
    """A note: a game was removed from the log."""

    game_id: int
    players: tuple[int | None, int | None]
    ranked: RankedResult | None


# --- Between the lobby's owner and every daemon -----------------------------------------------------------------------


class ReportToMe(LinkMessage, frozen=True, gc=False):
    """An ask of a new owner of the lobby: to report to it from now on, and to read the accounts. It watches nobody."""


class Attach(LinkMessage, frozen=True, gc=False):
    """An ask of a new daemon, which reports to the lobby's owner from now on.

    The answer is :class:`Watched`, or :class:`Unreachable`: then the daemon may not serve.
    """


class AreYouThere(LinkMessage, frozen=True, gc=False):
    """An ask of the lobby's owner over its link to a daemon that joins."""


class Unreachable(LinkMessage, frozen=True, gc=False):
    """The lobby's owner cannot reach the daemon that joins.

    :ivar address: where it tried, as host:port.
    """

    address: str


class Watched(LinkMessage, frozen=True, gc=False):
    """The players who wait for any game, and the bots that the lobby's owner runs: their ids and names."""

    players: list[int]
    bots: tuple[tuple[int, str], ...] = ()


class BotsAre(LinkMessage, frozen=True, gc=False):
    """An ask to note which bots the lobby's owner runs: their ids and names."""

    bots: list[tuple[int, str]]


class Watch(LinkMessage, frozen=True, gc=False):
    """An ask to tell of all turns of a player."""

    player: int


class Unwatch(LinkMessage, frozen=True, gc=False):
    """A request to stop reporting the turns of some players."""

    players: list[int]


class AccountIs(LinkMessage, frozen=True, gc=False):
    """An ask to take a player in: it was registered or has changed.

    :ivar stamp: grows with each message of a daemon: of two of them about a player, the later one counts.
    """

    account: Account
    stamp: int


class KeyUsed(LinkMessage, frozen=True, gc=False):
    """A note: a player has used its key."""

    player: int
    key: bytes


class Session(LinkMessage, frozen=True, gc=False):
    """A note: somebody's first session at this daemon has begun, or the last one has ended."""

    player: int
    key: bytes
    open: bool


class Seen(LinkMessage, frozen=True, gc=False):
    """A note: somebody has sent a request without a session."""

    player: int
    key: bytes


class Sessions(LinkMessage, frozen=True, gc=False):
    """A note: those who have sessions at this daemon, and nobody else has."""

    sessions: list[tuple[int, bytes]]


class Failed(LinkMessage, frozen=True, gc=False):
    """A note: an address has sent wrong keys or passwords; fewer than none where a right one had been counted."""

    address: str
    attempts: float


class TakeGame(LinkMessage, frozen=True, gc=False):
    """An ask for a place for a game of an address. If it is repeated, the place is the same.

    :ivar place: the asking daemon's number for the place.
    """

    peer: str
    place: int


class PlaceFilled(LinkMessage, frozen=True, gc=False):
    """A note: the game of a place was created."""

    place: int
    game_id: int


class PlaceFree(LinkMessage, frozen=True, gc=False):
    """A note: a place is not needed: its game is over already, or was not created.

    It may be that the place was not taken, if the answer to :class:`TakeGame` was lost.
    """

    place: int
    failed: bool


class SeekWaits(LinkMessage, frozen=True, gc=False):
    """A note of the lobby's owner: a player who has a session there seeks; and that daemon's note to a new owner.

    :ivar color: that it wants; None for either.
    :ivar terms: the options of the game, as ``new_game`` in JSON.
    """

    player: int
    color: bool | None
    terms: bytes


class SeekLeft(LinkMessage, frozen=True, gc=False):
    """A note: the session of a player that has sought an opponent there has ended."""

    player: int


class SeekOver(LinkMessage, frozen=True, gc=False):
    """A note of the lobby's owner: a player seeks no more."""

    player: int
