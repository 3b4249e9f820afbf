"""The way of a request through gmd's own code: how many calls it makes, in how many modules.

A call is a function that begins in the thread of the event loop, in ``gmd`` and ``gm_protocol``, between the arrival of
the request and a moment after its reply. What instruments do in every turn of the loop does not count. The log is
SQLite's. The counts are a sign of how much there is to read, and no measure of time.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.client import HTTPConnection
from itertools import cycle, islice
from pathlib import Path
from statistics import median_low
from types import FrameType

import trio

import gm_protocol
import gmd

from .load import Connection
from .turns import MOVES, SQUARE_NUMBER, Player, basic_authorization, new_game

#: The code that is counted.
OURS = tuple(f"{Path(str(module.__file__)).parent}/" for module in (gmd, gm_protocol))
#: The most calls that each kind of request should make, and the most modules.
CALLS, MODULES = {"version 1 move": 250, "RBC sense": 250, "HTTP move": 350, "page of a live game": 700}, 35
#: Requests of each kind; the median is printed.
TIMES = 7
#: Seconds in which the daemon does what a connection that has ended leaves to do; and what a request does after its
#: reply, which is less than the time until the loop next wakes by itself.
REST, AFTER = 0.2, 0.02
#: What trio calls in every turn of the loop.
OF_TURNS = frozenset({"before_io_wait", "after_io_wait"})

#: Counts the calls while it is entered.
Counted = Callable[[str], AbstractContextManager[None]]


class Count:
    """The files of all calls of our code, by the kind of request."""

    def __init__(self) -> None:
        self.files: dict[str, list[list[str]]] = {kind: [] for kind in CALLS}

    @contextmanager
    def during(self, kind: str) -> Iterator[None]:
        """Count the calls in the event loop, which runs in another thread."""
        begun: dict[FrameType, str] = {}

        def note(frame: FrameType, event: str, _: object) -> None:
            path = frame.f_code.co_filename
            if event == "call" and path.startswith(OURS) and frame not in begun and not _is_of_turn(frame):
                begun[frame] = path

        time.sleep(REST)
        trio.from_thread.run_sync(sys.setprofile, note)
        yield
        time.sleep(AFTER)
        trio.from_thread.run_sync(sys.setprofile, None)
        self.files[kind].append(list(begun.values()))


def _is_of_turn(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name in OF_TURNS:
            return True
        frame = frame.f_back
    return False


def measure() -> None:
    """Print the calls and the modules of each kind of request, and the aims."""
    count = trio.run(_counted)
    print(f"{'':22}{'calls':>8}{'aim':>6}{'modules':>10}{'aim':>6}")
    for kind, found in count.files.items():
        calls, modules = median_low(map(len, found)), median_low(len(set(files)) for files in found)
        print(f"{kind:22}{calls:8}{CALLS[kind]:6}{modules:10}{MODULES:6}")


async def _counted() -> Count:
    count = Count()
    with tempfile.TemporaryDirectory() as data:
        config = gmd.Config(data=data, port=0, http=True, http_port=0, bots="none")
        async with gmd.open_daemon(config) as daemon:
            assert daemon.http_port is not None
            await trio.to_thread.run_sync(_play, daemon.port, daemon.http_port, count.during)
    return count


def _play(port: int, http_port: int, counted: Counted) -> None:
    wire, web = Connection(("127.0.0.1", port)), HTTPConnection("127.0.0.1", http_port)
    wire.ask("hello")
    _chess(port, wire, web, counted)
    _senses(wire, counted)
    _http(wire, web, counted)
    wire.close()
    web.close()


def _chess(port: int, wire: Connection, web: HTTPConnection, counted: Counted) -> None:
    """Count moves as version 1 makes them, each on a connection of its own, and pages of their game."""
    game_id = wire.ask("new_game", player_white=1, player_black=2)["game_id"]
    for move, player in islice(zip(cycle(MOVES), cycle((1, 2)), strict=False), TIMES):
        alone = Connection(("127.0.0.1", port))
        with counted("version 1 move"):
            alone.ask("move", game_id=game_id, player=player, move=move)
        alone.close()
        with counted("page of a live game"):
            _request(web, "GET", f"/games/{game_id}", {"Accept": "text/html"})


def _senses(wire: Connection, counted: Counted) -> None:
    game_id = wire.ask("new_game", player_white=3, player_black=4, variant="rbc")["game_id"]
    for player in islice(cycle((3, 4)), TIMES):
        with counted("RBC sense"):
            wire.ask("sense", game_id=game_id, player=player, square="e4")
        wire.ask("move", game_id=game_id, player=player, move=None)


def _http(wire: Connection, web: HTTPConnection, counted: Counted) -> None:
    """Count moves as reconchess's client makes them."""
    names = ("white-bot", "black-bot")
    replies = {name: wire.ask("register", name=name) for name in names}
    players = [Player(name, reply["player"], reply["key"]) for name, reply in replies.items()]
    path = f"/api/games/{new_game(wire, players)}"
    for player in islice(cycle(players), TIMES):
        headers = {"Authorization": basic_authorization(player), "Content-Type": "application/json"}
        _request(web, "POST", f"{path}/sense", headers, {"square": SQUARE_NUMBER})
        with counted("HTTP move"):
            _request(web, "POST", f"{path}/move", headers, {"requested_move": None})
        _request(web, "POST", f"{path}/end_turn", headers, {})


def _request(web: HTTPConnection, method: str, path: str, headers: dict[str, str], body: object = None) -> None:
    web.request(method, path, None if body is None else json.dumps(body), headers)
    response = web.getresponse()
    content = response.read()
    assert response.status == 200, (response.status, content)
