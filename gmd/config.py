"""The daemon's configuration: one frozen struct, and its loading from the command line, the environment and a file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, structs
from platformdirs import user_data_dir

from gm_protocol.choices import with_choices
from gm_protocol.framing import DEFAULT_MAX_MESSAGE, DEFAULT_PORT

# With a wrong clock, pruning would at once remove games that were to be kept for years, and nothing restores them.
TrustClock = Annotated[
    bool,
    Meta(
        description="Prune by this machine's clock, or the database's, even if it is more than a day ahead of the log; "
        "set it for one start, after a long stop."
    ),
]


#: Longest time that may be set: almost four months, so that every time is a finite number that fits the protocol.
MAX_SECONDS = 10_000_000

LogFormat = Literal["console", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]


class ConfigError(Exception):
    """A configuration that cannot be used; the message names the setting, its value and where it came from."""


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings of ``gmd serve`` and of an embedded daemon; :data:`SERVED` has the one default that differs."""

    host: Annotated[
        str, Meta(min_length=1, description="Address to listen on, for both ports; 0.0.0.0 for every IPv4 address.")
    ] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="TCP port to listen on; 0 takes a free one.")] = DEFAULT_PORT
    tls_cert: (
        Annotated[
            str,
            Meta(description="PEM file of the server's certificate and its chain; needs tls_key, too."),
        ]
        | None
    ) = None
    tls_key: (
        Annotated[str, Meta(description="PEM file of the certificate's private key, without a passphrase.")] | None
    ) = None
    data: Annotated[
        str,
        Meta(min_length=1, description="Directory that games are kept in; with :memory: they are lost at exit."),
    ] = user_data_dir("gmd", appauthor=False)
    database: (
        Annotated[
            str,
            Meta(
                min_length=1,
                description="PostgreSQL database that games are kept in, instead of SQLite: "
                "postgresql://USER@HOST/NAME. data then has the operator's socket. Give a "
                "password by PGPASSWORD, ~/.pgpass or a variable: other users can read a command line.",
            ),
        ]
        | None
    ) = None
    allow_unsafe_database: Annotated[
        bool,
        Meta(
            description="Use a database that does not write to its disk before it answers (fsync or full_page_writes "
            "is off): a crash of its machine may lose games or damage all."
        ),
    ] = False
    standby: Annotated[
        bool,
        Meta(
            description="Wait while another daemon serves the database, and serve it when that one ends; without it, "
            "end at once with an error."
        ),
    ] = True
    lease: Annotated[
        float,
        Meta(
            ge=1,
            le=60,
            description="Seconds after which the database drops a daemon that says nothing: one that is frozen, or cut "
            "off. A standby serves after once or twice that time.",
        ),
    ] = 2.0
    database_timeout: Annotated[
        float,
        Meta(
            ge=0,
            le=86_400,
            description="Seconds for which a start waits for a database that cannot be reached; 0 does not wait.",
        ),
    ] = 60.0

    max_message: Annotated[int, Meta(ge=1024, le=2**30, description="Largest request, in bytes.")] = DEFAULT_MAX_MESSAGE
    # Ten thousand idle sessions cost some 70 MB, 280 under TLS; an operator should choose more deliberately.
    max_connections: Annotated[int, Meta(ge=1, description="Connections open at once.")] = 10_000
    # An operator who needs more of them for one address, for a class or behind a proxy, sets this. When all are open,
    # the address with the most connections gives up some to others.
    max_connections_per_address: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Connections that one address may have; by default half of max_connections, but at most "
                "500 for one of the internet, or all of them where the daemon listens only on loopback addresses.",
            ),
        ]
        | None
    ) = None
    # A thousand moves of each side: the longest tournament game had 269, the longest forced win with seven pieces takes
    # 549, and a game of blind chess has some fifty. The fifty-move rule alone would allow 5,898 moves, the 75-move rule
    # 8,848: a history of that length takes 0.2 seconds of processor time and 5 MB. reconchess itself has no limit.
    max_plies: Annotated[
        int, Meta(ge=1, le=20_000, description="Plies after which any new game is drawn, whatever its own limits.")
    ] = 2_000
    # A thousand moves, each with a clock time and an evaluation, take 160 kB.
    max_pgn: Annotated[int, Meta(ge=1024, le=2**30, description="Longest PGN of a new game, in characters.")] = 262_144
    # The default is a quarter of a processor: some five hundred histories of usual games. All bots on one machine have
    # the same address.
    max_work_per_minute: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Milliseconds of processor time a minute that an address may use for histories and PGNs; a "
                "connection may use half of that. By default 15000, or no limit where only this machine can reach the "
                "daemon.",
            ),
        ]
        | None
    ) = None
    # Half is for games, sixty thousand small ones; half is for connections, most of which hold next to nothing. With
    # the program itself, ten thousand sessions and the caches of positions, a daemon stays below 1 GiB.
    max_memory: Annotated[
        int,
        Meta(ge=1 << 20, description="Bytes of memory for games, requests being received and replies not yet read."),
    ] = 512 << 20
    # A class may share one address: the default of 32 MiB holds 32 requests of the largest size at once.
    max_memory_per_address: (
        Annotated[
            int,
            Meta(
                ge=1 << 16,
                description="Bytes of memory that connections from one address may hold, for requests being received "
                "and replies not yet read; by default a sixteenth of max_memory, or half of it where only this machine "
                "can reach the daemon.",
            ),
        ]
        | None
    ) = None
    # Any connection of today is faster. frame_timeout closes a client that stalls; this bounds how long a client that
    # reads in a trickle makes the daemon keep a long reply.
    min_read_rate: Annotated[
        int,
        Meta(
            ge=1, description="Bytes a second at which a client must read a long reply, once frame_timeout has passed."
        ),
    ] = 16_384
    idle_timeout: Annotated[
        float, Meta(gt=0, le=MAX_SECONDS, description="Seconds a session may be silent while no request is pending.")
    ] = 3600.0
    # A client sends a frame in one write; thirty seconds tolerate the worst networks, but not a trickle.
    frame_timeout: Annotated[
        float,
        Meta(gt=0, le=MAX_SECONDS, description="Seconds for a whole frame to arrive, and for a reply to be read."),
    ] = 30.0
    max_wait: Annotated[float, Meta(ge=0, le=MAX_SECONDS, description="Longest wait, in seconds.")] = 60.0
    start_timeout: Annotated[
        float, Meta(gt=0, le=MAX_SECONDS, description="Seconds for both players' first contact in a game with a clock.")
    ] = 300.0
    # Replaying a game takes milliseconds; five minutes without a request are a long think, or a client that has gone.
    idle_games: Annotated[float, Meta(gt=0, description="Seconds that an unused game stays in memory.")] = 300.0
    require_registration: Annotated[
        bool, Meta(description="Refuse open ids: only registered players may act and be named in new games.")
    ] = False
    # A person mistypes a password a few times; a bot with a wrong key gets an error and stops, or should be stopped.
    max_failures_per_minute: Annotated[
        int, Meta(ge=1, description="Wrong keys and passwords that an address may send in a minute, and wrong codes.")
    ] = 30
    # Each check costs a tenth of a second. The queue has places for a thousand addresses, which do not compete for
    # them; and for a class that logs in at once from one address.
    max_waiting_passwords: Annotated[
        int, Meta(ge=1, description="Passwords that may wait to be checked; those of known players are checked first.")
    ] = 1_024
    max_waiting_passwords_per_address: Annotated[
        int, Meta(ge=1, description="Passwords from one address that may wait to be checked.")
    ] = 64
    # A class registers from one address in one lesson; a name, once taken, stays taken.
    max_registrations_per_hour: Annotated[
        int, Meta(ge=0, description="Players that an address may register in an hour; with 0 only the operator may.")
    ] = 100
    # A class registers at once from one address, which the limits of registrations allow.
    invite: (
        Annotated[
            str,
            Meta(
                min_length=6,
                max_length=256,
                description="Code that players must send to register, as the link printed at the start does; by "
                "default everybody may register. Set it by a variable or in a file: others can read a command line.",
            ),
        ]
        | None
    ) = None
    # The defaults of this and the other limits by address, and the arithmetic behind them, are in gmd/play/quotas.py: a
    # class of 50 bots has one address; on loopback only there is nobody to separate.
    max_registrations_per_day: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Players that an address may register in a day; by default 300, or 100,000 where only this "
                "machine can reach the daemon.",
            ),
        ]
        | None
    ) = None
    max_rekeys_per_hour: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="New keys that an address may get in an hour; by default 600, or 100,000 where only this "
                "machine can reach the daemon.",
            ),
        ]
        | None
    ) = None
    # A double round robin of 50 bots has 2,450 games; the default allows four of them an hour. A game stays in the
    # log as a row and some events.
    max_games_per_hour: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Games that an address may create in an hour, with any request; by default 10,000, or "
                "10,000,000 where only this machine can reach the daemon.",
            ),
        ]
        | None
    ) = None
    # The 50 bots of a class play 25 games at a time; the others are games that nobody has ended.
    max_unfinished_games: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Games created from an address that may be unfinished at a time, those that wait for "
                "players included; by default 10,000, or 1,000,000 where only this machine can reach the daemon.",
            ),
        ]
        | None
    ) = None
    # All players are in memory: some hundred bytes each.
    max_players: Annotated[int, Meta(ge=1, description="Most players that may be registered.")] = 100_000
    # reconchess's client asks every five seconds whether it is invited, and starts a game at once if it has room.
    invitation_timeout: Annotated[
        float, Meta(gt=0, le=MAX_SECONDS, description="Seconds that an invitation waits for its answer.")
    ] = 300.0
    # The players that new_game names need not be online: a bot that is started once a day finds its seats.
    kept_seat_timeout: Annotated[
        float,
        Meta(gt=0, le=MAX_SECONDS, description="Seconds that a new_game game waits for the players it invites."),
    ] = 86_400.0
    max_invitations: Annotated[
        int, Meta(ge=1, description="Invitations from one player that may wait for answers at a time.")
    ] = 20
    # In a class of 50 bots, the other 49 can invite one of them to four games each. That is two pages of a listing.
    max_invitations_received: Annotated[
        int,
        Meta(
            ge=1,
            description="Invitations to one player that may wait for its answer at a time; beyond that, one from a "
            "player that sent few displaces the newest from the player that sent most.",
        ),
    ] = 200
    # The default is for a class of 50 bots, each with as many as max_invitations allows.
    max_invitations_from_address: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Invitations from an address that may wait for answers at a time; by default 1,000, or "
                "20,000 where only this machine can reach the daemon.",
            ),
        ]
        | None
    ) = None
    # A class plays from one address; each invitation is a game in the log, even if nobody plays it.
    max_invitations_per_minute: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Invitations and seeks that an address may send in a minute; by default 1,500, or 60,000 "
                "where only this machine can reach the daemon.",
            ),
        ]
        | None
    ) = None
    # The default is twelve times the interval between two requests of reconchess's client.
    presence_timeout: Annotated[
        float,
        Meta(gt=0, le=MAX_SECONDS, description="Seconds that a player without a session is active after a request."),
    ] = 60.0
    anchors: (
        Annotated[
            str,
            Meta(
                description="Players with fixed ratings, separated by commas, as in random-bot=1000; the others are "
                "rated relative to them."
            ),
        ]
        | None
    ) = None
    # At least a day: for a day after its end, a wait for any game may return a finished game, so it must still exist.
    keep_finished: (
        Annotated[float, Meta(ge=1, le=100_000, description="Days a finished game is kept; by default for ever.")]
        | None
    ) = None
    trust_clock: TrustClock = False
    http: Annotated[bool, Meta(description="Serve HTTP, too: reconchess's API, metrics, health.")] = False
    http_host: (
        Annotated[str, Meta(min_length=1, description="Address to serve HTTP on; by default that of host.")] | None
    ) = None
    http_port: Annotated[int, Meta(ge=0, le=65535, description="TCP port to serve HTTP on; 0 takes a free one.")] = 7180
    pages: Annotated[bool, Meta(description="Serve pages for browsers over HTTP: to watch, to replay and to play.")] = (
        True
    )
    http_tls: Annotated[
        bool,
        Meta(description="Use TLS for HTTP if there is a certificate for it; a proxy may want plaintext."),
    ] = True
    http_tls_cert: (
        Annotated[str, Meta(description="PEM file of HTTP's own certificate; by default HTTP uses that of tls_cert.")]
        | None
    ) = None
    http_tls_key: (
        Annotated[str, Meta(description="PEM file of the private key of http_tls_cert, without a passphrase.")] | None
    ) = None
    health_host: Annotated[str, Meta(min_length=1, description="Address of the health port.")] = "127.0.0.1"
    health_port: (
        Annotated[
            int,
            Meta(
                ge=0,
                le=65535,
                description="TCP port for /healthz and /metrics only, in plaintext, even where HTTP is off; 0 takes a "
                "free one. By default there is none.",
            ),
        ]
        | None
    ) = None
    # An idle connection costs some 20 KB; a browser opens six.
    http_max_connections: Annotated[int, Meta(ge=1, description="HTTP connections open at once.")] = 1_000
    # As for max_connections_per_address. It does not limit a proxy of trusted_proxies, which many clients share.
    http_max_connections_per_address: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="HTTP connections that one address may have; by default half of http_max_connections, but "
                "at most 500 for one of the internet, or all of them where HTTP is served only on loopback addresses.",
            ),
        ]
        | None
    ) = None
    # Elsewhere than on loopback, names decide nothing: other machines reach the server anyway.
    public_host: (
        Annotated[
            str,
            Meta(
                description="Names, separated by commas, by which a proxy on this machine forwards HTTP. On loopback "
                "other names that a site can have are refused: it could read the server by a browser of this machine."
            ),
        ]
        | None
    ) = None
    trusted_proxies: (
        Annotated[
            str,
            Meta(
                description="Addresses and networks of proxies, separated by commas, that are believed when they say "
                "for whom they connect: on HTTP by X-Forwarded-For, on the game port as proxy_protocol says."
            ),
        ]
        | None
    ) = None
    proxy_protocol: Annotated[
        bool,
        Meta(
            description="Have every connection from trusted_proxies to the game port begin with a header of the PROXY "
            "protocol, version 1 or 2, which gives the client's address."
        ),
    ] = False
    metrics_token: (
        Annotated[
            str,
            Meta(
                min_length=1,
                description="Token that Prometheus must send for /metrics (Authorization: Bearer); by default only "
                "clients on this machine may read it. Set it by a variable or in a file: others read command lines.",
            ),
        ]
        | None
    ) = None
    # A game's process costs half a second of processor time to start, and some 50 MB; none runs without a game.
    bots: Annotated[
        str,
        Meta(
            min_length=1,
            description="Bots that play whoever invites them, separated by commas: minimax, random, recon-zero (needs "
            "the extra train), expectation (needs Stockfish), single levels such as minimax-club; or all, for those "
            "that have what they need; or none.",
        ),
    ] = "none"
    bot_games: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=100,
                description="Games that those bots play at a time, each in a process; by default as many as there are "
                "processors.",
            ),
        ]
        | None
    ) = None
    # The slowest level thinks five seconds a move; the processors may have other work.
    bot_move_timeout: Annotated[
        float,
        Meta(gt=0, le=MAX_SECONDS, description="Seconds for a bot's move without a clock; then it counts as hung."),
    ] = 120.0
    # The bot's process is started again when the move comes; with a clock, the bot's time runs meanwhile.
    bot_idle_timeout: Annotated[
        float,
        Meta(
            gt=0,
            le=MAX_SECONDS,
            description="Seconds without a move of the opponent after which a game gives its place to one that waits "
            "for a bot.",
        ),
    ] = 60.0
    # Only gmd serve uses these two: a program that embeds the daemon configures structlog itself.
    log_format: Annotated[
        LogFormat, Meta(description="Format of the log on standard error: for people, or one JSON object a line.")
    ] = "console"
    log_level: Annotated[
        LogLevel, Meta(description="Lowest level logged: debug has every refused request, info every ended session.")
    ] = "info"
    spectate: Annotated[
        Literal["live", "after"],
        Meta(description="When spectators see the hidden parts of a game: while it is live, or after its end."),
    ] = "after"
    spectator_key: (
        Annotated[
            str,
            Meta(
                description="Key that a spectator must send to see live games in full, where other machines can reach "
                "the daemon. Set it by a variable or in a file: other users can read a command line."
            ),
        ]
        | None
    ) = None
    # The daemon exits within five seconds of SIGTERM: four for pending requests, the rest for closing.
    stop_timeout: Annotated[
        float,
        Meta(ge=0, le=MAX_SECONDS, description="Seconds for pending requests to finish when the daemon stops."),
    ] = 4.0


#: Defaults of ``gmd serve``. An embedded daemon serves no HTTP and runs no bots unless its configuration
#: asks for that.
SERVED = Config(http=True, bots="all")
#: Default configuration of an embedded daemon: free ports, so that it conflicts with nothing, and no files.
EMBEDDED = Config(port=0, http_port=0, data=":memory:")

#: Prefix of the environment variables: ``GMD_PORT`` sets ``port``.
ENVIRONMENT_PREFIX = "GMD_"

#: Variables with that prefix that are not settings: the path of the file, and one that this project's tests read.
OTHER_VARIABLES = frozenset({"GMD_CONFIG", "GMD_REQUIRE_ALL"})

#: Settings whose values must never be printed.
SECRETS = frozenset({"database", "invite", "metrics_token", "spectator_key"})

#: What msgspec says of a text that is not of a setting's type; and plain names of these types.
_NOT_TEXT = re.compile(r"Expected `(?P<type>int|float|bool)(?: \| null)?`, got `str`")
_TYPES = {"int": "a whole number", "float": "a number", "bool": "true or false"}


def load_config(flags: Mapping[str, object], environment: Mapping[str, str], file: Path | None = None) -> Config:
    """Load the configuration. A flag wins over the environment, the environment over the file, the file over defaults.

    :param flags: the settings on the command line.
    :param environment: environment variables, of which those named ``GMD_`` and a setting's name in capitals are read.
    :param file: a TOML file of settings.
    :raises ConfigError: a setting is unknown, or its value cannot be used.
    """
    settings = structs.asdict(SERVED)
    if file is not None:
        settings |= _checked(_read_toml(file), f"file {file}")
    names = {ENVIRONMENT_PREFIX + name.upper(): name for name in Config.__struct_fields__}
    set_there = {name: environment[variable] for variable, name in names.items() if variable in environment}
    settings |= _checked(set_there, "environment", strict=False)
    settings |= _checked(flags, "command line")
    return msgspec.convert(settings, Config)


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables that have the prefix but are not settings, each with the setting that may be meant."""
    settings = [name.upper() for name in Config.__struct_fields__]
    named = {name.removeprefix(ENVIRONMENT_PREFIX) for name in environment if name.startswith(ENVIRONMENT_PREFIX)}
    unknown = named.difference(settings, (name.removeprefix(ENVIRONMENT_PREFIX) for name in OTHER_VARIABLES))
    meant = {name: get_close_matches(name, settings, n=1) for name in sorted(unknown)}
    return {
        ENVIRONMENT_PREFIX + name: ENVIRONMENT_PREFIX + close[0] if close else None for name, close in meant.items()
    }


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"config: {file} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"config: {file} is not TOML: {error}") from error


def _hint(name: str) -> str:
    """Return the end of the sentence about an unknown setting."""
    meant = get_close_matches(name, Config.__struct_fields__, n=1)
    return f"; did you mean {meant[0]}?" if meant else "; `gmd serve --help` lists the settings"


def _checked(settings: Mapping[str, object], source: str, *, strict: bool = True) -> dict[str, Any]:
    """Return the settings, validated and converted to their types.

    :param strict: whether values must have their types; otherwise they are texts, as in environment variables.
    """
    checked: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in Config.__struct_fields__:
            raise ConfigError(f"{name}: the {source} has this setting, and gmd has none of that name{_hint(name)}")
        try:
            checked[name] = getattr(msgspec.convert({name: value}, Config, strict=strict), name)
        except msgspec.ValidationError as error:
            what = with_choices(error, Config).split(" - at ")[0]
            shown = "the value" if name in SECRETS else repr(value)
            if not strict:
                raise ConfigError(f"{ENVIRONMENT_PREFIX}{name.upper()}: {shown} {_wrong_text(what)}") from None
            raise ConfigError(f"{name}: {shown} from the {source} cannot be used: {what}") from None
    return checked


def _wrong_text(what: str) -> str:
    """Return the end of the sentence about a variable whose text cannot be used, from what msgspec says."""
    of_type = _NOT_TEXT.fullmatch(what)
    return f"is not {_TYPES[of_type['type']]}" if of_type else f"cannot be used: {what}"
