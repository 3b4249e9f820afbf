"""What the clients know of each kind: its method, from the client for trio, and when a request may be sent again."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from typing import NamedTuple

from gm_protocol.base import Request, Retry

#: The request structs by kind.
Requests = Mapping[str, type[Request]]

#: The sets: name, description, and the ``retry`` of its kinds.
_SETS: tuple[tuple[str, str, Retry], ...] = (
    ("READING", "Kinds that change nothing, or nothing more when repeated.", "always"),
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
                case _:
                    pass  # a method of another kind


def check(requests: Requests, methods: Collection[Method], members: Container[str]) -> None:
    """Check that the clients can be given the kinds.

    :param members: the members of the Node client apart from the methods of the kinds.
    :raises ValueError: a kind does not say when it may be sent again, has no method, or has the name of a member.
    """
    kinds_with_method = {method.kind for method in methods}
    for kind, request in requests.items():
        if request.retry != "always" and request.retry not in request.__struct_fields__:
            ways = "'always', or to its field 'ply' or 'token'"
            raise ValueError(f"{request.__name__}: retry is {request.retry!r}; set it to {ways}")
        if kind not in kinds_with_method:
            raise ValueError(f"trio_client.py has no method for {kind}")
        if kind in members:
            raise ValueError(f"{kind}: the Node client has a member of this name; choose another kind")


def members(declarations: str) -> set[str]:
    """Return the members of the Node client that its declarations have, apart from the methods of the kinds."""
    client = re.search(r"^export class Client {$.*?^}$", declarations, re.MULTILINE | re.DOTALL)
    assert client is not None, "index.d.ts declares the client"
    return set(re.findall(r"^  (?:readonly )?(\w+)[(:]", client[0], re.MULTILINE))


def python(requests: Requests) -> str:
    """Return the sets of kinds by when they may be sent again."""
    return "\n".join(_sets(requests, "#: {1}\n{0} = {{{2}\n}}".format, "    "))


def javascript(requests: Requests) -> str:
    """Return the module with the same sets."""
    header = "// Generated from the structs of gm_protocol: run `python -m clients.generate`.\n"
    return "\n".join([header, *_sets(requests, "/** {1} */\nexport const {0} = new Set([{2}\n]);\n".format, "  ")])


def _sets(requests: Requests, write: Callable[[str, str, str], str], indent: str) -> Iterator[str]:
    for name, description, retry in _SETS:
        kinds = [kind for kind, request in requests.items() if request.retry == retry]
        yield write(name, description, "".join(f'\n{indent}"{kind}",' for kind in kinds))
