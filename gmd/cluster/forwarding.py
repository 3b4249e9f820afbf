"""The messages that carry a client's request to the daemon that answers it, and its reply back."""

from __future__ import annotations

from .link_messages import LinkMessage

#: What is done with a forwarded request: it is answered;
ANSWER = 0
#: a ``wait`` for any game is answered with one game, which is due;
SHOW = 1
#: a ``wait`` for several games is checked, with no effect on any.
CHECK = 2
#: a request that makes a game is answered with one that it has made.
MADE = 3

#: What is true of a request's session, as bits: it is the operator's;
OPERATOR = 1
#: requests of nobody see everything;
OVERSEES = 2
#: it is of version 2;
STRICT = 4
#: the request marks its player as present;
SHOWS_PRESENCE = 8
#: its last ``wait`` for any game has returned a game, not an invitation;
LAST_WAS_GAME = 16
#: it is the player's, whose presence is known where the client is connected.
VISITS = 32


class Forward(LinkMessage, frozen=True, gc=False):
    """A request, with what the daemon that its client is connected to knows of the client.

    :ivar request: the request in JSON.
    :ivar waited: seconds since it arrived.
    :ivar player: of the session; None for none.
    :ivar key: the digest of the key that the session has proved to be that player with; None if it has not.
    :ivar peer: the client's address, as host:port.
    :ivar session: a number for the session if the request may follow others that are not answered yet; else 0.
    :ivar number: its number in the session; ``oldest`` is that of the oldest which is not answered yet.
    :ivar game_id: the game whose owner is asked, if that does not follow from the request.
    :ivar without: games whose results are shown and not acknowledged, for ``wait``.
    """

    request: bytes
    waited: float
    player: int | None
    key: bytes | None
    rights: int
    peer: str
    session: int = 0
    number: int = 0
    oldest: int = 0
    mode: int = ANSWER
    game_id: int | None = None
    without: tuple[int, ...] = ()


class Shown(LinkMessage, frozen=True, gc=False):
    """The result of a game that a reply shows to a player, with its seats (1: white, 0: black)."""

    player: int
    game_id: int
    seats: tuple[int, ...]


class Forwarded(LinkMessage, frozen=True, gc=False):
    """The reply to a forwarded request.

    :ivar body: its bytes.
    :ivar code: of the error, if it is one.
    :ivar elsewhere: the game that a third daemon must show instead; then there is no body.
    :ivar plays: whether the request's player has a seat in the game, which is not over.
    :ivar is_empty: whether it is no error and shows no game.
    :ivar shown: the results that it shows.
    :ivar proved: the digest of the new key of the session's player.
    :ivar last_was_game: as in :data:`LAST_WAS_GAME`, after a ``wait`` for any game.
    """

    body: bytes
    code: str | None = None
    elsewhere: int | None = None
    plays: bool = False
    is_empty: bool = False
    shown: tuple[Shown, ...] = ()
    proved: bytes | None = None
    last_was_game: bool = False


class Delivered(LinkMessage, frozen=True, gc=False):
    """A note that a client has acknowledged the result of a game: to the game's owner and to the lobby's."""

    player: int
    game_id: int
    seats: tuple[int, ...]
