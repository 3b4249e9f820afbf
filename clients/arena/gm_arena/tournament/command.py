"""``gmd tournament``: let registered players play a tournament."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import trio

from gm_client.blocking import BadReply, ConnectionLost, GmError
from gm_protocol.options import VARIANT_TRAITS
from gmd.config import ConfigError, load_config

from ..command_line import VARIANTS, read_clock
from ..crosstable import csv_text, drawn_table
from .plan import FORMATS, Entrant, Settings
from .record import Record, RecordError

if TYPE_CHECKING:
    from .director import Daemon, Director

#: The clock where none is given: with three minutes and two seconds a move, a bot that has gone soon loses on time.
#: A variant with a default clock (blind chess) needs none.
DEFAULT_CLOCK = {"initial": 180.0, "increment": 2.0}
#: The folder for tournaments in the data directory, and the suffix of their files.
FOLDER, SUFFIX = "tournaments", ".jsonl"
#: The form of a tournament's name, which is also a file's name.
NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
#: Longer than the 30 seconds of other clients, for an operator who upgrades the daemon meanwhile.
PATIENCE_SECONDS = 300.0


@click.command()
@click.argument("name")
@click.argument("players", nargs=-1, metavar="[PLAYER]...")
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="round-robin",
    show_default=True,
    help="How players are paired.",
)
@click.option(
    "--games",
    type=click.IntRange(1, 1000),
    help="Games that two players play with each other.  [default: 1; in a gauntlet 2]",
)
@click.option("--variant", type=VARIANTS, default="standard", show_default=True, help="Variant of all games.")
@click.option(
    "--clock",
    callback=read_clock,
    metavar="CLOCK",
    help="Clock in seconds: 300, 180+2, 1/0.05 (first move/each later move), none.  [default: 180+2; 900+5 in rbc]",
)
@click.option(
    "--max-moves", type=click.IntRange(1), help="Draw a game after so many moves of each side (in rbc, turns)."
)
@click.option("--ranked", is_flag=True, help="Count the games for the players' ratings (rbc only).")
@click.option(
    "--absence",
    type=click.FloatRange(0),
    default=600.0,
    show_default=True,
    help="Seconds that a player may be away before it forfeits the games that wait for it.",
)
@click.option("--seed", type=int, help="Seed of random choices.  [default: random, and recorded]")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 100),
    default=100,
    show_default=True,
    help="The most games to play at the same time.",
)
@click.option("--resume", is_flag=True, help="Continue the tournament of that name, or in that file.")
@click.option("--csv-out", type=click.Path(path_type=Path), help="Write the table to this file as CSV.")
@click.option("--pgn-out", type=click.Path(path_type=Path), help="Write the games to this file as PGN.")
@click.option(
    "--patience",
    type=click.FloatRange(0),
    default=PATIENCE_SECONDS,
    show_default=True,
    help="Give up after the daemon has been unreachable for so many seconds.",
)
@click.option(
    "--data", help="Data directory of the daemon, which must be running.  [default: the daemon's; or GMD_DATA]"
)
@click.option("--config", "config", type=click.Path(path_type=Path), help="A TOML file of settings.  [or GMD_CONFIG]")
@click.pass_context
def tournament(ctx: click.Context, /, name: str, players: tuple[str, ...], **given: Any) -> None:
    """\b
    Example: gmd tournament spring ada bob cleo --games 2 --clock 180+2

    Let registered players play a tournament.

    NAME is the tournament's name. The PLAYERs take part; without any, all who are online but the server's bots.

    The daemon invites players to their games as they are online and have room. All events are in a file in its
    data directory: if this command is killed, --resume continues, and no game is played twice.

    The table goes to standard output, progress to standard error. Ctrl-C leaves; games in progress go on.
    """
    directory = _directory(given["data"], given["config"])
    path = _path(directory, name, resumes=given["resume"])
    if given["resume"]:
        _check_resumes(ctx, players)
    else:
        _check(given)
    try:
        status = trio.run(_run, directory, path, name, players, given)
    except KeyboardInterrupt:
        click.echo(f"left.{_how_to_go_on(path, directory, given)}", err=True)
        sys.exit(130)
    except RecordError as error:
        raise click.UsageError(str(error)) from None
    except (ConnectionLost, BadReply) as error:
        raise click.ClickException(f"{error}: is gmd serve running?{_how_to_go_on(path, directory, given)}") from None
    except GmError as error:
        raise click.ClickException(f"the daemon refuses: {error}.{_how_to_go_on(path, directory, given)}") from None
    sys.exit(status)


def _how_to_go_on(path: Path, directory: Path, given: dict[str, Any]) -> str:
    """Return the command that continues the tournament and writes the same files, if there is a record to continue."""
    command = ["gmd", "tournament", str(path), "--resume", "--data", str(directory)]
    for option in ("pgn_out", "csv_out"):
        if given[option] is not None:
            command += [f"--{option.replace('_', '-')}", str(given[option])]
    return f" Continue with: {shlex.join(command)}" if path.exists() else ""


async def _run(directory: Path, path: Path, name: str, players: Sequence[str], given: dict[str, Any]) -> int:
    """Play the tournament, or the rest of it; return the exit status."""
    from .director import operator_of

    async with operator_of(directory, given["patience"]) as daemon:
        if given["resume"]:
            record = Record.open(path)
        else:
            record = Record.create(path, _settings(name, await _entrants(daemon, players), given))
        with record:
            await _play(record, daemon, given["concurrency"])
            return await _write_results(record, daemon, given)


async def _play(record: Record, daemon: Daemon, at_once: int) -> None:
    """Play to the end, and report it to the daemon, whose pages show it."""
    from ..contest import reporting
    from .director import Director
    from .results import Lines, TournamentContest

    contest = TournamentContest(record)
    async with reporting(daemon.reports, contest.token, contest.report) as reporter:
        try:
            await _direct(Director(record, daemon, Lines(record, reporter.changed), at_once), record)
        except BaseException:
            contest.status = "stopped"
            raise
        contest.status = "over"


async def _direct(director: Director, record: Record) -> None:
    """Play to the end. Delete the record if the first game is refused, since then no tournament has begun."""
    try:
        await director.run()
    except GmError as error:
        if error.code == "bad_request" and not record.made:
            record.path.unlink()
        raise


async def _entrants(daemon: Daemon, names: Sequence[str]) -> tuple[Entrant, ...]:
    """Return the players named, in that order; by default all who are online, the oldest first, without own bots."""
    if not names:
        entrants = [entrant for entrant in await daemon.here() if entrant.id not in daemon.own_bots]
        if len(entrants) < 2:
            raise click.UsageError(
                f"PLAYER: {len(entrants)} players are online, and a tournament needs two; gmd players --here lists them"
            )
        return tuple(entrants)
    registered = {entrant.name.lower(): entrant for entrant in await daemon.registered()}
    for name in names:
        if name.lower() not in registered:
            raise click.UsageError(f"PLAYER: no player is registered as {name!r}; gmd players lists all")
    entrants = [registered[name.lower()] for name in names]
    twice = next((entrant.name for entrant in entrants if entrants.count(entrant) > 1), None)
    if twice is not None:
        raise click.UsageError(f"PLAYER: {twice!r} is named twice")
    if len(entrants) < 2:
        raise click.UsageError(f"PLAYER: a tournament needs two players, and only {entrants[0].name!r} is named")
    return tuple(entrants)


def _settings(name: str, players: tuple[Entrant, ...], given: dict[str, Any]) -> Settings:
    return Settings(
        name=name,
        id=secrets.token_hex(16),
        format=given["format_"],
        players=players,
        games=given["games"] or (2 if given["format_"] == "gauntlet" else 1),
        terms=_terms(given),
        ranked=given["ranked"],
        absence=given["absence"],
        seed=secrets.randbelow(2**32) if given["seed"] is None else given["seed"],
    )


def _terms(given: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of ``new_game``."""
    traits, clock = VARIANT_TRAITS[given["variant"]], given["clock"]
    terms: dict[str, Any] = {"variant": given["variant"]}
    if clock is not None:
        terms["clock"] = clock or None
    elif traits.clock is None:
        terms["clock"] = DEFAULT_CLOCK
    if traits.draws:
        terms["draws"] = "automatic"  # so that no player needs to claim them
    if given["max_moves"] is not None:
        terms[traits.length] = given["max_moves"]
    return terms


async def _write_results(record: Record, daemon: Daemon, given: dict[str, Any]) -> int:
    """Print the table and write the files; return the exit status."""
    from .results import played_games, table_of

    table = table_of(record)
    click.echo(drawn_table(table, record.settings.name))
    if given["csv_out"] is not None:
        _write(given["csv_out"], csv_text(table))
    if given["pgn_out"] is None:
        return 0
    missing, games = 0, []
    async for written in played_games(record, daemon):
        if written.pgn is None:
            missing += 1
            click.echo(f"game {written.game_id} is left out: the daemon no longer has it", err=True)
        else:
            games.append(f"{written.pgn.rstrip()}\n\n")
    _write(given["pgn_out"], "".join(games))
    return 1 if missing else 0


def _write(path: Path, text: str) -> None:
    """Write a file atomically: it is whole, or not there."""
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text(text, "utf-8")
        part.replace(path)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from None


# --- The command line -------------------------------------------------------------------------------------------


def _directory(data: str | None, config: Path | None) -> Path:
    """Return the data directory of a daemon with the same settings."""
    if config is None and os.environ.get("GMD_CONFIG"):
        config = Path(os.environ["GMD_CONFIG"])
    try:
        found = load_config({} if data is None else {"data": data}, os.environ, config).data
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    if found == ":memory:":
        raise click.UsageError("data: :memory: has no operator's socket; name the daemon's directory with --data")
    directory = Path(found).expanduser()
    if not directory.is_dir():
        raise click.UsageError(f"data: there is no directory {directory}: start gmd serve, or give its --data")
    return directory


def _path(directory: Path, name: str, *, resumes: bool) -> Path:
    """Return the path of a tournament's record."""
    if resumes and (os.sep in name or name.endswith(SUFFIX)):
        return Path(name)
    if not NAME.fullmatch(name):
        raise click.UsageError(f"NAME: {name!r} is not 1 to 64 letters, digits, dots, hyphens and underscores")
    return directory / FOLDER / f"{name}{SUFFIX}"


def _check(given: dict[str, Any]) -> None:
    if given["ranked"] and not VARIANT_TRAITS[given["variant"]].rated:
        raise click.UsageError("--ranked goes with --variant rbc: only blind chess has ratings")


#: The options that may be given for a tournament that has begun.
OF_A_RESUMED = {"resume", "csv_out", "pgn_out", "patience", "data", "config", "concurrency", "name"}


def _check_resumes(ctx: click.Context, players: Sequence[str]) -> None:
    """Refuse options that describe a new tournament: a resumed one keeps its own."""
    given = [
        parameter
        for parameter in ctx.command.params
        if parameter.name not in OF_A_RESUMED
        and ctx.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE
    ]
    if players or given:
        what = "PLAYER" if players else given[0].opts[0]
        raise click.UsageError(f"{what} describes a new tournament; --resume continues one with its own settings")
