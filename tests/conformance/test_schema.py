"""The file ``protocol/schema.json`` agrees with the structs."""

from __future__ import annotations

import json
from pathlib import Path

from gm_protocol.messages import REQUESTS
from gm_protocol.schema import render, schema

FILE = Path(__file__).parents[2] / "protocol" / "schema.json"


def test_schema_file_is_current() -> None:
    assert FILE.read_text("utf-8") == render(), "run: python -m gm_protocol.schema > protocol/schema.json"


def test_schema_contains_every_kind() -> None:
    definitions = schema()["$defs"]
    requests = [definitions[ref["$ref"].rpartition("/")[2]] for ref in definitions["Request"]["oneOf"]]
    assert {kind for request in requests for kind in request["properties"]["kind"]["enum"]} == set(REQUESTS)


def test_every_reference_in_the_schema_resolves() -> None:
    text = json.dumps(schema())
    names = {part.split('"')[0] for part in text.split("#/$defs/")[1:]}
    assert names <= set(schema()["$defs"])
