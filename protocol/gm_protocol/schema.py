"""The messages as a JSON Schema, generated from the structs.

``python -m gm_protocol.schema > protocol/schema.json`` writes the file for clients in other languages; a test keeps
it current.
"""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import msgspec

from .messages import REQUESTS, AnyReply

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REF = "#/$defs/{name}"

#: The roles and quotes of our docstrings, which mean nothing to a reader of the schema.
_MARKUP = re.compile(r"(?::\w+:)?`+([^`]*)`+")


def schema() -> dict[str, Any]:
    """One document for both directions: ``$defs`` has ``Request``, ``Reply`` and every struct they are made of."""
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
    """A struct's schema with its description in plain words, on one line (docstrings are indented by some Pythons)."""
    description = " ".join(_MARKUP.sub(r"\1", struct.get("description", "")).split())
    return struct | {"description": description}


def render() -> str:
    """The text of ``protocol/schema.json``."""
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    print(render(), end="")
