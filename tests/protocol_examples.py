"""The examples of ``PROTOCOL`` and of the pages in ``docs/protocol``: read them, play them, compare the replies.

``PROTOCOL`` says under "Conventions" how examples are written. A part is what stands between two headings, and gets a
daemon of its own. An option in a part's text, as in ``--max-connections 1``, is one that daemon is started with. A line
of hexadecimal digits shows bytes with their header, after which the client ends its side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gm_protocol.framing import encode_frame
from gmd.daemon import Daemon
from gmd.net.listening import SOCKET_NAME
from tests.helpers import running_daemon
from tests.named_clients import OPERATOR, NamedClients, named_clients

ROOT = Path(__file__).parent.parent
SPECIFICATION = ROOT / "PROTOCOL"
PAGES = sorted((ROOT / "docs" / "protocol").glob("*.md"))

#: What an example leaves out, once parsed; ``...`` is not JSON, and no message contains this character.
LEFT_OUT = "\ue000"

#: The registered players of PROTOCOL, in order of their ids.
REGISTERED = ("ada", "bea")

_CHAPTER = re.compile(r"^(?=[0-9]+(?:\.[0-9]+ [A-Za-z]| [A-Z, ]+$))", re.MULTILINE)
_HEADING = re.compile(r"^#+ ", re.MULTILINE)
_MESSAGE = re.compile(
    r"^(?P<indent> *)(?P<peer>\w* *)(?P<arrow>->|<-) (?P<text>.*(?:\n(?P=indent) +\S.*)*)", re.MULTILINE
)
_BYTES = re.compile(r"[0-9a-f]{2}( [0-9a-f]{2})*")
_KEY = re.compile(r"[\w-]{43}")
_OPTION = re.compile(r"--(?P<name>[a-z-]+) (?P<value>[0-9]+(?:\.[0-9]+)?|[a-z]+)")
_STRING_OR_DOTS = re.compile(r'"(?:[^"\\]|\\.)*"|\.\.\.')


class Message(NamedTuple):
    """One arrow of an example."""

    peer: str
    arrow: str
    text: str


class Part(NamedTuple):
    """A heading of a document with the text below it."""

    document: Path
    title: str
    text: str

    @property
    def name(self) -> str:
        """A name among the parts of all documents."""
        return f"{self.document.stem}: {self.title}"

    @property
    def messages(self) -> list[Message]:
        """Its examples, in order."""
        return [
            Message(match["peer"].strip(), match["arrow"], re.sub(r"\n *", " ", match["text"]))
            for match in _MESSAGE.finditer(self.text)
        ]

    @property
    def options(self) -> dict[str, Any]:
        """The settings of its daemon."""
        return {match["name"].replace("-", "_"): _setting(match["value"]) for match in _OPTION.finditer(self.text)}


def _setting(text: str) -> Any:
    """Return a number, or a word."""
    return text if text.isalpha() else json.loads(text)


def parts(document: Path) -> Iterator[Part]:
    """Yield the parts of a document, also those without examples."""
    boundary = _CHAPTER if document == SPECIFICATION else _HEADING
    for text in boundary.split(document.read_text("utf-8")):
        title, _, body = text.partition("\n")
        yield Part(document, title.strip(), body)


def parse(text: str) -> Any:
    """Return a reply as a document shows it, with :data:`LEFT_OUT` for what it leaves out.

    The placeholder is a name if it is the last member of an object, an element if it is the last of an array, and
    elsewhere a value.
    """

    def stand_in(match: re.Match[str]) -> str:
        if match[0] != "...":
            return match[0]
        is_name = match.string[: match.start()].rstrip()[-1] in "{," and match.string[match.end() :].lstrip()[0] == "}"
        return f'"{LEFT_OUT}": null' if is_name else f'"{LEFT_OUT}"'

    return json.loads(_STRING_OR_DOTS.sub(stand_in, text))


def fill(shown: Any, actual: Any) -> Any:
    """Return what a document shows of a reply, with the omitted parts filled in from the actual one."""
    if shown == LEFT_OUT:
        return actual
    if isinstance(shown, dict) and isinstance(actual, dict):
        filled = {name: fill(value, actual[name]) if name in actual else value for name, value in shown.items()}
        if LEFT_OUT in filled:
            del filled[LEFT_OUT]
            return actual | filled
        return filled
    if isinstance(shown, list) and isinstance(actual, list):
        open_end = shown[-1:] == [LEFT_OUT]
        first = shown[:-1] if open_end else shown
        filled_in = [fill(*pair) for pair in zip(first, actual, strict=False)]
        return filled_in + first[len(actual) :] + (actual[len(first) :] if open_end else [])
    return shown


def normal(value: Any) -> str:
    """Return a text that distinguishes ``1`` from ``1.0`` and from ``true``."""
    return json.dumps(value, indent=1, sort_keys=True)


class Keys:
    """The keys that the daemon issued, and those that the document shows in their place."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}  # by the key that the document shows

    def learn(self, shown: Any, actual: Any) -> None:
        """Remember a key that a reply shows: it stands for the key that was issued, wherever either occurs."""
        if _KEY.fullmatch(str(shown.get("key"))) and _KEY.fullmatch(str(actual.get("key"))):
            self._given.setdefault(shown["key"], actual["key"])

    def given(self, text: str) -> str:
        """Return a text of the document with the keys that were issued."""
        for shown, actual in self._given.items():
            text = text.replace(shown, actual)
        return text


async def play(part: Part, data: Path) -> None:
    """Play the examples of a part against a daemon of its own, and compare its replies.

    :param data: an empty directory for its games, which is used if the operator speaks.
    """
    has_operator = any(message.peer == OPERATOR for message in part.messages)
    where = {"data": str(data)} if has_operator else {}
    socket = data / SOCKET_NAME if has_operator else None
    async with running_daemon(**part.options, **where) as daemon, named_clients(daemon.port, socket) as clients:
        keys = Keys()
        sessions = await _prepare(daemon, clients, {message.peer for message in part.messages})
        for message in part.messages:
            if message.arrow == "<-":
                await _receive(clients, message, keys, in_session=message.peer in sessions)
                continue
            if not clients.has(message.peer) and '"kind": "hello"' in message.text:
                sessions.add(message.peer)
            await _send(clients, message, keys)


async def _prepare(daemon: Daemon, clients: NamedClients, peers: set[str]) -> set[str]:
    """Make what examples begin with, and return who has a session."""
    game = await daemon.ask("new_game", player_white=1, player_black=2)
    assert game["game_id"] == 1
    if peers.isdisjoint([*REGISTERED, OPERATOR]):
        return set()
    if OPERATOR in peers:
        await _hello(clients, OPERATOR)
    for name in REGISTERED:
        player = await daemon.ask("register", name=name)
        await _hello(clients, name, player=player["player"], key=player["key"])
    return {OPERATOR, *REGISTERED}


async def _hello(clients: NamedClients, peer: str, **fields: Any) -> None:
    """Begin a session."""
    hello = json.dumps({"kind": "hello", **fields})
    await (await clients.client(peer)).send_bytes(encode_frame(hello.encode()))
    assert json.loads(await clients.receive_body(peer))["error"] is None


async def _send(clients: NamedClients, message: Message, keys: Keys) -> None:
    """Send a message, on a new connection unless its client has one."""
    client = await clients.client(message.peer)
    if _BYTES.fullmatch(message.text):
        await client.send_bytes(bytes.fromhex(message.text))
        await client.end()
    else:
        await client.send_bytes(encode_frame(keys.given(message.text).encode()))


async def _receive(clients: NamedClients, message: Message, keys: Keys, *, in_session: bool) -> None:
    """Receive a reply and compare it; outside of sessions, the daemon then closes."""
    reply = json.loads(await clients.receive_body(message.peer))
    keys.learn(parse(message.text), reply)
    assert normal(fill(parse(keys.given(message.text)), reply)) == normal(reply)
    if not in_session:
        await clients.expect_closed(message.peer)
