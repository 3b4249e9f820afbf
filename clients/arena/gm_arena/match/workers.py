"""Where games of a match are played: in this process, or by the workers of a :mod:`gm_arena.pool`, alone or in step.

A worker makes the bots and the terms of the match again from its arguments, which are all that is sent to it.
"""

from __future__ import annotations

import json
import logging
import pickle
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any, NamedTuple

import chess
import trio

from gm_client.blocking import PATIENCE_SECONDS, VERSION, BadReply, ConnectionLost, GmError
from gm_protocol.endings import Ending
from gm_recon.pgn import VARIANT, movetext
from gmd.games.notation import pgn_termination, run_through, write_pgn_steps

from ..bot import BotUnusable
from ..bridge import Server
from ..command_line import address
from ..endings import CAUSES
from ..in_step import BotsInStep, EndedInStep, GameInStep
from ..stopping import unless_stopped
from .game import Contestant, MatchError, Playing, hash_of
from .in_progress import Ask, spectator
from .plan import Fixture
from .record import Record
from .settings import Entrant, entrants_of, terms_of

#: The longest game in step, in turns of each side, unless another is given: most longer ones would be drawn.
MOST_TURNS = 150


@dataclass(frozen=True)
class Setup:
    """The arguments of a match, as workers get them.

    :ivar texts: the bots, as on the command line; ``players`` are their players on the server.
    :ivar given: the options of ``gmd match``, by name.
    :ivar where: the address of the server; None for a daemon in the worker.
    :ivar who: the fields of ``hello`` of the registered player whose bots they are, if there is one.
    :ivar token: names the match on a server that is not its own.
    """

    texts: tuple[str, ...]
    given: Mapping[str, Any]
    variant: str
    players: tuple[int | str, ...]
    where: str | None
    who: Mapping[str, Any] | None
    token: str | None

    def packed(self) -> bytes:
        """Return the setup in the form in which it is sent."""
        return pickle.dumps(self)


class Prepared(NamedTuple):
    """A setup, and the bots that its texts name."""

    setup: Setup
    entrants: list[Entrant]


@lru_cache(maxsize=1)
def prepared(packed: bytes) -> Prepared:
    """Return a setup with its bots, which a worker makes only once: they may have a network to load."""
    setup: Setup = pickle.loads(packed)
    return Prepared(setup, entrants_of(setup.texts, setup.given))


def play_game(packed: bytes, fixture: Fixture) -> list[Record]:
    """Play a game, in a worker; return its record.

    :raises MatchError, ConnectionLost: as :meth:`Playing.play`.
    :raises Stopped: a signal came.
    """
    setup, entrants = prepared(packed)
    level = logging.INFO if setup.given["verbose"] else logging.ERROR
    logging.basicConfig(level=level, stream=sys.stderr, format="%(message)s", force=True)
    try:
        return [trio.run(unless_stopped, partial(_play, setup, entrants, fixture), (signal.SIGTERM,))]
    except (GmError, BadReply) as error:  # some of which cannot be pickled
        raise MatchError(str(error)) from None


async def _play(setup: Setup, entrants: Sequence[Entrant], fixture: Fixture) -> Record:
    contestants = [
        Contestant(entrant.label, entrant.bots, player) for entrant, player in zip(entrants, setup.players, strict=True)
    ]
    terms = terms_of(setup.variant, setup.given, all_here=True)
    if setup.where is not None:
        server = servers(setup.where, setup.given, setup.who)
        return await Playing(server, contestants, terms, setup.token).play(fixture)
    error: Exception | None = None
    async with served(setup.given) as (where, _):
        try:
            return await Playing(servers(where, setup.given, setup.who), contestants, terms).play(fixture)
        except Exception as raised:  # raised after the daemon has closed, since it is not the daemon's
            error = raised
    raise error


# --- Servers ------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def served(given: Mapping[str, Any]) -> AsyncIterator[tuple[str, Ask]]:
    """Yield the address to play on, of the server given or of a daemon in this process, and what asks it.

    The latter sees hidden games in this process alone.
    """
    if given["server"] is not None:
        yield given["server"], spectator(servers(given["server"], given, None)(None))
        return
    from gmd.cli.own_commands import import_structlog

    import_structlog()
    from gmd import Config, DataError, open_daemon
    from gmd.cli.process import prepare_process

    try:
        async with open_daemon(Config(port=0, data=":memory:")) as daemon:
            prepare_process()  # the whole process belongs to the match
            yield address(*daemon.addresses[0]), daemon.ask_as_operator
    except ConnectionLost:  # an OSError, of the games
        raise
    except (DataError, OSError) as error:
        raise MatchError(f"the daemon cannot be started: {error}") from None


def servers(
    where: str, given: Mapping[str, Any], who: Mapping[str, Any] | None
) -> Callable[[int | str | None], Server]:
    """Return a function from a player to its connection; bots of a registered player always connect as that player."""
    hello = {"client": f"gmd-match/{VERSION}"}

    def server(player: int | str | None) -> Server:
        named = who if who is not None else {} if player is None else {"player": player}
        return Server(where, tls=given["tls"], patience=PATIENCE_SECONDS, hello={**hello, **named})

    return server


# --- Games in step ------------------------------------------------------------------------------------------------


def in_step(entrants: Sequence[Entrant], fixture: Fixture) -> Callable[[Sequence[Fixture], int, int], list[Record]]:
    """Return a function that plays games of two bots in step: games, seed and plies at most; it returns their records.

    :param fixture: a game of the two.
    :raises BotUnusable: neither plays in step, or not against the other.
    """
    both = sorted(fixture.bots)
    number = next((number for number in both if isinstance(entrants[number].bots, BotsInStep)), None)
    if number is None:
        names = " nor ".join(entrants[number].label for number in both)
        raise BotUnusable(f"--in-step: neither {names} plays games in step; recon-zero does")
    own, other = entrants[number], entrants[both[1] if number == both[0] else both[0]]
    assert isinstance(own.bots, BotsInStep)
    if other.bots is None:
        raise BotUnusable(f"--in-step: {other.label} plays elsewhere")
    play = own.bots.against(other.bots, other.spec)

    def played(fixtures: Sequence[Fixture], seed: int, plies: int) -> list[Record]:
        began, started = time.monotonic(), datetime.now(UTC)
        games = [GameInStep(f"{hash_of(seed, each.number)}", each.white == number) for each in fixtures]
        ended = play(games, plies)
        seconds = round((time.monotonic() - began) / len(games), 3)
        return [_record(each, entrants, game, started, seconds) for each, game in zip(fixtures, ended, strict=True)]

    return played


def play_in_step(packed: bytes, fixtures: Sequence[Fixture]) -> list[Record]:
    """Play games of two bots in step, in a worker; return their records."""
    setup, entrants = prepared(packed)
    plies = 2 * (setup.given["max_moves"] or MOST_TURNS)
    return in_step(entrants, fixtures[0])(fixtures, setup.given["seed"], plies)


def _record(
    fixture: Fixture, entrants: Sequence[Entrant], game: EndedInStep, started: datetime, seconds: float
) -> Record:
    history = game.history
    white, black = (entrants[number].label for number in fixture.bots)
    result = {None: "1/2-1/2", chess.WHITE: "1-0", chess.BLACK: "0-1"}[history.winner]
    reason = history.win_reason
    ending = None if reason is None else Ending(CAUSES[reason], winner=history.winner)
    termination = "" if ending is None else ending.termination
    headers = {
        "Event": "gmd match",
        "Site": "?",
        "Date": f"{started:%Y.%m.%d}",
        "Round": str(fixture.number),
        "White": white,
        "Black": black,
        "Result": result,
        "Variant": VARIANT,
        "Termination": pgn_termination(ending),
        "GmdTermination": termination,
    }
    return {
        "game": fixture.number,
        "white": white,
        "black": black,
        "opening": fixture.opening.name,
        "start_fen": history.start_fen,
        "pair": fixture.pair,
        "result": result,
        "termination": termination,
        "ending": game.ending,
        "plies": len(history.turns),
        "moves": ["0000" if turn.taken is None else turn.taken.uci() for turn in history.turns],
        "faults": {},
        "variant": "rbc",
        "clock": None,
        "game_id": None,
        "started": f"{started:%Y-%m-%dT%H:%M:%SZ}",
        "seconds": seconds,
        "times": {"white": [], "black": []},
        "pgn": run_through(write_pgn_steps(headers, movetext(history), result)),
        "history": json.loads(history.to_json(white, black)),
    }
