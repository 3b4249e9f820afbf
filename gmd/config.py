"""The daemon's configuration: one frozen struct behind flags, environment and file."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct
from platformdirs import user_data_dir

from gm_protocol.framing import DEFAULT_MAX_MESSAGE, DEFAULT_PORT

#: Longest time that may be set: some months, so that every time is a number that clients can be told.
MAX_SECONDS = 10_000_000

LogFormat = Literal["console", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]


class ConfigError(Exception):
    """A configuration that cannot be used; the message names the setting, its value and where it came from."""


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every setting of ``gmd serve``, and of an embedded daemon; the one difference is :data:`SERVED`."""

    host: Annotated[str, Meta(min_length=1, description="Address to listen on; 0.0.0.0 for every IPv4 address.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Meta(ge=0, le=65535, description="TCP port to listen on; 0 takes a free one.")] = DEFAULT_PORT
    tls_cert: (
        Annotated[
            str,
            Meta(description="PEM file of the server's certificate, and those that vouch for it; goes with tls_key."),
        ]
        | None
    ) = None
    tls_key: (
        Annotated[str, Meta(description="PEM file of the certificate's private key, without a passphrase.")] | None
    ) = None
    data: Annotated[
        str,
        Meta(min_length=1, description="Directory that games are kept in; with :memory: they end with the daemon."),
    ] = user_data_dir("gmd", appauthor=False)
    max_message: Annotated[int, Meta(ge=1024, le=2**30, description="Largest request, in bytes.")] = DEFAULT_MAX_MESSAGE
    # Ten thousand idle sessions cost some 70 MB, 280 under TLS; beyond that an operator should mean it.
    max_connections: Annotated[int, Meta(ge=1, description="Connections open at once.")] = 10_000
    # Whoever needs more than half of them from one address, for a class or behind a proxy, is to say so. Before that,
    # whoever has the most gives up places to others.
    max_connections_per_address: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Connections that one address may have; without this, half of max_connections, or all of "
                "them where the daemon listens on loopback addresses alone.",
            ),
        ]
        | None
    ) = None
    # A thousand moves of each side: the longest game of a tournament had 269, the longest forced win of seven pieces
    # takes 549, and a game of blind chess has some fifty. The fifty-move rule alone would allow 5,898, the 75-move rule
    # 8,848: a history of so many takes 0.2 seconds of the processor, and 5 MB. reconchess has no limit of its own.
    max_plies: Annotated[
        int, Meta(ge=1, le=20_000, description="Plies after which a new game is drawn, whatever its own limits say.")
    ] = 2_000
    # A thousand moves with a clock time and an evaluation at each are 160 kB.
    max_pgn: Annotated[int, Meta(ge=1024, le=2**30, description="Longest PGN of a new game, in characters.")] = 262_144
    # A quarter of a processor: some five hundred histories of usual games. All bots of one machine have one address.
    max_work_per_minute: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Milliseconds of processor time that an address may take for histories and PGNs in a "
                "minute, and a connection half of that; without this 15000, and no limit where only this machine can "
                "reach the daemon.",
            ),
        ]
        | None
    ) = None
    # Half is the games', sixty thousand small ones; half the connections', of which most hold next to nothing. With
    # the program itself, ten thousand sessions and the caches of positions a daemon stays below 1 GiB.
    max_memory: Annotated[
        int,
        Meta(
            ge=1 << 20, description="Bytes that games, requests on their way and replies not taken may fill in memory."
        ),
    ] = 512 << 20
    # Behind one address may be a class: 32 MiB are as many requests of the largest size on their way at a time.
    max_memory_per_address: (
        Annotated[
            int,
            Meta(
                ge=1 << 16,
                description="Bytes of requests on their way, and of replies not taken, that connections from one "
                "address may hold; without this, a sixteenth of max_memory, or where only this machine can reach the "
                "daemon, half of it.",
            ),
        ]
        | None
    ) = None
    # Any connection of today has more. A client that stalls has frame_timeout; this bounds how long one that trickles
    # makes the daemon keep a long reply.
    min_read_rate: Annotated[
        int,
        Meta(
            ge=1, description="Bytes a second that a client must take of a long reply, once frame_timeout has passed."
        ),
    ] = 16_384
    idle_timeout: Annotated[
        float, Meta(gt=0, le=MAX_SECONDS, description="Seconds a session may be silent while nothing is asked.")
    ] = 3600.0
    # A frame is one write of a client's; thirty seconds is patience with the worst of networks, not with trickling.
    frame_timeout: Annotated[
        float,
        Meta(gt=0, le=MAX_SECONDS, description="Seconds for a frame to arrive whole, and for a reply to be taken."),
    ] = 30.0
    max_wait: Annotated[float, Meta(ge=0, le=MAX_SECONDS, description="Longest wait, in seconds.")] = 60.0
    start_timeout: Annotated[
        float, Meta(gt=0, le=MAX_SECONDS, description="Seconds for both seats of a game with a clock to be heard from.")
    ] = 300.0
    # A game replays in milliseconds; five minutes is a long thought, or a client that has gone.
    idle_games: Annotated[float, Meta(gt=0, description="Seconds a game that nobody asks for stays in memory.")] = 300.0
    require_registration: Annotated[
        bool, Meta(description="Refuse open ids: only registered players act, and are named in new games.")
    ] = False
    # A person mistypes a password a few times; a bot that has the wrong key is told so and stops, or should be stopped.
    max_failures_per_minute: Annotated[
        int, Meta(ge=1, description="Wrong keys and passwords that an address may send in a minute.")
    ] = 30
    # Each costs a tenth of a second of work. These are places for a thousand addresses, none of which takes another's;
    # and for a class that comes in at once from its one address.
    max_waiting_passwords: Annotated[
        int, Meta(ge=1, description="Passwords that may wait to be compared; known players' are compared first.")
    ] = 1_024
    max_waiting_passwords_per_address: Annotated[
        int, Meta(ge=1, description="Passwords that may wait to be compared for one address.")
    ] = 64
    # A class registers from one address in one lesson; a name, once taken, stays taken.
    max_registrations_per_hour: Annotated[
        int, Meta(ge=0, description="Players that an address may register in an hour; with 0 the operator alone may.")
    ] = 100
    # The defaults of this and the other limits by address, and the arithmetic behind them, are in gmd/quotas.py: a
    # class of 50 bots has one address; on loopback alone there is nobody to be kept apart.
    max_registrations_per_day: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Players that an address may register in a day; without this 300, and where only this "
                "machine can reach the daemon 100,000.",
            ),
        ]
        | None
    ) = None
    max_rekeys_per_hour: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="New keys that an address may ask for in an hour; without this 600, and where only this "
                "machine can reach the daemon 100,000.",
            ),
        ]
        | None
    ) = None
    # A double round robin of 50 bots has 2,450 games; this is four an hour. A game is a row and some events, for ever.
    max_games_per_hour: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Games that an address may make in an hour, in whatever way; without this 10,000, and "
                "where only this machine can reach the daemon 10,000,000.",
            ),
        ]
        | None
    ) = None
    # Of 50 bots in one class 25 games are on at a time; the others are those that nobody has ended.
    max_unfinished_games: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Games made from an address that may be on, or wait for their players, at a time; without "
                "this 10,000, and where only this machine can reach the daemon 1,000,000.",
            ),
        ]
        | None
    ) = None
    # All players are in memory: some hundred bytes each.
    max_players: Annotated[int, Meta(ge=1, description="Registered players there may be.")] = 100_000
    # reconchess's client asks every five seconds whether it is invited, and starts a game at once if it has room.
    invitation_timeout: Annotated[
        float, Meta(gt=0, le=MAX_SECONDS, description="Seconds that an invitation waits for its answer.")
    ] = 300.0
    # Whoever new_game names need not be here: a bot that is started once a day finds what was kept for it.
    kept_seat_timeout: Annotated[
        float,
        Meta(gt=0, le=MAX_SECONDS, description="Seconds that a game which new_game made waits for whom it invites."),
    ] = 86_400.0
    max_invitations: Annotated[
        int, Meta(ge=1, description="Invitations of a player's that may wait for answers at a time.")
    ] = 20
    # The other 49 of a class of 50 bots invite one of them to four games each. They are two pages of a listing.
    max_invitations_received: Annotated[
        int,
        Meta(
            ge=1,
            description="Invitations to a player that may wait for its answer at a time; beyond that whoever sent few "
            "displaces those of whoever sent most.",
        ),
    ] = 200
    # A class of 50 bots, each with as many as max_invitations allows.
    max_invitations_from_address: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Invitations from an address that may wait for answers at a time; without this 1,000, and "
                "where only this machine can reach the daemon 20,000.",
            ),
        ]
        | None
    ) = None
    # A class plays from one address; each invitation is a game in the log, though nobody plays it.
    max_invitations_per_minute: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="Invitations and seeks that an address may send in a minute; without this 1,500, and where "
                "only this machine can reach the daemon 60,000.",
            ),
        ]
        | None
    ) = None
    # Twelve times as long as reconchess's client waits between two requests.
    presence_timeout: Annotated[
        float,
        Meta(gt=0, le=MAX_SECONDS, description="Seconds that a player without a session is active after a request."),
    ] = 60.0
    anchors: (
        Annotated[
            str,
            Meta(
                description="Players whose ratings are given, with commas between them, as in random-bot=1000; others "
                "are rated beside them."
            ),
        ]
        | None
    ) = None
    # For a day after its end a game is due to players who wait for any of theirs: it must still be there to be shown.
    keep_finished: (
        Annotated[float, Meta(ge=1, le=100_000, description="Days a finished game is kept; without this, for ever.")]
        | None
    ) = None
    # A wrong clock would remove in a moment what was to be kept for years, and nothing brings it back.
    trust_clock: Annotated[
        bool,
        Meta(
            description="Prune by this machine's clock though it is more than a day ahead of the log: for one start, "
            "after a long stop."
        ),
    ] = False
    http: Annotated[bool, Meta(description="Whether to serve HTTP too: reconchess's API, metrics, health.")] = False
    http_host: Annotated[str, Meta(min_length=1, description="Address to serve HTTP on.")] = "127.0.0.1"
    http_port: Annotated[int, Meta(ge=0, le=65535, description="TCP port to serve HTTP on; 0 takes a free one.")] = 7180
    http_tls: Annotated[
        bool,
        Meta(description="Whether HTTP speaks TLS where there is a certificate for it; a proxy may want plaintext."),
    ] = True
    http_tls_cert: (
        Annotated[str, Meta(description="PEM file of HTTP's own certificate; without this, HTTP has that of tls_cert.")]
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
                description="TCP port for /healthz and /metrics alone, in plaintext, also where HTTP is off; 0 takes a "
                "free one. Without this there is none.",
            ),
        ]
        | None
    ) = None
    # An idle one costs some 20 KB; a browser opens six.
    http_max_connections: Annotated[int, Meta(ge=1, description="HTTP connections open at once.")] = 1_000
    # As for max_connections_per_address. A proxy of trusted_proxies, by which many come, has no share.
    http_max_connections_per_address: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="HTTP connections that one address may have; without this, half of http_max_connections, "
                "or all of them where HTTP is served on loopback addresses alone.",
            ),
        ]
        | None
    ) = None
    trusted_proxies: (
        Annotated[
            str,
            Meta(
                description="Addresses and networks of HTTP proxies, with commas between them, whose X-Forwarded-For "
                "says where requests come from; from anybody else it is ignored."
            ),
        ]
        | None
    ) = None
    metrics_token: (
        Annotated[
            str,
            Meta(
                min_length=1,
                description="What Prometheus shows for /metrics (Authorization: Bearer); without this, anybody who "
                "reaches it reads it. Better a variable or in a file: other users can read a command line.",
            ),
        ]
        | None
    ) = None
    # These two are for gmd serve alone: a program that embeds the daemon configures structlog itself.
    log_format: Annotated[
        LogFormat, Meta(description="How the log on standard error is written: for people, or a JSON object a line.")
    ] = "console"
    log_level: Annotated[
        LogLevel, Meta(description="What is logged: debug has every refused request, info every session that ended.")
    ] = "info"
    spectate: Annotated[
        Literal["live", "after"],
        Meta(description="When somebody without a seat sees what a game hides: while it is live, or after its end."),
    ] = "after"
    spectator_key: (
        Annotated[
            str,
            Meta(
                description="What a spectator shows to see live games, where not only this machine can reach the "
                "daemon. Better a variable or in a file: other users can read a command line."
            ),
        ]
        | None
    ) = None
    # SIGTERM to exit within five seconds: four for what is in hand, the rest to close.
    stop_timeout: Annotated[
        float,
        Meta(ge=0, le=MAX_SECONDS, description="Seconds for the requests in hand when the daemon is told to stop."),
    ] = 4.0


#: What ``gmd serve`` runs with where nothing else is said. A daemon embedded in a program opens no port unasked.
SERVED = Config(http=True)
#: What an embedded daemon runs with where no configuration is given: it is in nobody's way, and leaves nothing behind.
EMBEDDED = Config(port=0, http_port=0, data=":memory:")
