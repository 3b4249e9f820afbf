"""The tables of fields in ``PROTOCOL``, one for each struct that it names.

A table is a line such as ``Request: MakeMove`` with the indented lines below it. A field in brackets may be left out.
A field that an earlier table of the same direction has in the same words is only named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from itertools import groupby
from textwrap import wrap
from typing import NamedTuple

from .shapes import Field, Schema, Shapes

#: Columns of a line.
WIDTH = 72

_TABLE = re.compile(r"^(?P<head>(?P<role>Request|Reply|Object): (?P<struct>\w+))\n(?:  .+\n)*", re.MULTILINE)
#: What every message of a direction has. Tables of their own show it.
_REQUEST = {"kind", "id", "brief", "player", "key"}
_REPLY = {"id", "error"}
#: The fields that requests for a game share.
_GAME = "GameFields"
#: Shown in full, and known to all other tables.
_IN_FULL = "GameState"

_BASIC = {"number": "number", "string": "string", "boolean": "bool", "null": "null", "object": "object"}


class Row(NamedTuple):
    """A field as a table shows it."""

    name: str
    type: str
    meaning: str


def with_tables(text: str, schema: Schema) -> str:
    """Return the text of ``PROTOCOL`` with current tables.

    :raises KeyError: the text names no struct of the schema.
    :raises ValueError: a field has no description.
    """
    tables = _Tables(schema)

    def table(found: re.Match[str]) -> str:
        is_request = found["role"] == "Request"
        return "\n".join([found["head"], *tables.table(found["struct"], is_request=is_request)]) + "\n"

    return _TABLE.sub(table, text)


class _Tables:
    def __init__(self, schema: Schema) -> None:
        self._structs: dict[str, Schema] = schema["$defs"]
        self._shapes = Shapes(schema)
        self._replies = {each["$ref"].rpartition("/")[2] for each in self._structs["Reply"]["anyOf"]}
        self._seen: dict[tuple[Row, bool], str] = {(row, False): _IN_FULL for row in self._rows(_IN_FULL)}

    def table(self, struct: str, *, is_request: bool) -> Iterator[str]:
        """Yield the lines below the head of a struct's table."""
        rows = list(self._rows(struct))
        origins = {row: self._seen.setdefault((row, is_request), struct) for row in rows}
        new = [row for row in rows if origins[row] == struct or struct == _IN_FULL]
        yield from _lines(new)
        for origin in dict.fromkeys(origins.values()):
            names = ", ".join(row.name for row in rows if origins[row] == origin and row not in new)
            if names:
                yield from wrap(f"  {names}: as in {origin}", WIDTH, subsequent_indent="      ")
        if not rows:
            yield "  none"

    def _rows(self, struct: str) -> Iterator[Row]:
        for field in self._fields(struct):
            if not field.description:
                raise ValueError(f"{struct}: {field.name} has no description; end its line with a comment '#: ...'")
            name = field.name if field.required else f"[{field.name}]"
            yield Row(name, self._type(field), field.description.removesuffix("."))

    def _fields(self, struct: str) -> Iterator[Field]:
        """Yield the fields that are the struct's own."""
        if (shape := next((each for each in self._shapes.requests if each.name == struct), None)) is not None:
            yield from shape.fields
            return
        fields = self._structs[struct]["properties"]
        shared: set[str] = set()
        if "kind" in fields:
            shared = _REQUEST | self._game_fields(fields)
        elif struct in self._replies:
            shared = {"id"} if struct == "ErrorReply" else _REPLY
        required = self._structs[struct].get("required", ())
        yield from (Field(name, type_, name in required) for name, type_ in fields.items() if name not in shared)

    def _game_fields(self, fields: Container[str]) -> set[str]:
        """Return what requests for a game share, if these are the fields of one."""
        shared = {field.name for field in self._fields(_GAME)}
        return shared if all(name in fields for name in shared) else set()

    def _type(self, field: Field) -> str:
        """Return the type, and the default unless there is none or it is null."""
        default = field.type.get("default")
        types = self._types(field.type)
        if "default" in field.type and default is None:
            types = [each for each in types if each != "null"]
        return "|".join(types) + ("" if default is None else f"={json.dumps(default)}")

    def _types(self, type_: Schema) -> list[str]:
        """Return the types that a union is of, null last; or the one type."""
        if "anyOf" not in type_:
            return [self._single(type_)]
        found = [name for each in type_["anyOf"] for name in self._types(each)]
        return sorted(dict.fromkeys(found), key="null".__eq__)

    def _single(self, type_: Schema) -> str:
        if (name := self._shapes.name_of(type_)) is not None:
            return name
        if "$ref" in type_:
            return str(type_["$ref"].rpartition("/")[2])
        if "enum" in type_:
            return "|".join(map(json.dumps, type_["enum"]))
        if "items" in type_:
            return f"[{'|'.join(self._types(type_['items']))}]" if type_["items"] else "array"
        return _integer(type_) if type_["type"] == "integer" else _BASIC[type_["type"]]


def _lines(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of rows. Neighbours of one type and meaning share a line."""
    width = max((len(row.name) for row in rows), default=0)
    for (type_, meaning), group in groupby(rows, key=lambda row: (row.type, row.meaning)):
        names = ", ".join(row.name for row in group)
        yield from wrap(f"  {names:{width}} {type_}: {meaning}", WIDTH, subsequent_indent=" " * (width + 5))


def _integer(type_: Schema) -> str:
    """Return a range if it is a narrow one."""
    least, most = type_.get("minimum"), type_.get("maximum", 2**53)
    return f"{least}..{most}" if least is not None and most < 2**31 - 1 else "int"
