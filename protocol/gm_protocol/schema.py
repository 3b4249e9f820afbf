"""The JSON Schema of the messages, generated from the structs.

``python -m gm_protocol.schema > protocol/schema.json`` writes the file for clients in other languages; a test checks
that it is current.

The description of a field is the ``#:`` comment on its line in the source, or the description of its type if it has no
comment. The clients' types and the tables of ``PROTOCOL`` take it from the schema.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, get_args

import msgspec

from .messages import REQUESTS, AnyReply

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REF = "#/$defs/{name}"

#: The roles and backquotes of docstrings, which mean nothing to readers of the schema.
_MARKUP = re.compile(r"(?::\w+:)?`+([^`]*)`+")

#: A field of a struct with its comment.
_NOTED = re.compile(r"^    (?P<field>\w+): .*  #: (?P<note>.+)$", re.MULTILINE)


def schema() -> dict[str, Any]:
    """Return one document for both directions: ``$defs`` has ``Request``, ``Reply`` and all structs in them."""
    requests, replies = list(REQUESTS.values()), get_args(AnyReply)
    refs, structs = msgspec.json.schema_components([*requests, *replies], ref_template=_REF)
    notes = _notes([*requests, *replies])
    return {
        "$schema": _DIALECT,
        "title": "The gm client-server protocol",
        "anyOf": [{"$ref": _REF.format(name=name)} for name in ("Request", "Reply")],
        "$defs": {
            "Request": {"title": "Request", "oneOf": list(refs[: len(requests)])},
            "Reply": {"title": "Reply", "anyOf": list(refs[len(requests) :])},
            **{name: _noted(_plain(struct), notes[name]) for name, struct in structs.items()},
        },
    }


def _plain(struct: dict[str, Any]) -> dict[str, Any]:
    """Return a struct's schema with its description without markup and on one line (some Pythons indent docstrings)."""
    description = " ".join(_MARKUP.sub(r"\1", struct.get("description", "")).split())
    return struct | {"description": description}


def _noted(struct: dict[str, Any], notes: dict[str, str]) -> dict[str, Any]:
    """Return a struct's schema with the descriptions of its fields."""
    fields = struct["properties"].items()
    noted = {name: {"description": notes[name], **type_} if name in notes else type_ for name, type_ in fields}
    return struct | {"properties": noted}


def _notes(types: list[Any]) -> dict[str, dict[str, str]]:
    """Return the comments on the fields of all structs that these types are made of, by struct and wire name."""
    return {struct.__name__: dict(_notes_of(struct)) for struct in _structs(types, set())}


def _notes_of(struct: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    names = dict(zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True))
    for each in reversed(struct.__mro__):
        if issubclass(each, msgspec.Struct) and each is not msgspec.Struct:
            for match in _NOTED.finditer(inspect.getsource(each)):
                yield names[match["field"]], match["note"]


def _structs(types: Iterable[Any], seen: set[type[msgspec.Struct]]) -> set[type[msgspec.Struct]]:
    """Return the structs among these types and in their fields and items."""
    for each in types:
        if isinstance(each, type) and issubclass(each, msgspec.Struct):
            if each not in seen:
                seen.add(each)
                _structs((field.type for field in msgspec.structs.fields(each)), seen)
        else:
            _structs(get_args(each), seen)
    return seen


def render() -> str:
    """Return the text of ``protocol/schema.json``."""
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    print(render(), end="")
