"""A match as its command line describes it: its bots, its terms, and the arguments that a resumed match must share."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from gm_protocol.options import VARIANT_TRAITS

from ..bot import Bots, BotUnusable
from ..command_line import read_options
from ..process import memory_for
from ..specs import RECONCHESS, bots_of, takes_limits
from ..sprt import Sprt
from .adjudication import DRAW, RESIGN, DrawRule, ResignRule, Rules
from .game import Contestant, Terms
from .openings import openings_for
from .options import Words, number
from .plan import Fixture, fixtures

#: Milliseconds of a move that are not charged to the bot, where all bots play here: more than any machine
#: takes that is fit for bots that think in milliseconds, and no bot gains by it.
LAG = 1000

#: Ids of open players: on somebody else's server, the bots take consecutive ids from a random one of these.
OPEN_PLAYERS = 2**51

SPRT = Words(
    "--sprt",
    {"elo0": number, "elo1": number, "alpha": number, "beta": number, "model": str},
    ("elo0", "elo1"),
    "--sprt elo0=0 elo1=10",
)

#: NAME=BOT. The first = of a bot without a name, if any, comes after a colon or a bracket.
_NAMED = re.compile(r"(?P<name>[^=:\[\]]+)=(?P<spec>.+)", re.DOTALL)

#: Options that do not affect which games are played.
_OF_NO_MATTER = (
    *("concurrency", "ray", "resume", "verbose", "pgn_out", "json_out", "csv_out"),
    *("key", "player", "server", "tls"),
)


@dataclass(frozen=True)
class Entrant:
    """A bot named on the command line.

    :ivar bots: None if it plays on the server independently, as ``remote``: an id, or a registered player's name.
    """

    label: str
    spec: str
    bots: Bots | None
    remote: int | str | None = None

    def contestant(self, player: int | str, name: str | None = None) -> Contestant:
        """Return the contestant.

        :param player: the player it plays as, if it plays here.
        :param name: the name of that player, if the command line has it: a remote player of this name is that player.
        """
        return Contestant(self.label, self.bots, player if self.remote in (None, name) else self.remote)


def entrants_of(texts: Sequence[str], given: Mapping[str, Any]) -> list[Entrant]:
    """Return the bots, each with a label of its own.

    :raises BotUnusable: a text names no bot.
    """
    max_memory = memory_for(None, given["concurrency"] or os.cpu_count() or 1)
    entrants: list[Entrant] = []
    for text in texts:
        name, spec = name_and_spec(text)
        spec = RECONCHESS.get(spec, spec)
        entrants.append(entrant_of(own_label(name, entrants), spec, given, max_memory))
    return entrants


def name_and_spec(text: str) -> tuple[str, str]:
    """Return the name and the bot of ``NAME=BOT``; a ``BOT`` alone is its own name."""
    match = _NAMED.fullmatch(text)
    return (match["name"], match["spec"]) if match else (text, text)


def own_label(name: str, others: Sequence[Entrant]) -> str:
    """Return a label that none of the others has."""
    label, number = name, 2
    while any(label == other.label for other in others):
        label, number = f"{name} #{number}", number + 1
    return label


def entrant_of(label: str, spec: str, given: Mapping[str, Any], max_memory: int | None) -> Entrant:
    """Return one bot.

    :param max_memory: bytes for each process of the bot; None for no limit.
    :raises BotUnusable: the text names no bot.
    """
    if spec.startswith("gm:"):
        who = spec.removeprefix("gm:")
        if not who:
            raise BotUnusable(f"{spec!r} is not a player: write gm:ID or gm:NAME")
        return Entrant(label, spec, None, int(who) if who.removeprefix("-").isdecimal() else who)
    options = read_options(given["options"])
    limits: dict[str, Any] = {"seconds": given["movetime"], "depth": given["depth"], "nodes": given["nodes"]}
    if not takes_limits(spec):
        options, limits = {}, dict.fromkeys(limits)
    return Entrant(label, spec, bots_of(spec, options=options, **limits, max_memory=max_memory))


def variant_of(entrants: Sequence[Entrant], given: Mapping[str, Any]) -> str:
    """Return the variant: the one given, or the default of the first bot that plays here.

    :raises click.UsageError: a bot does not play it.
    """
    local = [entrant for entrant in entrants if entrant.bots is not None]
    default = next((entrant.bots.defaults["variant"] for entrant in local if entrant.bots is not None), "standard")
    variant = str(given["variant"] or default)
    for entrant in local:
        if entrant.bots is not None and variant not in entrant.bots.variants:
            plays = ", ".join(sorted(entrant.bots.variants))
            raise click.UsageError(f"{entrant.label} plays {plays}, and not {variant}; choose another with --variant")
    return variant


def terms_of(variant: str, given: Mapping[str, Any], *, all_here: bool) -> Terms:
    """Return the terms that all games share.

    :param all_here: whether all bots play in this process, which can then report how long they thought.
    """
    traits = VARIANT_TRAITS[variant]
    options: dict[str, Any] = {"draws": "automatic"} if traits.draws else {}
    if given["clock"] is not None:
        options["clock"] = given["clock"] or None
    if given["max_moves"] is not None:
        options[traits.length] = given["max_moves"]
    lag = LAG if all_here and options.get("clock") else 0
    grace = {name: value / 1000.0 for name, value in (("margin", given["margin"]), ("lag", lag)) if value}
    if grace:
        options.setdefault("clock", traits.clock_fields)
        if not options.get("clock"):
            raise click.UsageError(f"{next(iter(grace))} needs a clock: give --clock as well")
        options["clock"] = {**options["clock"], **grace}
    rules = rules_of(variant, given, all_here=all_here)
    return Terms(variant, options, given["seed"], rules)


def plan_of(entrants: Sequence[Entrant], terms: Terms, given: Mapping[str, Any]) -> list[Fixture]:
    """Return all games.

    :raises OpeningsUnusable: the file of openings cannot be used.
    """
    openings = openings_for(
        terms.variant,
        given["openings"],
        plies=given["plies"],
        seed=given["seed"],
        in_order=given["in_order"],
        most=given["games"],  # two bots play no more
        options=terms.options,
    )
    return fixtures(len(entrants), given["games"], openings, kind=given["tournament"])


def sprt_of(words: Sequence[str]) -> Sprt | None:
    """Return the test that ``--sprt elo0=0 elo1=10`` asks for.

    :raises click.UsageError: the words do not describe a test.
    """
    try:
        return Sprt(**SPRT.read(words)) if words else None
    except ValueError as error:
        raise click.UsageError(f"--sprt: {error}") from None


def rules_of(variant: str, given: Mapping[str, Any], *, all_here: bool) -> Rules:
    """Return how the games are adjudicated.

    :raises click.UsageError: the words describe no rule, or the rule can never apply.
    """
    resign, draw = RESIGN.read(given["resign"]), DRAW.read(given["draw"])
    if draw and not VARIANT_TRAITS[variant].draws:
        raise click.UsageError(f"--draw: no draw can be agreed in {variant}; leave it out")
    if not all_here and (draw or resign.get("twosided")):
        option = "--draw" if draw else "--resign twosided=true"
        raise click.UsageError(f"{option} needs the scores of both bots, and one plays elsewhere")
    return Rules(ResignRule(**resign) if resign else None, DrawRule(**draw) if draw else None)


def arguments_of(texts: Sequence[str], variant: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that decide which games are played, for the record: a match resumes only with the same."""
    arguments = {name: value for name, value in given.items() if name not in _OF_NO_MATTER}
    openings: Path | None = given["openings"]
    arguments["openings"] = None if openings is None else f"sha256:{hashlib.sha256(openings.read_bytes()).hexdigest()}"
    return {"bots": list(texts), **arguments, "variant": variant}
