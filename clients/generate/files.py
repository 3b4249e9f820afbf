"""The files with generated text, and their contents."""

from __future__ import annotations

import json
import re
from pathlib import Path

from gm_protocol.messages import REQUESTS

from . import kinds, protocol_tables, python_types, typescript
from .blocking_client import blocking_client
from .shapes import Shapes

_REGION = "(?P<begin># >>> {name}: [^\n]*\n).*?(?P<end># <<< {name}\n)"


def current(root: Path, requests: kinds.Requests = REQUESTS) -> dict[Path, str]:
    """Return the up-to-date text of each generated file, by path.

    :param root: the top of a source tree.
    :raises ValueError: the clients cannot have a kind; see :func:`.kinds.check`.
    """
    schema = json.loads((root / "protocol" / "schema.json").read_text("utf-8"))
    shapes = Shapes(schema)
    package = root / "clients" / "python" / "gm_client"
    node = root / "clients" / "node"
    blocking, chess, gmcat = package / "blocking.py", package / "chess_client.py", package / "gmcat.py"
    client = (package / "trio_client.py").read_text("utf-8")
    methods = list(kinds.methods(client))
    kinds.check(requests, methods, kinds.members((node / "index.d.ts").read_text("utf-8")))
    text = with_region(blocking.read_text("utf-8"), "kinds", kinds.python(requests))
    text = with_region(text, "types", python_types.render(shapes))
    text = with_region(text, "client", blocking_client(client))
    texts = [root / "PROTOCOL", *sorted((root / "docs" / "protocol").glob("*.md"))]
    return {
        blocking: text,
        chess: with_region(chess.read_text("utf-8"), "client", blocking_client(client)),
        gmcat: with_region(gmcat.read_text("utf-8"), "kinds", kinds.python(requests)),
        node / "protocol.d.ts": typescript.render(shapes, methods),
        node / "lib" / "kinds.js": kinds.javascript(requests),
        **{each: protocol_tables.with_tables(each.read_text("utf-8"), schema) for each in texts},
    }


def with_region(text: str, name: str, content: str) -> str:
    """Return a text with new content between the lines ``# >>> name: ...`` and ``# <<< name``.

    :raises ValueError: the text does not have each of these lines exactly once.
    """
    pattern = re.compile(_REGION.format(name=name), re.DOTALL)
    text, count = pattern.subn(lambda found: f"{found['begin']}\n\n{content}\n\n\n{found['end']}", text)
    if count != 1:
        raise ValueError(f"the lines '# >>> {name}: ...' and '# <<< {name}' enclose {count} regions in place of one")
    return text
