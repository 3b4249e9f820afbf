"""The Python clients as registered players of a daemon: keys, seats, and invitations."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple

import pytest

import gmd
from gm_bots.examples import Wanderer
from gm_client import GmError, blocking, connect, run
from gm_protocol.base import FIRST_REGISTERED
from gmd.background import BackgroundDaemon
from tests.clients.python_clients import Clients, Json
from tests.helpers import cheap_passwords

PASSWORD = "correct horse"
#: Unused names.
NAMES = map("bot-{}".format, count())


@contextmanager
def open_house(**settings: Any) -> Iterator[BackgroundDaemon]:
    """Yield a daemon with passwords that cost little."""
    with gmd.background_daemon(gmd.Config(port=0, data=":memory:", **settings)) as daemon:
        daemon.run(_cheapen)
        yield daemon


async def _cheapen(daemon: gmd.Daemon) -> None:
    daemon.authenticator.passwords = cheap_passwords()


@pytest.fixture(scope="module")
def house() -> Iterator[BackgroundDaemon]:
    """Yield a daemon that accepts registrations."""
    with open_house(max_registrations_per_hour=1000, max_failures_per_minute=1000) as daemon:
        yield daemon


class Player(NamedTuple):
    """A registered player."""

    id: int
    name: str
    key: str


def registered(house: BackgroundDaemon, **fields: Any) -> Player:
    reply = house.ask_as_operator("register", name=next(NAMES), **fields)
    assert reply["key"] is not None
    return Player(reply["player"], reply["name"], reply["key"])


@contextmanager
def refusal(code: str) -> Iterator[None]:
    """Assert that the server refuses a request in this context with this code."""
    with pytest.raises(GmError) as caught:
        yield
    assert caught.value.code == code, caught.value


# Identity.


def test_registration_returns_a_key_that_hello_accepts(clients: Clients, house: BackgroundDaemon) -> None:
    name = next(NAMES)
    reply = clients.connect(house.port).register(name, password=PASSWORD)
    assert reply["player"] > FIRST_REGISTERED
    assert (reply["name"], len(reply["key"]), reply["error"]) == (name, 43, None)
    for fields in (
        {"player": reply["player"], "key": reply["key"]},
        {"name": name.upper(), "key": reply["key"]},
        {"name": name, "password": PASSWORD},
    ):
        client = clients.connect(house.port, **fields)
        assert client.player == reply["player"]
        game = client.new_game(reply["player"], 7)
        assert client.move(game["game_id"], "e4")["state"]["last_move"] == "e2e4"


def test_key_can_come_with_each_request(clients: Clients, house: BackgroundDaemon) -> None:
    me = registered(house)
    client = clients.connect(house.port)
    game_id = client.new_game(me.id, 7, player=me.id, key=me.key)["game_id"]
    with refusal("unauthorized"):
        client.move(game_id, "e4", player=me.id)
    assert client.move(game_id, "e4", player=me.id, key=me.key)["error"] is None


# Players.


def test_player_that_waits_for_its_next_game_is_invited_to_one_at_a_time(house: BackgroundDaemon) -> None:
    host, guest = registered(house), registered(house)
    login: dict[str, Any] = {"port": house.port, "name": guest.name, "key": guest.key}
    with connect(port=house.port, name=host.name, key=host.key) as client, ThreadPoolExecutor() as threads:
        first = client.new_game(host.id, guest.id, variant="rbc", max_turns=1)["game_id"]
        played = threads.submit(run, Wanderer(), **login)
        run(Wanderer(), first, port=house.port, name=host.name, key=host.key)
        played.result(60)
        with connect(**login):  # present
            client.challenge(guest.name, variant="rbc")
            with refusal("not_available"):
                client.challenge(guest.name, variant="rbc")


# New keys.


def test_session_that_rekeys_continues_and_others_end(clients: Clients, house: BackgroundDaemon) -> None:
    me = registered(house)
    client = clients.connect(house.port, player=me.id, key=me.key)
    other = clients.connect(house.port, player=me.id, key=me.key)
    new = client.rekey()["key"]
    assert new not in (None, me.key)
    assert client.games(player=me.id)["error"] is None
    assert client.new_game(me.id, 7)["error"] is None
    with refusal("unauthorized"):
        other.new_game(me.id, 7)
    assert other.hello(name=me.name, key=new)["player"] == me.id
    assert other.new_game(me.id, 7)["error"] is None


def test_revoked_player_is_refused_at_once_until_it_gets_a_new_key(clients: Clients, house: BackgroundDaemon) -> None:
    me = registered(house, password=PASSWORD)
    by_key = clients.connect(house.port, player=me.id, key=me.key)
    by_password = clients.connect(house.port, name=me.name, password=PASSWORD)
    assert house.ask_as_operator("revoke", name=me.name)["player"] == me.id
    for client in (by_key, by_password):
        with pytest.raises(GmError) as caught:  # the session has ended, and the hello of the next one is refused
            client.new_game(me.id, 7)
        assert (caught.value.code, caught.value.kind) == ("unauthorized", "hello")
    (row,) = [row for row in house.ask_as_operator("players")["players"] if row["player"] == me.id]
    assert (row["revoked"], row["password"]) == (True, False)
    new = house.ask_as_operator("rekey", player=me.id)["key"]
    assert clients.connect(house.port, player=me.id, key=new).player == me.id
    with refusal("unauthorized"):
        by_key.ping()


# Seats.


def turns_of(client: Any, rng: random.Random, most: int, **options: Any) -> list[tuple[int, str]]:
    """Play in all games of a client, and return the game and color of this many turns."""
    made = []
    for turn in client.turns(**options):
        made.append((turn.game_id, turn.color))
        turn.move(rng.choice(turn.move_actions))
        if len(made) == most:
            break
    return made


def test_loop_over_all_games_accepts_invitations(clients: Clients, house: BackgroundDaemon) -> None:
    me, you = registered(house), registered(house)
    mine = clients.connect(house.port, player=me.id, key=me.key)
    yours = clients.connect(house.port, player=you.id, key=you.key)
    game = mine.new_game(you.id, me.id)
    game_id = game["game_id"]
    assert game["state"]["phase"] == "open"
    assert [row["game_id"] for row in yours.games(player=you.id, status="open")["games"]] == [game_id]
    assert turns_of(yours, random.Random(1), 1) == [(game_id, "white")]
    assert turns_of(mine, random.Random(2), 1) == [(game_id, "black")]
    assert yours.state(game_id)["state"]["ply_index"] == 2


def test_declined_invitation_does_not_hold_up_other_games(clients: Clients, house: BackgroundDaemon) -> None:
    me, you = registered(house), registered(house)
    mine = clients.connect(house.port, player=me.id, key=me.key)
    yours = clients.connect(house.port, player=you.id, key=you.key)
    refused = [mine.new_game(you.id, me.id, variant="crazyhouse")["game_id"] for _ in range(3)]
    game_id = mine.new_game(you.id, me.id)["game_id"]
    asked = []

    def invited(state: Json) -> bool:
        asked.append(state["game_id"])
        return bool(state["variant"] == "standard")

    assert turns_of(yours, random.Random(1), 1, invited=invited) == [(game_id, "white")]
    assert turns_of(mine, random.Random(2), 1) == [(game_id, "black")]
    assert asked == [*refused, game_id]
    for each in refused:
        assert yours.state(each)["state"]["phase"] == "open"


def test_invitations_beyond_the_limit_are_declined(clients: Clients, house: BackgroundDaemon) -> None:
    """Otherwise strangers could keep a bot from its turns by endless invitations."""
    me = registered(house)
    mine = clients.connect(house.port, player=me.id, key=me.key)
    with blocking.connect(port=house.port, player=7) as theirs:
        refused = [theirs.new_game(7, me.id, brief=True)["game_id"] for _ in range(102)]
        game_id = mine.new_game(7, me.id)["game_id"]  # its turn would come before the invitations
        asked: list[int] = []

        def invited(state: Any) -> None:
            asked.append(state["game_id"])
            if asked[-1] == refused[-1]:
                theirs.move(game_id, "e4")

        assert turns_of(mine, random.Random(1), 1, invited=invited) == [(game_id, "black")]
        assert asked == refused
        ends = [theirs.state(each, brief=True)["state"]["termination"] for each in refused]
    assert ends == ["available_move"] * 100 + ["declined"] * 2


def test_open_seat_is_found_and_taken(clients: Clients, house: BackgroundDaemon) -> None:
    me, you = registered(house), registered(house)
    mine = clients.connect(house.port, player=me.id, key=me.key)
    yours = clients.connect(house.port, player=you.id, key=you.key)
    game_id = mine.new_game(None, me.id)["game_id"]
    assert game_id in [row["game_id"] for row in yours.games(status="open", player=None)["games"]]
    with refusal("not_a_player"):
        next(yours.turns(game_id))
    joined = yours.join(game_id)
    assert (joined["seat"], joined["state"]["player_white"], joined["state"]["phase"]) == ("white", you.id, "move")
    assert yours.join(game_id)["seat"] == "white"
    next(yours.turns(game_id)).move("e4")
    assert next(mine.turns(game_id)).state["last_move"] == "e2e4"
    late = registered(house)
    with refusal("not_available"):
        clients.connect(house.port, player=late.id, key=late.key).join(game_id)


def test_loop_continues_after_a_rekey(clients: Clients, house: BackgroundDaemon) -> None:
    """In trio the loop has its own connection, whose session ends with the rekey."""
    me = registered(house)
    client = clients.connect(house.port, player=me.id, key=me.key)
    turns = client.turns(client.new_game(me.id, me.id)["game_id"])
    first = next(turns)
    client.rekey()
    first.move("e4")
    assert next(turns).move("e5")["state"]["ply_index"] == 2
