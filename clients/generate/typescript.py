"""Fields and replies as TypeScript interfaces."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from textwrap import wrap

from .kinds import Method
from .shapes import Field, Schema, Shape, Shapes, camel, reference

#: The length of a line.
WIDTH = 120

HEADER = """\
// The messages of the gm protocol. PROTOCOL is the reference of all kinds, fields and codes.
// Generated from protocol/schema.json: change the structs of gm_protocol, and run `python -m clients.generate`.

/** An id. Ids beyond 2**53 - 1 are BigInts in replies, and must be BigInts in requests. */
export type Id = number | bigint;
"""

_BASIC = {
    "number": "number",
    "string": "string",
    "boolean": "boolean",
    "null": "null",
    "object": "Record<string, unknown>",
}

#: Types that a later server may extend: other strings are allowed too, and editors still suggest the known ones.
_OPEN = {"Variant", "Termination"}
#: Structs with numbers for values, to which a later server may add.
_OF_NUMBERS = {"Limits"}

#: Kinds that need one of their fields, although each of them may be left out.
_NEED_ONE = {"wait", "revoke"}

_LARGEST = 2**53 - 1


def render(shapes: Shapes, methods: Iterable[Method]) -> str:
    """Return the whole file."""
    parts = [
        *(_alias(shapes, name, type_) for name, type_ in shapes.named.items()),
        *(_interface(shapes, shape, is_request=shape.name == "Clock") for shape in shapes.structs),
        "// Requests.\n",
        *(_interface(shapes, shape, is_request=True) for shape in shapes.requests),
        "// Replies.\n",
        *(_interface(shapes, shape, is_request=False) for shape in shapes.replies),
        _requests(shapes, methods),
    ]
    return "\n".join([HEADER, *parts])


def _alias(shapes: Shapes, name: str, type_: Schema) -> str:
    choices = _structure(shapes, type_, False) + (" | (string & {})" if name in _OPEN else "")
    line = f"export type {name} = {choices};"
    if len(line) <= WIDTH:
        return f"{line}\n"
    return f"export type {name} =\n" + "\n".join(f"  | {each}" for each in choices.split(" | ")) + ";\n"


def _interface(shapes: Shapes, shape: Shape, *, is_request: bool) -> str:
    lines = [*_comment(shape.description), f"export interface {shape.name}{_extends(shape)} {{"]
    for field in shape.fields:
        lines += [f"  {line}" for line in _field(shapes, field, is_request)]
    if not is_request and shape.base is None:
        lines.append(f"  [{'limit' if shape.name in _OF_NUMBERS else 'field'}: string]: {_others(shape)};")
    return "\n".join([*lines, "}\n"])


def _requests(shapes: Shapes, methods: Iterable[Method]) -> str:
    """Return the methods of the client."""
    found = {shape.name: shape for shape in shapes.requests}
    lines = ["/** A method for each kind. */", "export interface Requests {"]
    for method in methods:
        fields = found[camel(method.kind)]
        inherited = found[fields.base].fields if fields.base else ()
        needed = method.kind in _NEED_ONE or any(field.required for field in (*fields.fields, *inherited))
        mark = "" if needed else "?"
        description = " ".join(method.description.split()).replace("``", "`").replace("None", "null")
        lines += [f"  {line}" for line in _comment(description)]
        lines.append(f"  {method.kind}(fields{mark}: {fields.name}): Promise<{method.reply}>;")
    return "\n".join([*lines, "}\n"])


def _extends(shape: Shape) -> str:
    return f" extends {shape.base}" if shape.base else ""


def _others(shape: Shape) -> str:
    """Return the type of fields that a later server may add."""
    return "number | null" if shape.name in _OF_NUMBERS else "unknown"


def _comment(text: str) -> Iterator[str]:
    if not text:
        return
    if len(text) <= WIDTH - 9:
        yield f"/** {text} */"
        return
    yield "/**"
    yield from (f" * {line}" for line in wrap(text, WIDTH - 5))
    yield " */"


def _field(shapes: Shapes, field: Field, is_request: bool) -> Iterator[str]:
    yield from _comment(field.description)
    yield f"{field.name}{'' if field.required else '?'}: {_type(shapes, field.type, is_request)};"


def _type(shapes: Shapes, type_: Schema, is_request: bool) -> str:
    return shapes.name_of(type_) or _structure(shapes, type_, is_request)


def _structure(shapes: Shapes, type_: Schema, is_request: bool) -> str:
    """Return a type by its structure."""
    if "$ref" in type_:
        return reference(type_)
    if "anyOf" in type_:
        return " | ".join(_type(shapes, each, is_request) for each in type_["anyOf"])
    if "enum" in type_:
        return " | ".join(map(json.dumps, type_["enum"]))
    if "prefixItems" in type_:
        return f"[{', '.join(_type(shapes, each, is_request) for each in type_['prefixItems'])}]"
    if "items" in type_:
        item = _type(shapes, type_["items"], is_request)
        return f"({item})[]" if "anyOf" in type_["items"] else f"{item}[]"
    return _integer(type_, is_request) if type_["type"] == "integer" else _BASIC[type_["type"]]


def _integer(type_: Schema, is_request: bool) -> str:
    """Return the type of an integer: ids may have 64 bits. A game's may be sent as a BigInt; replies have numbers."""
    largest = type_.get("maximum", 2**64 if is_request else _LARGEST)
    return "Id" if largest > _LARGEST or (is_request and largest == _LARGEST) else "number"
