"""The settings that say where a daemon listens, and where it keeps its games."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from platformdirs import user_data_dir

from gm_protocol.framing import DEFAULT_PORT

# With a wrong clock, pruning would at once remove games that were to be kept for years, and nothing restores them.
TrustClock = Annotated[
    bool,
    Meta(
        description="Prune by this machine's clock, or the database's, even if it is more than a day ahead of the log; "
        "set it for one start, after a long stop."
    ),
]


class Place(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first part of :class:`gmd.config.Config`."""

    host: Annotated[str, Meta(min_length=1, description="Address to listen on; 0.0.0.0 for every IPv4 address.")] = (
        "127.0.0.1"
    )
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
