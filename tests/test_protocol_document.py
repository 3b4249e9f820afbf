"""Every example in ``PROTOCOL`` is played against a live daemon, part by part, and its replies are compared.

The document itself says how examples are written, under "The examples". Each part gets its own daemon. An option in a
part's text, as in ``--max-connections 1``, is passed to that daemon.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gm_protocol.errors import ERRORS
from gm_protocol.framing import encode_frame
from gm_protocol.messages import REQUESTS
from gmd.unix_socket import SOCKET_NAME
from tests.helpers import running_daemon
from tests.named_clients import OPERATOR, NamedClients, named_clients

DOCUMENT = (Path(__file__).parent.parent / "PROTOCOL").read_text("utf-8")

#: Codes without an example, and why.
NOT_SHOWN = {
    "shutting_down": "an example cannot stop its server",
    "internal": "an example cannot break its server",
}

#: What an example leaves out, once parsed; ``...`` is not JSON, and no message contains this character.
LEFT_OUT = "\ue000"

_RULE = re.compile(r"^ *-{60,}\n", re.MULTILINE)
_MESSAGE = re.compile(
    r"^(?P<indent> +)(?P<peer>\w* *)(?P<arrow>->|<-) (?P<text>.*(?:\n(?P=indent) +\S.*)*)", re.MULTILINE
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
    """The text between two rules of the document."""

    title: str
    text: str

    @property
    def messages(self) -> list[Message]:
        """Its examples, in order."""
        return [
            Message(match["peer"].strip(), match["arrow"], re.sub(r"\n *", " ", match["text"]))
            for match in _MESSAGE.finditer(self.text)
        ]

    @property
    def options(self) -> dict[str, Any]:
        """The settings of the daemon that it describes."""
        return {match["name"].replace("-", "_"): _setting(match["value"]) for match in _OPTION.finditer(self.text)}


def _setting(text: str) -> Any:
    """Return a number, or a word."""
    return text if text.isalpha() else json.loads(text)


def parts() -> Iterator[Part]:
    for text in _RULE.split(DOCUMENT):
        title, _, body = text.strip().partition("\n")
        yield Part(title, body)


PARTS = [part for part in parts() if part.messages]


def parse(text: str) -> Any:
    """Return a reply as the document shows it, with :data:`LEFT_OUT` for what it leaves out.

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
    """Return what the document shows of a reply, with the omitted parts filled in from the actual one."""
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


async def send(clients: NamedClients, message: Message, keys: Keys) -> None:
    """Send a message, on a new connection unless its client has one."""
    client = await clients.client(message.peer)
    if _BYTES.fullmatch(message.text):
        await client.send_bytes(bytes.fromhex(message.text))
        await client.end()
    else:
        await client.send_bytes(encode_frame(keys.given(message.text).encode()))


async def receive(clients: NamedClients, message: Message, keys: Keys, *, in_session: bool) -> None:
    """Receive a reply and compare it; outside of sessions, the daemon then closes."""
    reply = json.loads(await clients.receive_body(message.peer))
    keys.learn(parse(message.text), reply)
    assert normal(fill(parse(keys.given(message.text)), reply)) == normal(reply)
    if not in_session:
        await clients.expect_closed(message.peer)


@pytest.mark.parametrize("part", PARTS, ids=[part.title for part in PARTS])
async def test_examples_are_true(part: Part, tmp_path: Path) -> None:
    has_operator = any(message.peer == OPERATOR for message in part.messages)
    data = {"data": str(tmp_path)} if has_operator else {}
    socket = tmp_path / SOCKET_NAME if has_operator else None
    async with running_daemon(**part.options, **data) as daemon, named_clients(daemon.port, socket) as clients:
        sessions, keys = set(), Keys()
        for message in part.messages:
            if message.arrow == "<-":
                await receive(clients, message, keys, in_session=message.peer in sessions)
                continue
            if not clients.has(message.peer) and '"kind": "hello"' in message.text:
                sessions.add(message.peer)
            await send(clients, message, keys)


def test_no_arrow_is_overlooked() -> None:
    arrows = re.findall(r'(?<!")(?:->|<-)', DOCUMENT)
    assert len(arrows) == sum(len(part.messages) for part in PARTS)


def test_every_kind_has_an_example() -> None:
    sent = {message.text for part in PARTS for message in part.messages if message.arrow == "->"}
    shown = {kind for kind in REQUESTS if any(f'"kind": "{kind}"' in text for text in sent)}
    assert shown == set(REQUESTS)


def test_every_code_has_an_example() -> None:
    received = [parse(message.text) for part in PARTS for message in part.messages if message.arrow == "<-"]
    shown = {reply["code"] for reply in received if "code" in reply}
    assert shown == set(ERRORS) - set(NOT_SHOWN)


def test_every_kind_and_code_has_a_part_that_explains_it() -> None:
    titles = {part.title for part in parts()}
    assert {f'kind = "{kind}"' for kind in REQUESTS} <= titles
    assert all(f'"{code}"' in DOCUMENT for code in ERRORS)


def test_omitted_part_of_an_example_matches_anything() -> None:
    shown = parse('{"a": ..., "b": [1, ...], "c": {"d": "...", ...}, ...}')
    actual = {"a": [1], "b": [1, 2, 3], "c": {"d": "...", "e": None}, "f": 0.5}
    assert fill(shown, actual) == actual


@pytest.mark.parametrize("actual", [{}, {"a": 1, "b": []}, {"a": 1, "b": [2]}, {"b": [1]}, {"a": 1, "b": [1], "c": 1}])
def test_shown_part_of_an_example_must_match(actual: dict[str, Any]) -> None:
    assert fill(parse('{"a": ..., "b": [1, ...]}'), actual) != actual
