"""Generator of code and tables from the messages: ``python -m clients.generate``, from the top of the source tree. It
writes

- in ``clients/python/gm_client/blocking.py`` the fields and replies, from ``protocol/schema.json``, and there and in
  ``chess_client.py`` the client, from ``trio_client.py``;
- ``clients/node/protocol.d.ts``, from the schema and, for the methods, from ``trio_client.py``;
- in ``blocking.py``, ``gmcat.py`` and ``clients/node/lib/kinds.js`` which kinds may be sent again, from
  ``gm_protocol``;
- the tables of fields in ``PROTOCOL`` and in the pages of ``docs/protocol``, from ``protocol/schema.json``.

With ``--check`` it writes nothing, prints the names of outdated files, and exits with 1 if there are any.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .files import current

ROOT = Path(__file__).parents[2]


def main(arguments: list[str]) -> int:
    """Generate the files, or check them, and return the exit status."""
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    stale = {path: text for path, text in current(ROOT).items() if not path.exists() or path.read_text("utf-8") != text}
    for path, text in stale.items():
        print(path.relative_to(ROOT))
        if not arguments:
            path.write_text(text, "utf-8")
    return 1 if arguments and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
