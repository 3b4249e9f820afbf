"""The file ``protocol/schema.json`` agrees with the structs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gm_protocol.messages import REQUESTS
from gm_protocol.schema import render

FILE = Path(__file__).parents[2] / "protocol" / "schema.json"


@pytest.mark.slow
def test_schema_file_is_current_and_has_every_kind_and_whatever_it_refers_to() -> None:
    text = FILE.read_text("utf-8")
    assert text == render(), "run: python -m gm_protocol.schema > protocol/schema.json"
    definitions = json.loads(text)["$defs"]
    requests = [definitions[ref["$ref"].rpartition("/")[2]] for ref in definitions["Request"]["oneOf"]]
    assert {kind for request in requests for kind in request["properties"]["kind"]["enum"]} == set(REQUESTS)
    assert {part.split('"')[0] for part in text.split("#/$defs/")[1:]} <= set(definitions)
