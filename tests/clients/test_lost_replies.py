"""Whatever is lost on the way, a client registers once, knows its key, takes one seat and makes one game and move."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

import gmd
from gm_client import ConnectionLost, GmError, blocking
from gmd.background import BackgroundDaemon
from tests.clients.python_clients import Json, JsonPeer
from tests.clients.running import PATIENCE
from tests.clients.scripted import Peer, ScriptedServer, serving
from tests.clients.sessions import Opener, all_but
from tests.helpers import cheap_passwords

PASSWORD = "correct horse"
#: Unused names.
NAMES = map("robbed-{}".format, count())

either = pytest.mark.parametrize("before", [False, True], ids=["its reply is lost", "it is lost"])


@pytest.fixture(scope="module")
def daemon() -> Iterator[BackgroundDaemon]:
    limits: Json = {"max_registrations_per_hour": 1000, "max_failures_per_minute": 1000}
    with gmd.background_daemon(gmd.Config(port=0, data=":memory:", **limits)) as running:
        running.run(_cheapen)
        yield running


async def _cheapen(daemon: gmd.Daemon) -> None:
    daemon.authenticator.passwords = cheap_passwords()


@contextmanager
def losing(port: int, *kinds: str, before: bool = False) -> Iterator[ScriptedServer]:
    """Yield a proxy to a daemon that loses one reply of each of these kinds, and the connection with it.

    :param before: lose the request instead.
    """
    remaining = list(kinds)

    def script(peer: Peer, requests: list[bytes]) -> None:
        upstream = blocking.Connection.open(port=port)
        try:
            while (body := peer.read()) is not None:
                requests.append(body)
                loses = json.loads(body)["kind"] in remaining
                if loses:
                    remaining.remove(json.loads(body)["kind"])
                if not (loses and before):
                    upstream.send(body)
                    reply = upstream.receive(PATIENCE)
                if loses:
                    return JsonPeer(peer).reset()
                peer.write(reply)
        except (ConnectionError, ConnectionLost):
            pass  # the client has gone, or the daemon has ended the session
        finally:
            upstream.close()
        return None

    with serving(script) as server:
        yield server
    assert not remaining


def owns(daemon: BackgroundDaemon, player: int, key: str) -> bool:
    """Return whether a key belongs to a player."""
    with blocking.connect(port=daemon.port) as client:
        try:
            client.hello(player=player, key=key)
        except GmError:
            return False
    return True


@either
def test_player_registers_rekeys_joins_and_plays_once(opened: Opener, daemon: BackgroundDaemon, before: bool) -> None:
    """The session has no player, as the clients without a key of their own recommend."""
    players = len(daemon.ask_as_operator("players")["players"])
    lost = ("register", "rekey", "join", "new_game", "move")
    with losing(daemon.port, *lost, before=before) as server, opened(server.port) as session:
        first = session.ask("register", name=next(NAMES))
        me, old = first["player"], first["key"]
        new = session.ask("rekey", player=me, key=old)["key"]
        game = daemon.ask("new_game", player_white=7, player_black=None)["game_id"]
        assert session.ask("join", game_id=game, player=me, key=new)["seat"] == "black"
        own = session.ask("new_game", player_white=me, player_black=7, player=me, key=new)["game_id"]
        moved = session.ask("move", game_id=own, move="e4", ply=0, player=me, key=new)
    assert moved["state"]["ply_index"] == 1
    assert len(daemon.ask_as_operator("players")["players"]) == players + 1
    assert (owns(daemon, me, new), owns(daemon, me, old)) == (True, False)
    assert {row["game_id"] for row in daemon.ask("games", player=me)["games"]} == {game, own}


@all_but("gmcat", "c")
@either
@pytest.mark.parametrize("way", ["player and key", "name and key", "name and password"])
def test_session_that_rekeys_goes_on_with_its_new_key(
    opened: Opener, daemon: BackgroundDaemon, way: str, before: bool
) -> None:
    name = next(NAMES)
    me = daemon.ask_as_operator("register", name=name, password=PASSWORD)
    fields: Json = {
        "player and key": {"player": me["player"], "key": me["key"]},
        "name and key": {"name": name, "key": me["key"]},
        "name and password": {"name": name, "password": PASSWORD},
    }[way]
    with losing(daemon.port, "rekey", "ping", before=before) as server, opened(server.port, **fields) as session:
        key = session.ask("rekey")["key"]
        assert session.ask("new_game", player_white=me["player"], player_black=7)["error"] is None
        assert session.ask("ping")["error"] is None  # on another connection
        last = json.loads(server.sessions[-1][0])
    assert (last["key"], "password" in last) == (key, False)
    assert (owns(daemon, me["player"], key), owns(daemon, me["player"], me["key"])) == (True, False)


def test_request_with_the_token_of_an_earlier_one_gets_its_reply_but_no_key_that_is_in_use(
    daemon: BackgroundDaemon,
) -> None:
    """A bot may repeat its registration after a restart, with a token that it kept."""
    fields: Json = {"name": next(NAMES), "token": "kept in a file"}
    first = daemon.ask("register", **fields)
    assert daemon.ask("register", **fields) == first
    assert owns(daemon, first["player"], first["key"])
    assert daemon.ask("register", **fields) == {**first, "key": None}
    rekeyed = daemon.ask_as_operator("rekey", name=first["name"], token="t")
    assert daemon.ask_as_operator("rekey", name=first["name"], token="t") == rekeyed
