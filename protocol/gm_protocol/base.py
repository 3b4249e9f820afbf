"""What all messages are made of: who players are, and the fields of every request and every reply."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

#: Player ids are 64-bit signed integers.
PlayerId = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]

#: Ids from here to :data:`LAST_REGISTERED` belong to registered players; all others are open to anybody.
FIRST_REGISTERED = 2**52
LAST_REGISTERED = 2**53 - 1

#: What a registered player is called. Names that differ in case alone are one. Spaces stand one by one between others:
#: nobody sees where there are two, or one at the end.
PlayerName = Annotated[str, Meta(pattern=r"^(?=.{1,64}$)[A-Za-z0-9_.-]+( [A-Za-z0-9_.-]+)*$(?!\n)")]
PLAYER_NAME_RULE = "a name has 1 to 64 letters (a to z), digits, '_', '.' and '-', and single spaces between them"
#: A key as it is sent. A true one has 43 characters; what is far longer is none, and not worth a look.
Key = Annotated[str, Meta(max_length=256)]
#: Fields whose values are shown nowhere: in no error, no log, no ``repr``.
SECRET_FIELDS = frozenset({"key", "password", "spectator_key"})


def shown(message: Struct) -> list[tuple[str, Any]]:
    """The fields of a message as a person may be shown them."""
    fields = [(name, getattr(message, name)) for name in message.__struct_fields__]
    return [(name, "..." if name in SECRET_FIELDS and value else value) for name, value in fields]


class Request(Struct, tag_field="kind", kw_only=True):
    """What every request may carry. ``player`` unset means the session's player, null means nobody.

    ``key`` is that player's, where it is a registered one.
    """

    id: int | str | None = None  #: A value that the reply repeats.
    brief: bool = False  #: Whether states in the reply lack board, access_map and pgn.
    player: PlayerId | UnsetType | None = UNSET  #: The player who acts; left out: the session's; null: nobody.
    key: Key | UnsetType | None = UNSET  #: The key of that player.

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown(self))})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return shown(self)


class Reply(Struct, kw_only=True):
    """What every reply may carry: the request's ``id``. ``error`` comes last in each, null where all went well."""

    id: int | str | UnsetType = UNSET  #: The id of the request, if it had one.
