"""Plays the match that a command line describes, on this machine alone or together with others."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..sprt import Sprt
from ..stopping import Stopped
from . import settings
from .joined import JoinedMatch
from .joining import Joining, compared, token_of
from .match import Match, Text
from .record import RecordFile
from .settings import Entrant
from .text import summary_text


def play_match(
    texts: Sequence[str],
    entrants: Sequence[Entrant],
    variant: str,
    given: dict[str, Any],
    *,
    sprt: Sprt | None = None,
    text: Text = summary_text,
) -> int:
    """Play a match, and print its result; return the exit status.

    :param texts: the bots as they are recorded: a match continues only with the same.
    :param given: the options of ``gmd match``, by name.
    :param text: returns the text that is printed at the end.
    :raises RecordUnusable: the record cannot be written, or belongs to another match.
    """
    terms = settings.terms_of(variant, given, all_here=all(entrant.bots is not None for entrant in entrants))
    plan = settings.plan_of(entrants, variant, given)
    arguments = settings.arguments_of(texts, variant, given)
    record = _record(given, arguments)
    if given["join"] is None:
        match = Match(entrants, terms, plan, sprt, record, given, text)
    else:
        joining = _joining(given, record, arguments)
        match = JoinedMatch(entrants, terms, plan, sprt, record, given, text, joining)
    try:
        match.play()
    except Stopped as stopped:
        return stopped.status
    finally:
        if record is not None:
            record.close()
    return 0


def _record(given: dict[str, Any], arguments: dict[str, Any]) -> RecordFile | None:
    path: Path | None = given["json_out"]
    if path is None:
        return None
    return RecordFile.resume(path, arguments) if given["resume"] else RecordFile.begin(path, arguments)


def _joining(given: dict[str, Any], record: RecordFile | None, arguments: dict[str, Any]) -> Joining:
    worker = secrets.token_hex(16) if record is None else record.contest  # the same when it is resumed
    return Joining(token_of(given["join"]), worker, compared(arguments), given["lease"])
