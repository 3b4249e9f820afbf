"""The JSON Schema of the messages, generated from the structs.

``python -m gm_protocol.schema > protocol/schema.json`` writes the file for clients in other languages; a test checks
that it is current.
"""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import msgspec

from .messages import REQUESTS, AnyReply

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REF = "#/$defs/{name}"

#: The roles and backquotes of docstrings, which mean nothing to readers of the schema.
_MARKUP = re.compile(r"(?::\w+:)?`+([^`]*)`+")


def schema() -> dict[str, Any]:
    """Return one document for both directions: ``$defs`` has ``Request``, ``Reply`` and all structs in them."""
    requests, replies = list(REQUESTS.values()), get_args(AnyReply)
    refs, structs = msgspec.json.schema_components([*requests, *replies], ref_template=_REF)
    return {
        "$schema": _DIALECT,
        "title": "The gm client-server protocol",
        "anyOf": [{"$ref": _REF.format(name=name)} for name in ("Request", "Reply")],
        "$defs": {
            "Request": {"title": "Request", "oneOf": list(refs[: len(requests)])},
            "Reply": {"title": "Reply", "anyOf": list(refs[len(requests) :])},
            **{name: _plain(struct) for name, struct in structs.items()},
        },
    }


def _plain(struct: dict[str, Any]) -> dict[str, Any]:
    """Return a struct's schema with its description without markup and on one line (some Pythons indent docstrings)."""
    description = " ".join(_MARKUP.sub(r"\1", struct.get("description", "")).split())
    return struct | {"description": description}


def render() -> str:
    """Return the text of ``protocol/schema.json``."""
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    print(render(), end="")
