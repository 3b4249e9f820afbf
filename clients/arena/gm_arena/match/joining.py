"""What machines that join one match tell each other through the server: which match it is, and how its games ended."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gm_client.blocking import VERSION, PlayedGame

from ..contest import plain
from .game import MatchError
from .plan import Fixture
from .record import Record

#: The most characters of an argument; of a longer one the machines compare a digest.
LONGEST_ARGUMENT = 300
#: Characters of a digest of moves, hexadecimal: two games of a match do not have the same one by chance.
DIGEST = 16


@dataclass(frozen=True)
class Joining:
    """A match that several machines play, and one of them.

    :ivar token: names the match on the server, and its contest.
    :ivar worker: names this machine.
    :ivar arguments: of the match, as ``NAME=VALUE``: all machines have the same.
    :ivar lease: seconds without a word from a machine after which others get its games.
    """

    token: str
    worker: str
    arguments: list[str]
    lease: float


def token_of(name: str) -> str:
    """Return the token of the match that ``--join NAME`` names. The server adds the player to it."""
    return hashlib.sha256(f"gmd match --join {name}".encode()).hexdigest()


def compared(arguments: Mapping[str, Any]) -> list[str]:
    """Return the arguments that decide which games are played, as machines compare them; gmd's version is one."""
    texts = {"gmd": VERSION} | {name: _text(value) for name, value in arguments.items() if name != "join"}
    return [f"{name}={text}" for name, text in texts.items()]


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) > LONGEST_ARGUMENT or plain(text, len(text)) != text:
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    return text


def played_game(record: Record) -> PlayedGame:
    """Return what the other machines need of a game that was played here."""
    played = json.dumps([record["start_fen"], record["moves"]]).encode()
    digest = hashlib.sha256(played).hexdigest()[:DIGEST]
    detail = f"{digest} {record['plies']} {record['seconds']:.3f} {record['ending']}"
    return PlayedGame(
        number=record["game"], result=record["result"], game_id=record["game_id"], detail=plain(detail, 200)
    )


def record_of(game: PlayedGame, fixture: Fixture, labels: Sequence[str], times: Mapping[str, Any]) -> Record:
    """Return a game as the summary of the whole match needs it, whichever machine played it.

    It has a digest in place of its start and its moves, so that repeated games are recognised.

    :param times: the times of the moves, if it was played here; empty for another machine's.
    :raises MatchError: the game was not reported by a machine of this match.
    """
    try:
        digest, plies, seconds, ending = game["detail"].split(" ", 3)
        numbers = {"plies": int(plies), "seconds": float(seconds)}
    except ValueError:
        raise MatchError(f"game {fixture.number} was reported by something else than gmd match") from None
    return {
        "game": fixture.number,
        "white": labels[fixture.white],
        "black": labels[fixture.black],
        "opening": fixture.opening.name,
        "start_fen": "",
        "pair": fixture.pair,
        "result": game["result"],
        "ending": ending,
        "moves": [digest],
        "game_id": game.get("game_id"),
        "times": times,
        **numbers,
    }
