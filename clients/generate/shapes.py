"""The messages as clients have them, read from ``protocol/schema.json``: a shape for the fields or the reply of a kind.

What the schema does not say stands here in tables: which kinds share fields, and what is known of a reply by the kind
that it answers.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

#: A type in JSON Schema.
Schema = dict[str, Any]

#: What all requests may have, and what all replies have.
FIELDS = "Fields"
REPLY = "Reply"

#: Shapes that several kinds share, by the kinds.
GROUPS = {"GameFields": ("new_game", "game_from_pgn", "challenge", "seek", "pair")}

#: What shapes that are no struct's are for.
DESCRIPTIONS = {
    FIELDS: "What a request of any kind may have. A player of null is nobody.",
    REPLY: "What every reply has.",
    "GameFields": "What a new game is played with. A token is made up if there is none.",
}

#: Types by the name that clients have for them, each with a place in the schema where it stands.
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

#: Structs that clients know by another name.
RENAMED = {"ClockOption": "Clock", "GameOptions": "Options", "RevokedReply": "PlayerReply"}

#: Structs that are not shown as they are: a reply of nothing is a Reply, an error is an exception.
_LEFT_OUT = {"Pong", "ErrorReply"}


@dataclass(frozen=True)
class Narrowed:
    """A reply of which its kind says more than the struct does.

    :ivar struct: the reply's struct.
    :ivar fields: those of its fields that may be there.
    :ivar present: those that are there and not null; of the others, the schema says it.
    :ivar absent: those that may be missing, whatever the schema says.
    """

    struct: str
    description: str
    fields: tuple[str, ...]
    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


_ACTIONS = ("sense_actions", "move_actions")
_MOVE = ("requested_move", "taken_move", "capture_square")
_SEAT = ("game_id", "seat", "state", "options")
NARROWED = {
    "StateReply": Narrowed("StateReply", "The game.", ("state",), present=("state",)),
    "StateActionsReply": Narrowed(
        "StateReply",
        "The game. The actions are there where they were asked for, the names where a player is registered.",
        ("state", *_ACTIONS, "names"),
        present=("state",),
    ),
    "WaitReply": Narrowed(
        "StateReply",
        "The game in which the player is to act, or which is over; a state of null if none of several is due.",
        ("state", "game_id", *_ACTIONS),
    ),
    "DeclineReply": Narrowed("StateReply", "The game declined; a state of null where there was none.", ("state",)),
    "ChallengeReply": Narrowed("SeatReply", "The game that the other is invited to.", _SEAT, present=_SEAT),
    "MoveReply": Narrowed(
        "MoveReply",
        "The game. In reconnaissance blind chess also what was asked for, what came of it, and where it captured.",
        ("state", *_MOVE),
        absent=_MOVE,
    ),
}


@dataclass(frozen=True)
class Field:
    """A field of a message; ``required`` says whether it is always there."""

    name: str
    type: Schema
    required: bool

    @property
    def description(self) -> str:
        """What the schema says of it, or of the one type that it has if it is not null."""
        return str(self.type.get("description") or without_null(self.type).get("description", ""))


@dataclass(frozen=True)
class Shape:
    """The fields of a request or a reply, besides those of its base."""

    name: str
    base: str | None
    description: str
    fields: tuple[Field, ...]


class Shapes:
    """All of them.

    :ivar named: types that have a name, by it.
    :ivar requests: the base of all, those that several share, and each kind's.
    :ivar structs: what replies and requests are made of.
    :ivar replies: the base of all, and the others.
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
        """The fields that all of several kinds have."""
        return set.intersection(*(set(self._structs[self._kinds[kind]]["properties"]) for kind in kinds)) - {"kind"}

    def _shared_shapes(self) -> Iterator[Shape]:
        """What all requests may have, and what those of a group may have besides."""
        common = self._shared(self._kinds)
        for name, kinds in {FIELDS: tuple(self._kinds), **GROUPS}.items():
            struct = self._kinds[kinds[0]]
            others = set(self._structs[struct]["properties"]) - self._shared(kinds)
            base, without = (None, others) if name == FIELDS else (FIELDS, others | common)
            yield replace(self._shape(name, base, struct, without), description=DESCRIPTIONS[name])

    def _request(self, kind: str) -> Shape:
        """What only this kind has."""
        base = next((name for name, kinds in GROUPS.items() if kind in kinds), FIELDS)
        return self._shape(
            _camel(kind), base, self._kinds[kind], {"kind", *self._shared(GROUPS.get(base, self._kinds))}
        )

    def _whole_replies(self) -> Iterator[Shape]:
        """The replies of which no kind says more than the schema."""
        for name in self._answers:
            if name not in NARROWED and name not in _LEFT_OUT:
                yield self._shape(_known(name), REPLY, name, {"error", "id"})

    def _shape(self, name: str, base: str | None, struct: str, without: Container[str] = ()) -> Shape:
        """A struct, without the fields that its base has."""
        found = self._structs[struct]
        required = found.get("required", ())
        fields = [Field(at, type_, at in required) for at, type_ in found["properties"].items() if at not in without]
        return Shape(name, base, found["description"], tuple(fields))

    def _narrowed(self, name: str, narrowed: Narrowed) -> Shape:
        shape = self._shape(name, REPLY, narrowed.struct)
        fields = {field.name: field for field in shape.fields}
        for at in narrowed.present:
            fields[at] = replace(fields[at], type=without_null(fields[at].type), required=True)
        for at in narrowed.absent:
            fields[at] = replace(fields[at], required=False)
        return replace(shape, description=narrowed.description, fields=tuple(fields[at] for at in narrowed.fields))


def without_null(type_: Schema) -> Schema:
    """Return a type that may be null as it is otherwise."""
    others = [each for each in type_.get("anyOf", ()) if each != {"type": "null"}]
    if not others:
        return type_
    return others[0] if len(others) == 1 else {**type_, "anyOf": others}


def reference(type_: Schema) -> str:
    """Return the name that clients have for the struct that a type refers to."""
    return _known(type_["$ref"].rpartition("/")[2])


def _known(struct: str) -> str:
    return RENAMED.get(struct, struct)


def _reply() -> Shape:
    """What all replies have; an error is null, as others are exceptions."""
    repeated = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    fields = (Field("error", {"type": "null"}, True), Field("id", repeated, False))
    return Shape(REPLY, None, DESCRIPTIONS[REPLY], fields)


def _leaf(type_: Schema) -> Schema:
    """What a type that may be null is otherwise; of a list of lists of it, that."""
    bare = _bare(without_null(type_))
    is_list = bare.get("type") == "array" and "prefixItems" not in bare["items"]
    return _leaf(bare["items"]) if is_list else bare


def _bare(type_: Schema) -> Schema:
    return {key: value for key, value in type_.items() if key not in ("description", "default")}


def _names(references: list[Schema]) -> list[str]:
    return [each["$ref"].rpartition("/")[2] for each in references]


def _camel(kind: str) -> str:
    """The name of the fields of a kind: ``NewGameFields``."""
    return "".join(word.capitalize() for word in kind.split("_")) + FIELDS
