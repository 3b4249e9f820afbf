"""Sphinx extension: writes the tables of the reference that the code already has, before the pages are read."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Sequence
from inspect import getdoc
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints
from urllib.request import urlopen

import msgspec
from msgspec import NODEFAULT
from msgspec.structs import FieldInfo, fields
from prometheus_client.parser import text_string_to_metric_families
from sphinx.application import Sphinx

from gm_env import INFORMATION, INFORMATION_HEADER, OBSERVATION, PRIVILEGED
from gm_protocol.errors import ERRORS
from gmd import background_daemon
from gmd.config import EMBEDDED, SERVED, Config
from gmd.games.events import AnyEvent


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("builder-inited", write_tables)
    return {"parallel_read_safe": True}


def write_tables(app: Sphinx) -> None:
    """Write each table into ``_generated``, from where pages include it."""
    folder = Path(app.srcdir) / "_generated"
    folder.mkdir(exist_ok=True)
    tables = {
        "settings": settings(),
        "errors": errors(),
        "events": events(),
        **of_a_daemon(),
        "observation": numbered("plane", OBSERVATION),
        "information": numbered("column", INFORMATION),
        "information-header": numbered("number", INFORMATION_HEADER),
        "privileged": numbered("plane", PRIVILEGED),
    }
    for name, lines in tables.items():
        (folder / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


TYPES = {str: "text", int: "whole number", float: "number", bool: "true or false"}


def settings() -> Iterator[str]:
    """Yield the settings, an entry for each field of the configuration."""
    hints = get_type_hints(Config, include_extras=True)
    for name in Config.__struct_fields__:
        hint = next((part for part in get_args(hints[name]) if get_origin(part) is Annotated), hints[name])
        kind, meta = hint.__origin__, hint.__metadata__[0]
        word = "one of " + ", ".join(get_args(kind)) if get_origin(kind) is Literal else TYPES[kind]
        served, embedded = (_default(name, getattr(each, name)) for each in (SERVED, EMBEDDED))
        default = served if served == embedded else f"{served}, embedded {embedded}"
        yield from (f"`{name}` ({word}; default {default})", f": {meta.description}", "")


def _default(name: str, value: object) -> str:
    if name == "data" and str(value).startswith("/"):
        return "your user's data directory"
    return "none" if value is None else f"`{value}`"


def errors() -> Iterator[str]:
    """Yield the table of error codes."""
    yield "| code | what it means |"
    yield "|---|---|"
    for code, error in ERRORS.items():
        meaning, *_ = (getdoc(error) or "").split("\n\n")
        yield f"| `{code}` | {' '.join(meaning.split())} |"


def events() -> Iterator[str]:
    """Yield the table of the events of a game, from their docstrings."""
    yield "| event | fields | meaning |"
    yield "|---|---|---|"
    for event in get_args(AnyEvent):
        shapes = (f"`{each.name}`{_json_default(each)}" for each in fields(event))
        meaning = re.sub(r":\w+:`", "`", " ".join((getdoc(event) or "").split())).replace("None", "null")
        yield f"| `{event.__struct_config__.tag}` | {', '.join(shapes)} | {meaning} |"


def _json_default(field: FieldInfo) -> str:
    if field.required:
        return ""
    value = field.default if field.default_factory is NODEFAULT else field.default_factory()
    return f" ({msgspec.json.encode(value).decode()})"


def of_a_daemon() -> dict[str, Iterator[str]]:
    """Return the tables of HTTP routes and of metrics, from what a daemon serves."""
    logging.getLogger("gmd").setLevel(logging.ERROR)  # Sphinx would show what the daemon logs
    config = Config(port=0, http=True, http_port=0, data=":memory:")
    with background_daemon(config) as daemon:
        found = {}
        for name in ("schema", "metrics"):
            with urlopen(f"http://127.0.0.1:{daemon.http_port}/{name}") as response:
                found[name] = response.read().decode()
    return {"routes": routes(json.loads(found["schema"])["paths"]), "metrics": metrics(found["metrics"])}


def metrics(text: str) -> Iterator[str]:
    """Yield the table of metrics, from Prometheus's text format."""
    yield "| metric | type | meaning |"
    yield "|---|---|---|"
    for family in text_string_to_metric_families(text):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        yield f"| `{name}` | {family.type} | {family.documentation} |"


def routes(paths: dict[str, Any]) -> Iterator[str]:
    """Yield the table of HTTP routes, from the paths of the OpenAPI document."""
    yield "| route | what it does |"
    yield "|---|---|"
    for path, methods in paths.items():
        for method, operation in methods.items():
            text = operation.get("description") or operation.get("summary") or ""
            yield f"| `{method.upper()} {path}` | {' '.join(text.split())} |"


def numbered(kind: str, names: Sequence[str]) -> Iterator[str]:
    """Yield a table of the planes, columns or numbers of an encoding."""
    yield from (f"| {kind} | content |", "|---|---|")
    yield from (f"| {number} | {name} |" for number, name in enumerate(names))
