"""What the clients know of each kind: its method, from the client for trio, and by what a request may be repeated."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .shapes import Shapes

#: The sets: name, description, and the field by which its kinds may be repeated.
_SETS = (
    ("READING", "Kinds that change nothing, or nothing more when repeated.", None),
    ("ACTING", 'Kinds that may be sent again if "ply" identifies the action.', "ply"),
    ("MAKING", 'Kinds that may be sent again if they have a "token".', "token"),
)


class Method(NamedTuple):
    """A method that sends a request of a kind, by the names of its types."""

    kind: str
    reply: str
    description: str


def methods(source: str) -> Iterator[Method]:
    """Yield the methods of the client for trio that send a request of their name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AsyncFunctionDef):
            match node.body[-1]:
                case ast.Return(
                    ast.Await(ast.Call(ast.Attribute(attr="_call"), [ast.Name(reply), ast.Constant(node.name), *_]))
                ):
                    yield Method(node.name, reply, ast.get_docstring(node) or "")


def python(shapes: Shapes) -> str:
    """Return the sets of kinds by how they may be repeated."""
    return "\n".join(_sets(shapes, "#: {1}\n{0} = {{{2}\n}}".format, "    "))


def javascript(shapes: Shapes) -> str:
    """Return the module with the same sets."""
    header = "// Generated from protocol/schema.json: run `python -m clients.generate`.\n"
    return "\n".join([header, *_sets(shapes, "/** {1} */\nexport const {0} = new Set([{2}\n]);\n".format, "  ")])


def _sets(shapes: Shapes, write: Callable[[str, str, str], str], indent: str) -> Iterator[str]:
    for name, description, field in _SETS:
        kinds = [kind for kind, repeated_by in shapes.repeated_by.items() if repeated_by == field]
        yield write(name, description, "".join(f'\n{indent}"{kind}",' for kind in kinds))
