"""Fields and replies as Python TypedDicts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from keyword import iskeyword
from textwrap import wrap

from .shapes import FIELDS, Field, Schema, Shape, Shapes, reference

#: The length of a line.
WIDTH = 120

_BASIC = {
    "integer": "int",
    "number": "float",
    "string": "str",
    "boolean": "bool",
    "null": "None",
    "object": "dict[str, Any]",
}

#: Fields that the client's methods take as arguments, in addition to a kind's required ones; and those of all these
#: that they take by keyword only.
ARGUMENTS = {"WaitFields": {"game_id"}, "DeclineFields": {"game_id"}}
BY_NAME = {"GameFromPgnFields": {"pgn"}}


def render(shapes: Shapes) -> str:
    """Return the definitions, without blank lines at either end."""
    requests = [_optional(shape) for shape in shapes.requests]
    requests = [shape for shape in requests if shape.fields]
    parts = [
        "\n".join(_alias(shapes, name, type_) for name, type_ in shapes.named.items()),
        *(_class(shapes, shape) for shape in [*shapes.structs, *requests, *shapes.replies]),
    ]
    return "\n\n\n".join(parts)


def _optional(shape: Shape) -> Shape:
    """Return the fields of a request that are not arguments of the method."""
    arguments = {field.name for field in shape.fields if field.required} | ARGUMENTS.get(shape.name, set())
    arguments -= BY_NAME.get(shape.name, set())
    fields = [field for field in shape.fields if field.name not in arguments]
    return Shape(shape.name, shape.base, shape.description, tuple(fields))


def _alias(shapes: Shapes, name: str, type_: Schema) -> str:
    line = f"{name} = {_structure(shapes, type_)}"
    if len(line) <= WIDTH:
        return line
    return f"{name} = Literal[\n" + "".join(f"    {json.dumps(each)},\n" for each in type_["enum"]) + "]"


def _class(shapes: Shapes, shape: Shape) -> str:
    is_request = shape.name.endswith(FIELDS)
    base = shape.base or "TypedDict"
    lines = [f"class {shape.name}({base}{', total=False' if is_request else ''}):", *_docstring(shape.description), ""]
    for field in shape.fields:
        lines += [f"    {line}" for line in _field(shapes, field, is_request)]
    return "\n".join(lines)


def _docstring(text: str) -> Iterator[str]:
    """Wrap a docstring; one that is too long for a line gets a line for its first sentence, if it has several."""
    if len(text) <= WIDTH - 10:
        yield f'    """{text}"""'
        return
    first, _, rest = text.partition(". ")
    if not rest or len(first) > WIDTH - 8:
        first, rest = text, ""
    head, *tail = wrap(f'"""{first}{"." if rest else ""}', WIDTH - 4)
    yield from (f"    {line}" for line in [head, *tail])
    if rest:
        yield ""
        yield from (f"    {line}" for line in wrap(rest, WIDTH - 4))
    yield '    """'


def _field(shapes: Shapes, field: Field, is_request: bool) -> Iterator[str]:
    name = f"{field.name}_" if iskeyword(field.name) else field.name
    hint = _type(shapes, field.type)
    yield from (f"#: {line}" for line in wrap(field.description, WIDTH - 7))
    yield f"{name}: {hint}" if field.required or is_request else f"{name}: NotRequired[{hint}]"


def _type(shapes: Shapes, type_: Schema) -> str:
    return shapes.name_of(type_) or _structure(shapes, type_)


def _structure(shapes: Shapes, type_: Schema) -> str:
    """Return a type by its structure."""
    if "$ref" in type_:
        return reference(type_)
    if "anyOf" in type_:
        return " | ".join(_type(shapes, each) for each in type_["anyOf"])
    if "enum" in type_:
        return f"Literal[{', '.join(map(json.dumps, type_['enum']))}]"
    if "prefixItems" in type_:
        return f"tuple[{', '.join(_type(shapes, each) for each in type_['prefixItems'])}]"
    if "items" in type_:
        return f"list[{_type(shapes, type_['items'])}]"
    return _BASIC[type_["type"]]
