"""The attacks of a hostile client: ``python -m bench.hostile.attacks NAME HOST PORT HTTP_PORT``, until it is ended.

Each attack is a generator that yields once, after its preparation; the attack itself follows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from . import connections, work
from .target import Target, raise_limits

Attack = Callable[[Target], Iterator[None]]

ATTACKS: dict[str, Attack] = {
    attack.__name__.replace("_", "-"): attack
    for attack in (
        *(work.histories, work.pgns, work.invitations, work.games, work.long_games, work.passwords, work.listings),
        *(work.settings, work.spectators, work.many_games, work.flags),
        *(connections.unread, connections.slow_readers, connections.short_frames, connections.small_frames),
        *(connections.half_bodies, connections.unread_responses, connections.half_heads, connections.idle_sessions),
        *(connections.many_addresses, connections.tls_pipelines, connections.tls_unread, connections.chunks),
        *(connections.churn, connections.junk),
    )
}

#: The attacks on a daemon whose HTTP port has TLS.
UNDER_TLS = frozenset(["tls-pipelines", "tls-unread"])


def main() -> None:
    """Attack until ended."""
    name, host, port, http_port = sys.argv[1:]
    raise_limits()
    attack = ATTACKS[name](Target((host, int(port)), (host, int(http_port))))
    next(attack)
    print("prepared", flush=True)
    next(attack)


if __name__ == "__main__":
    main()
