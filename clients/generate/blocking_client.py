"""The client that blocks, made of the client for trio."""

from __future__ import annotations

import ast
import re

#: What is written differently where nothing waits.
WORDS = {
    "async def": "def",
    "async for": "for",
    "async with": "with",
    "await ": "",
    "AsyncIterator": "Iterator",
    "StopAsyncIteration": "StopIteration",
    "TrioSession": "BlockingSession",
    "__anext__": "__next__",
    "aclose": "close",
}

_WORDS = re.compile(rf"\b(?:{'|'.join(WORDS)})")
#: What belongs to trio, and has no counterpart here.
_LEFT_OVER = re.compile(r"\b(?:async|await|a(?:iter|next|close)|__a\w+__|trio)\b", re.IGNORECASE)


def blocking_client(source: str) -> str:
    """Return the definitions of a module, behind its imports, as they are for a client that blocks.

    :raises ValueError: something is left that only trio understands.
    """
    text = _WORDS.sub(lambda found: WORDS[found[0]], _definitions(source))
    if left := _LEFT_OVER.search(text):
        raise ValueError(
            f"WORDS does not say what {left[0]!r} is in a client that blocks: {_line(text, left.start())!r}"
        )
    return text.strip("\n")


def _definitions(source: str) -> str:
    """The text from the first function or class on."""
    found = (each for each in ast.parse(source).body if isinstance(each, ast.AsyncFunctionDef | ast.ClassDef))
    return "".join(source.splitlines(keepends=True)[next(found).lineno - 1 :])


def _line(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0].strip()
