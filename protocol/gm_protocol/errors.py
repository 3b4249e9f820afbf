"""The errors with which requests are refused: one class for each ``code`` of the protocol.

An error has a sentence for people (its ``str``: the field, the value, and what to do) and a ``code`` for programs.
:func:`~gm_protocol.codec.error_reply` turns it into an :class:`~gm_protocol.messages.ErrorReply`.
"""

from __future__ import annotations

from typing import ClassVar

#: Most characters of a client's text that an error repeats; the rest is cut, so that no error is long.
MAX_QUOTED = 80


def quote(value: object) -> str:
    """Return a value as error sentences repeat it: its ``repr``, cut to :data:`MAX_QUOTED` characters."""
    if isinstance(value, (str, bytes)) and len(value) > MAX_QUOTED:
        return repr(value[:MAX_QUOTED]) + "..."
    text = repr(value)
    return text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "..."


class GmError(Exception):
    """An error that refuses a request. A refused request has changed nothing."""

    code: ClassVar[str] = "internal"

    #: Seconds after which the same request may succeed; None if waiting does not help.
    retry_after: float | None = None


class BadFrame(GmError):
    """A frame is invalid: its length is out of range, or the connection ended inside it. It ends the connection."""

    code = "bad_frame"


class BadJson(GmError):
    """The frame's body is not one JSON object in UTF-8."""

    code = "bad_json"


class BadRequest(GmError):
    """A field is missing, of the wrong type, out of range, or contradicts another."""

    code = "bad_request"


class UnknownKind(GmError):
    """The server does not know the request's ``kind``."""

    code = "unknown_kind"


class NoSuchGame(GmError):
    """No game has this id."""

    code = "no_such_game"


class NotAPlayer(GmError):
    """The player holds no seat in the game, or not the seat that the request needs."""

    code = "not_a_player"


class Unauthorized(GmError):
    """The request acts as a registered player without that player's key, or may not be made by this client."""

    code = "unauthorized"


class NotYourTurn(GmError):
    """It is the other side's turn."""

    code = "not_your_turn"


class WrongPhase(GmError):
    """The request is a move in the sense phase, or a sense in the move phase."""

    code = "wrong_phase"


class IllegalMove(GmError):
    """The text is no legal move in this position."""

    code = "illegal_move"


class AmbiguousMove(GmError):
    """The text fits several legal moves."""

    code = "ambiguous_move"


class BadSquare(GmError):
    """The value is no square of the board."""

    code = "bad_square"


class BadPgn(GmError):
    """The PGN cannot be parsed, has an illegal move, or has more than one game."""

    code = "bad_pgn"


class BadPosition(GmError):
    """The FEN cannot be parsed, or is no position of the variant."""

    code = "bad_position"


class GameIsOver(GmError):
    """The game has ended, and no action is possible in it."""

    code = "game_over"


class NotAvailable(GmError):
    """The request is not possible now: a draw that cannot be claimed, an offer that was withdrawn."""

    code = "not_available"


class Stale(GmError):
    """``ply`` is not the game's ``ply_index``.

    :ivar expected: the present ``ply_index`` of the game.
    """

    code = "stale"

    def __init__(self, message: str, expected: int) -> None:
        super().__init__(message)
        self.expected = expected


class TooMany(GmError):
    """A limit of the server is reached; :attr:`retry_after` says when to try again."""

    code = "too_many"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ShuttingDown(GmError):
    """The server is stopping and takes no more requests."""

    code = "shutting_down"


class Internal(GmError):
    """The server failed, and did not do what was requested."""

    code = "internal"


#: Every error class by its code.
ERRORS: dict[str, type[GmError]] = {error.code: error for error in GmError.__subclasses__()}
