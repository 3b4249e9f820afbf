"""The messages as clients see them, read from ``protocol/schema.json``: a shape for the fields or the reply of a kind.

Tables here add what the schema does not say: which kinds share fields, and what the kind of a request implies for its
reply.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

#: A type in JSON Schema.
Schema = dict[str, Any]

#: The names of the fields that all requests may have, and of the fields that all replies have.
FIELDS = "Fields"
REPLY = "Reply"

#: Shapes shared by several kinds.
GROUPS = {"GameFields": ("new_game", "game_from_pgn", "challenge", "seek", "pair")}

#: Descriptions of shapes that belong to no struct.
DESCRIPTIONS = {
    FIELDS: "Fields that a request of any kind may have. A player of null is nobody.",
    REPLY: "Fields that every reply has.",
    "GameFields": "The terms of a new game. The client adds a token if there is none.",
}

#: Types that have a name in the clients, each with a place in the schema where it occurs.
NAMED = {
    "Color": ("GameState", "turn"),
    "Variant": ("NewGame", "variant"),
    "Piece": ("GameState", "board"),
    "Phase": ("GameState", "phase"),
    "Result": ("GameState", "result"),
    "Termination": ("GameState", "termination"),
    "VoluntaryTermination": ("EndGame", "termination"),
    "GameStatus": ("GameRow", "status"),
    "SenseResult": ("SenseReply", "sense_result"),
}

#: Structs that have another name in the clients.
RENAMED = {"ClockOption": "Clock", "GameOptions": "Options", "RevokedReply": "PlayerReply"}

#: Structs without a shape: an empty reply is a Reply, and an error is an exception.
_LEFT_OUT = {"Pong", "ErrorReply"}


@dataclass(frozen=True)
class Narrowed:
    """A reply of which its kind says more than its struct does.

    :ivar structs: the reply's structs.
    :ivar fields: those of its fields that may be present.
    :ivar present: fields that are present and not null; the schema describes the others.
    :ivar absent: fields that may be missing, whatever the schema says.
    """

    structs: tuple[str, ...]
    description: str
    fields: tuple[str, ...]
    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


_ACTIONS = ("sense_actions", "move_actions")
_MOVE = ("requested_move", "taken_move", "capture_square")
_SEAT = ("game_id", "seat", "state", "options")
NARROWED = {
    "StateReply": Narrowed(("StateReply",), "The game.", ("state",), present=("state",)),
    "StateActionsReply": Narrowed(
        ("StateReply",),
        "The game, with the actions if requested, and with names if a player is registered.",
        ("state", *_ACTIONS, "names"),
        present=("state",),
    ),
    "WaitReply": Narrowed(
        ("StateReply",),
        "The game in which the player is to act, or which is over; a state of null if no game needs the player yet.",
        ("state", "game_id", *_ACTIONS),
    ),
    "DeclineReply": Narrowed(
        ("StateReply",), "The game declined; a state of null where there was no game.", ("state",)
    ),
    "ChallengeReply": Narrowed(("SeatReply",), "The game that the opponent is invited to.", _SEAT, present=_SEAT),
    "MoveReply": Narrowed(
        ("StateReply", "MoveReply"),
        "The game. In reconnaissance blind chess also the move requested, the move made, and the capture square.",
        ("state", *_MOVE, "claim_refused"),
        absent=_MOVE,
    ),
}


@dataclass(frozen=True)
class Field:
    """A field of a message; ``required`` says whether it is always present."""

    name: str
    type: Schema
    required: bool

    @property
    def description(self) -> str:
        """The schema's description of the field, or of its type apart from null."""
        return str(self.type.get("description") or without_null(self.type).get("description", ""))


@dataclass(frozen=True)
class Shape:
    """The fields of a request or a reply, without those of its base."""

    name: str
    base: str | None
    description: str
    fields: tuple[Field, ...]


class Shapes:
    """All shapes.

    :ivar named: types that have a name, by name.
    :ivar requests: the base of all requests, the shared shapes, and each kind's own.
    :ivar structs: the parts of requests and replies.
    :ivar replies: the base of all replies, and the others.
    """

    def __init__(self, schema: Schema) -> None:
        self._structs: dict[str, Schema] = schema["$defs"]
        self._kinds = {self._kind(name): name for name in _names(self._structs["Request"]["oneOf"])}
        self._answers = _names(self._structs["Reply"]["anyOf"])
        self.named = {name: _leaf(self._structs[struct]["properties"][at]) for name, (struct, at) in NAMED.items()}
        self.requests = [*self._shared_shapes(), *map(self._request, self._kinds)]
        messages = {"Request", "Reply", *self._kinds.values(), *self._answers}
        self.structs = [self._shape(_known(name), None, name) for name in self._structs if name not in messages]
        self.replies = [_reply(), *self._whole_replies(), *(self._narrowed(*each) for each in NARROWED.items())]

    def name_of(self, type_: Schema) -> str | None:
        """Return the name of a type, if it has one."""
        return next((name for name, named in self.named.items() if named == _bare(type_)), None)

    def _kind(self, struct: str) -> str:
        return str(self._structs[struct]["properties"]["kind"]["enum"][0])

    def _shared(self, kinds: Iterable[str]) -> set[str]:
        """Return the fields that all of several kinds have."""
        return set.intersection(*(set(self._structs[self._kinds[kind]]["properties"]) for kind in kinds)) - {"kind"}

    def _shared_shapes(self) -> Iterator[Shape]:
        """Yield the base of all requests, and the shapes shared by a group of kinds."""
        common = self._shared(self._kinds)
        for name, kinds in {FIELDS: tuple(self._kinds), **GROUPS}.items():
            struct = self._kinds[kinds[0]]
            others = set(self._structs[struct]["properties"]) - self._shared(kinds)
            base, without = (None, others) if name == FIELDS else (FIELDS, others | common)
            yield replace(self._shape(name, base, struct, without), description=DESCRIPTIONS[name])

    def _request(self, kind: str) -> Shape:
        """Return the fields that only this kind has."""
        base = next((name for name, kinds in GROUPS.items() if kind in kinds), FIELDS)
        return self._shape(camel(kind), base, self._kinds[kind], {"kind", *self._shared(GROUPS.get(base, self._kinds))})

    def _whole_replies(self) -> Iterator[Shape]:
        """Yield the replies that the schema describes completely."""
        for name in self._answers:
            if name not in NARROWED and name not in _LEFT_OUT:
                yield self._shape(_known(name), REPLY, name, {"error", "id"})

    def _shape(self, name: str, base: str | None, struct: str, without: Container[str] = ()) -> Shape:
        """Return the shape of a struct, without the fields of its base."""
        found = self._structs[struct]
        required = found.get("required", ())
        fields = [Field(at, type_, at in required) for at, type_ in found["properties"].items() if at not in without]
        return Shape(name, base, found["description"], tuple(fields))

    def _narrowed(self, name: str, narrowed: Narrowed) -> Shape:
        shapes = [self._shape(name, REPLY, struct) for struct in narrowed.structs]
        fields = {field.name: field for shape in shapes for field in shape.fields}
        for at in narrowed.present:
            fields[at] = replace(fields[at], type=without_null(fields[at].type), required=True)
        for at in narrowed.absent:
            fields[at] = replace(fields[at], required=False)
        return replace(shapes[0], description=narrowed.description, fields=tuple(fields[at] for at in narrowed.fields))


def without_null(type_: Schema) -> Schema:
    """Return a type without null."""
    others = [each for each in type_.get("anyOf", ()) if each != {"type": "null"}]
    if not others:
        return type_
    return others[0] if len(others) == 1 else {**type_, "anyOf": others}


def reference(type_: Schema) -> str:
    """Return the clients' name of the struct that a type refers to."""
    return _known(type_["$ref"].rpartition("/")[2])


def _known(struct: str) -> str:
    return RENAMED.get(struct, struct)


def _reply() -> Shape:
    """Return the base of all replies. Its error is null, because clients raise errors as exceptions."""
    repeated = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    fields = (
        Field("error", {"type": "null"}, True),
        Field("id", repeated, False),
    )
    return Shape(REPLY, None, DESCRIPTIONS[REPLY], fields)


def _leaf(type_: Schema) -> Schema:
    """Return a type without null, or the innermost element type of nested lists."""
    bare = _bare(without_null(type_))
    is_list = bare.get("type") == "array" and "prefixItems" not in bare["items"]
    return _leaf(bare["items"]) if is_list else bare


def _bare(type_: Schema) -> Schema:
    return {key: value for key, value in type_.items() if key not in ("description", "default")}


def _names(references: list[Schema]) -> list[str]:
    return [each["$ref"].rpartition("/")[2] for each in references]


def camel(kind: str) -> str:
    """Return the name of a kind's fields: ``NewGameFields``."""
    return "".join(word.capitalize() for word in kind.split("_")) + FIELDS
