"""The common parts of all messages: player ids and names, and the fields of every request and every reply."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

#: Player ids are 64-bit signed integers.
PlayerId = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]

GameId = Annotated[int, Meta(ge=0, le=2**53 - 1)]

#: Ids from here to :data:`LAST_REGISTERED` belong to registered players; all others are open ids, for anybody.
FIRST_REGISTERED = 2**52
LAST_REGISTERED = 2**53 - 1

#: A registered player's name. Names that differ only in case are the same. Spaces are allowed only singly and between
#: other characters, because two spaces, or one at the end, are invisible.
PLAYER_NAME = r"^(?=.{1,64}$)[A-Za-z0-9_.-]+( [A-Za-z0-9_.-]+)*$(?!\n)"
PlayerName = Annotated[str, Meta(pattern=PLAYER_NAME)]
PLAYER_NAME_RULE = "a name has 1 to 64 letters (a to z), digits, '_', '.' and '-', and single spaces between them"
#: A key as it is sent. A valid one has 43 characters; far longer ones are refused without a check.
Key = Annotated[str, Meta(max_length=256)]
#: Fields whose values are never shown: in no error, no log, no ``repr``.
SECRET_FIELDS = frozenset({"key", "password", "spectator_key"})


def shown(message: Struct) -> list[tuple[str, Any]]:
    """Return the fields of a message with the values of secret fields replaced by "..."."""
    fields = [(name, getattr(message, name)) for name in message.__struct_fields__]
    return [(name, "..." if name in SECRET_FIELDS and value else value) for name, value in fields]


#: When a client may send a request again after a lost connection: always, as it changes nothing more when repeated; or
#: with this field, by which the server recognizes it.
Retry = Literal["always", "ply", "token"]


class Request(Struct, tag_field="kind", kw_only=True):
    """The fields that every request may have. Without ``player`` it is the session's player; null means no player.

    ``key`` is the key of that player, if it is registered.
    """

    #: Each kind sets it: the generator of the clients refuses one that does not.
    retry: ClassVar[Retry | None] = None
    #: The fields that are null in the error reply to a refused request, as version 1 has them.
    null_if_refused: ClassVar[frozenset[str]] = frozenset()

    id: int | str | None = None  #: A value that the reply repeats.
    brief: bool = False  #: Whether states in the reply lack board, access_map and pgn.
    player: PlayerId | UnsetType | None = UNSET  #: The player who acts; left out: the session's; null: nobody.
    key: Key | UnsetType | None = UNSET  #: The key of that player; null: none.

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown(self))})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return shown(self)


class Reply(Struct, kw_only=True):
    """The fields that every reply may have. Each ends with ``error``, null if there is none."""

    id: int | str | UnsetType = UNSET  #: The id of the request, if it had one.
