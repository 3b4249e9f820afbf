"""The blocking client, made from the client for trio."""

from __future__ import annotations

import ast
import re

#: Replacements that turn code for trio into blocking code.
WORDS = {
    "async def": "def",
    "async for": "for",
    "async with": "with",
    "await ": "",
    "AsyncIterator": "Iterator",
    "StopAsyncIteration": "StopIteration",
    "TrioSession": "BlockingSession",
    "__anext__": "__next__",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
}

_WORDS = re.compile(rf"\b(?:{'|'.join(WORDS)})")
#: Names of trio's that have no blocking counterpart.
_LEFT_OVER = re.compile(r"\b(?:async|await|a(?:iter|next|close)|__a\w+__|trio)\b", re.IGNORECASE)


def blocking_client(source: str) -> str:
    """Return a module's definitions, without its imports, as blocking code.

    :raises ValueError: a name remains that only trio understands.
    """
    text = _WORDS.sub(lambda found: WORDS[found[0]], _definitions(source))
    if left := _LEFT_OVER.search(text):
        raise ValueError(
            f"{left[0]!r} is left in the blocking client; add a replacement to WORDS: {_line(text, left.start())!r}"
        )
    return text.strip("\n")


def _definitions(source: str) -> str:
    """Return the text from the first function or class on."""
    found = (each for each in ast.parse(source).body if isinstance(each, ast.AsyncFunctionDef | ast.ClassDef))
    return "".join(source.splitlines(keepends=True)[next(found).lineno - 1 :])


def _line(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0].strip()
