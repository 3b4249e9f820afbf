"""The longest times for which one request blocks the event loop: each kind and HTTP route, with the worst arguments.

``python -m bench stretches``. It has no peer: it measures the longest time between two checkpoints of the loop's tasks,
in processor time of the loop's thread, so that other work on the machine does not count.
"""

from __future__ import annotations

import http.client
import json
import socket
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import trio
from rich.console import Console
from rich.table import Table

from gm_protocol.framing import FrameDecoder, encode_frame
from gm_protocol.messages import NewGame
from gmd.config import Config
from gmd.daemon import Daemon, open_daemon
from gmd.games.events import AnyEvent, Created, Ended, Loaded, Moved, Sensed
from gmd.games.variants import make_game, resolve

MEBIBYTE = 1 << 20
#: The aim for every stretch: "a few milliseconds".
LONGEST_MS = 5.0
#: Plies of the long games: just below the former limit of 12,000. The default limit, which ``hello`` gives, is lower.
LONG = 11_996
RBC_SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")
ASKED_BY_PLAYERS = (
    *("color", "starting_board", "opponent_name", "sense_actions", "move_actions", "seconds_left"),
    "opponent_move_results",
)
ASKED_BY_ANYBODY = ("is_over", "is_my_turn", "game_status", "winner_color", "win_reason", "game_history")
#: Some are requested twice, because the first answer of a daemon fills a cache.
OTHER_PATHS = (
    *("/api/users/", "/api/invitations/", "/api/leaderboard/", "/healthz"),
    *("/metrics", "/metrics", "/schema", "/schema"),
)
PASSWORD = "correct horse battery staple"


#: The name of a request, and a function that makes it.
Case = tuple[str, Callable[[], Any]]
#: The name of a request; its longest stretch, longest turn of the loop and time to the reply, in seconds; and the task
#: of the longest stretch.
Measured = tuple[str, float, float, float, str]


class Stretches(trio.abc.Instrument):
    """A meter of the longest run of a task without a checkpoint, and the longest turn of the loop, since a reset."""

    def __init__(self) -> None:
        self.longest = self.turn = 0.0
        self.task = ""
        self._began = self._turn_began = time.thread_time()

    def reset(self) -> None:
        """Forget what was measured."""
        self.longest = self.turn = 0.0
        self.task = ""

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._began = time.thread_time()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        took = time.thread_time() - self._began
        if took > self.longest:
            self.longest, self.task = took, task.name

    def before_io_wait(self, timeout: float) -> None:
        self.turn = max(self.turn, time.thread_time() - self._turn_began)

    def after_io_wait(self, timeout: float) -> None:
        self._turn_began = time.thread_time()


class Wire:
    """A blocking session of version 2."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._frames = FrameDecoder(1 << 30)
        self.ask(kind="hello", protocol=2)

    def ask(self, **fields: Any) -> dict[str, Any]:
        """Send a request, and return its reply."""
        return self.ask_body(json.dumps(fields).encode())

    def ask_body(self, body: bytes) -> dict[str, Any]:
        """Send a frame with a body, and return the reply."""
        self._socket.sendall(encode_frame(body))
        while (reply := self._frames.next_frame()) is None:
            if not (data := self._socket.recv(1 << 20)):
                raise EOFError(f"the server closed the connection at {body[:80]!r}")
            self._frames.feed(data)
        decoded: dict[str, Any] = json.loads(reply)
        return decoded


class Web:
    """An HTTP client of a registered player."""

    def __init__(self, port: int, name: str) -> None:
        self._port = port
        self._authorization = "Basic " + b64encode(f"{name}:{PASSWORD}".encode()).decode()

    def ask(self, method: str, path: str, body: bytes | None = None) -> int:
        """Send a request, read the whole response, and return its status."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port)
        headers = {"Authorization": self._authorization, "Content-Type": "application/json"}
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response.status


def stored_game(daemon: Daemon, events: list[AnyEvent]) -> int:
    """Add a game with its events directly, without requests; return its id."""
    created = events[0]
    assert isinstance(created, Created)
    game = make_game(created)
    for event in events[1:]:
        game.apply(event)
    return daemon.arbiter.open(game, events, None).game.id


def created(white: int = 1, black: int = 2, **asked: Any) -> Created:
    """Return the creation of a game with the longest limit of plies."""
    options = resolve(NewGame(player_white=white, player_black=black, **asked), {}, 0, strict=True)
    return Created(white, black, options, "2026-11-22T00:00:00Z")


def long_rbc(plies: int, white: int = 1, black: int = 2) -> list[AnyEvent]:
    """Return a game of blind chess in which both sides sense and move to and fro, until White resigns."""
    events: list[AnyEvent] = [created(white, black, variant="rbc", clock=None, reversible_moves=None)]
    for ply in range(plies):
        events += [Sensed(27 + ply % 8), Moved(RBC_SHUFFLE[ply % 4])]
    return [*events, Ended("resignation_white", 0.0, "white", "resignation_white")]


def long_chess(plies: int) -> list[AnyEvent]:
    """Return a game of chess with the same moves, still in progress."""
    moves = [RBC_SHUFFLE[ply % 4] for ply in range(plies)]
    loaded: list[AnyEvent] = [Loaded(moves[at : at + 16]) for at in range(0, plies, 16)]
    return [created(), *loaded]


def filled(text: str, size: int = MEBIBYTE - 1_000) -> str:
    """Return a text repeated as often as a request of a mebibyte has room for."""
    return text * (size // (len(json.dumps(text)) - 2))


def padded(kind: str, extra: str, **fields: Any) -> bytes:
    """Return a request with a large addition."""
    return (json.dumps({"kind": kind, **fields})[:-1] + "," + extra + "}").encode()


def large_texts() -> Iterator[tuple[str, str]]:
    """Yield PGNs of a mebibyte."""
    yield "one word", "1. " + filled("a")
    yield "one number", filled("1")
    yield "dots", filled(".")
    yield "one comment", "{" + filled("x") + "} e4"
    yield "open comment", "{" + filled("x")
    yield "spaces", filled(" ") + "e4"
    yield "a tag's value", '[A "' + filled("x") + '"] e4'
    yield "a tag's escapes", '[A "' + filled('\\"') + '"] e4'
    yield "a loose tag", '[A "' + filled('" ') + "x"
    yield "tags", filled('[A "b"]\n') + "e4"
    yield "plies", filled("Nf3 Nf6 Ng1 Ng8 ")
    yield "open variations", "1. e4 " + filled("(")
    yield "FEN of one word", '[FEN "' + "x" * 190 + '"] e4 ' + filled("e.p.")


def large_bodies() -> Iterator[tuple[str, bytes]]:
    """Yield useless frames of a mebibyte."""
    ones = ",".join(["1"] * (MEBIBYTE // 2 - 100))
    yield "many unknown fields", padded("ping", ",".join(f'"{n}":0' for n in range(90_000)))
    yield "many fields, one wrong", padded("move", ",".join(f'"{n}":0' for n in range(90_000)), game_id="x")
    yield "many fields, new_game", padded("new_game", ",".join(f'"{n}":0' for n in range(90_000)), player_white=1)
    yield "deep", padded("ping", '"x":' + "[" * 400_000 + "]" * 400_000)
    yield "list of ids", padded("wait", f'"game_ids":[{ones}],"player":1')
    yield "except", padded("wait", f'"except":[{ones}],"any":true,"player":1')
    yield "wrong list", padded("wait", f'"game_ids":[{ones},"x"],"player":1')
    yield "a list for a PGN", padded("new_game", f'"pgn":[{ones}]', player_white=1, player_black=2)
    yield "a list of lists", padded("new_game", f'"clock":[{"[]," * 300_000}1]', player_white=1, player_black=2)
    yield "large id", padded("ping", f'"id":"{filled("x", 1_000_000)}"')
    yield "unknown list", padded("ping", f'"x":[{ones}]')
    yield "text move", padded("move", f'"move":"{filled("x", 1_000_000)}"', game_id=1, player=1)
    yield "escapes", padded("move", f'"move":"{filled(chr(92) + "u0041", 1_000_000)}"', game_id=1, player=1)
    yield "non-ASCII", padded("move", f'"move":"{filled("é", 500_000)}"', game_id=1, player=1)
    yield "token", padded("new_game", f'"token":"{filled("x", 1_000_000)}"', player_white=1, player_black=2)
    yield "fen", padded("new_game", f'"fen":"{filled("x", 1_000_000)}"', player_white=1, player_black=2)
    yield "no JSON", b"[" * 1_000_000
    yield "NULs", b'{"kind":"ping"}' + b"\0" * 1_000_000


def tcp_cases(wire: Wire, daemon: Daemon, run: Callable[..., Any], key: str, player: int) -> Iterator[Case]:
    """Yield the cases over TCP."""
    put = partial(run, stored_game, daemon)
    rbc, chess = put(long_rbc(LONG)), put(long_chess(LONG))
    ended = put(long_rbc(200))
    forget = partial(run, lambda game_id: daemon.arbiter._cache.drop(game_id))
    ask = wire.ask
    yield "history rbc 11,996 plies", lambda: ask(kind="history", game_id=rbc)
    yield "history rbc, again", lambda: ask(kind="history", game_id=rbc)
    yield "history rbc 200 plies", lambda: ask(kind="history", game_id=ended)
    yield "history chess 11,996 plies", lambda: ask(kind="history", game_id=chess)
    yield "state rbc 11,996 plies, over", lambda: ask(kind="state", game_id=rbc)
    yield "state chess 11,996 plies", lambda: ask(kind="state", game_id=chess)
    yield "state with actions", lambda: ask(kind="state", game_id=chess, player=1, actions=True)
    forget(rbc), forget(chess)
    yield "state rbc, loading", lambda: ask(kind="state", game_id=rbc)
    yield "state chess, loading", lambda: ask(kind="state", game_id=chess)
    yield "resign a long game", lambda: ask(kind="end_game", game_id=chess, player=1, termination="resignation_white")
    hands = "rnbqkbnr/8/8/8/8/8/8/RNBQKBNR[PPPPPPPPpppppppp] w KQkq - 0 1"
    house = ask(kind="new_game", player_white=1, player_black=2, variant="crazyhouse", fen=hands)["game_id"]
    yield "new_game", lambda: ask(kind="new_game", player_white=1, player_black=2)
    yield "new_game chess960", lambda: ask(kind="new_game", player_white=1, player_black=2, variant="chess960")
    yield "new_game rbc", lambda: ask(kind="new_game", player_white=1, player_black=2, variant="rbc")
    yield "actions of crazyhouse", lambda: ask(kind="actions", game_id=house, player=1)
    yield "move of crazyhouse", lambda: ask(kind="move", game_id=house, player=1, move="P@e4")
    blind = ask(kind="new_game", player_white=1, player_black=2, variant="rbc")["game_id"]
    yield "sense", lambda: ask(kind="sense", game_id=blind, player=1, square="e4")
    yield "actions of rbc", lambda: ask(kind="actions", game_id=blind, player=1)
    yield "move of rbc", lambda: ask(kind="move", game_id=blind, player=1, move="e2e4")
    many = [ask(kind="new_game", player_white=3, player_black=4)["game_id"] for _ in range(100)]
    yield "wait for 100 games", lambda: ask(kind="wait", game_ids=many, player=4, timeout=0)
    yield "wait for any", lambda: ask(kind="wait", any=True, player=3, timeout=0, **{"except": many})
    for each in many:
        forget(each)
    yield "wait for 100 games, loading", lambda: ask(kind="wait", game_ids=many, player=4, timeout=0)
    yield "games, a page", lambda: ask(kind="games", limit=100)
    yield "leaderboard", lambda: ask(kind="leaderboard", limit=100)
    yield "invitations", lambda: ask(kind="invitations", player=player, key=key)
    yield "settings", lambda: ask(kind="settings", player=player, key=key)
    yield "register", lambda: ask(kind="register", name="somebody")
    for name, text in large_texts():
        yield f"game_from_pgn: {name}", partial(ask, kind="game_from_pgn", player_white=1, player_black=2, pgn=text)
    for name, body in large_bodies():
        yield f"frame: {name}", partial(wire.ask_body, body)


def http_cases(web: Web, daemon: Daemon, run: Callable[..., Any], player: int, other: int) -> Iterator[Case]:
    """Yield the cases over HTTP."""
    long = run(stored_game, daemon, long_rbc(LONG, player, other))
    for what in (*ASKED_BY_PLAYERS, *ASKED_BY_ANYBODY, "game_history"):
        yield f"GET {what}", partial(web.ask, "GET", f"/api/games/{long}/{what}")
    run(daemon.arbiter._cache.drop, long)
    yield "GET game_history, loading", partial(web.ask, "GET", f"/api/games/{long}/game_history")
    for path in OTHER_PATHS:
        yield f"GET {path}", partial(web.ask, "GET", path)
    large = b'{"opponent":"' + b"x" * 1_000_000 + b'","color":true}'
    yield "POST /api/invitations/, 1 MB", partial(web.ask, "POST", "/api/invitations/", large)
    ones = b'{"opponent":[' + b"1," * 500_000 + b"1]}"
    yield "POST /api/invitations/, 1 MB list", partial(web.ask, "POST", "/api/invitations/", ones)
    ones = b'{"square":[' + b"1," * 500_000 + b"1]}"
    yield "POST sense, 1 MB list", partial(web.ask, "POST", f"/api/games/{long}/sense", ones)


def ask_everything(daemon: Daemon, stretches: Stretches) -> list[Measured]:
    """Make each request once, one after the other."""
    run = trio.from_thread.run_sync
    wire = Wire(daemon.port)
    me = wire.ask(kind="register", name="attacker", password=PASSWORD)
    other = wire.ask(kind="register", name="bystander", password=PASSWORD)
    assert daemon.http_port is not None
    web = Web(daemon.http_port, "attacker")
    web.ask("GET", "/api/users/")  # litestar's first request is slow
    measured = []
    asked = tcp_cases(wire, daemon, run, me["key"], me["player"])
    for name, ask in chain(asked, http_cases(web, daemon, run, me["player"], other["player"])):
        stretches.reset()
        began = time.perf_counter()
        ask()
        run(lambda: None)  # the reply is sent in the middle of a stretch
        measured.append((name, stretches.longest, stretches.turn, time.perf_counter() - began, stretches.task))
    return measured


async def _measured() -> list[Measured]:
    stretches = Stretches()
    with tempfile.TemporaryDirectory() as data:
        async with open_daemon(Config(port=0, data=data, http=True, http_port=0)) as daemon:
            trio.lowlevel.add_instrument(stretches)
            return await trio.to_thread.run_sync(ask_everything, daemon, stretches)


def measure() -> None:
    """Make each request once, and print for how long it blocked the loop."""
    table = Table("asked", "longest stretch, ms", "longest turn, ms", "reply, ms", "task")
    rows = trio.run(_measured)
    for name, stretch, turn, reply, task in rows:
        mark = " !" if stretch * 1000 > LONGEST_MS else ""
        figures = f"{stretch * 1000:.1f}{mark}", f"{turn * 1000:.1f}", f"{reply * 1000:.0f}"
        table.add_row(name, *figures, task.rpartition(".")[2])
    Console(width=140).print(table)
    print(f"over {LONGEST_MS:g} ms: {sum(stretch * 1000 > LONGEST_MS for _, stretch, *_ in rows)} of {len(rows)}")
