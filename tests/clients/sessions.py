"""Sessions of every client behind one blocking interface: both Python clients, gmcat, and those for C and Node."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import pytest

from gm_client import BadReply, ConnectionLost, GmError
from gm_client.gmcat import MAKING
from tests.clients.other_languages import Driver, compile_c, driving
from tests.clients.python_clients import Clients, Json, trio_in_a_thread
from tests.clients.running import GMCAT, PATIENCE
from tests.ended import ended
from tests.tools import require_tool

HERE = Path(__file__).parent

#: Every client. Those for C and Node are compiled or started first, and need programs that not every machine has.
LANGUAGES = ["blocking", "trio", "gmcat", *(pytest.param(name, marks=pytest.mark.slow) for name in ("c", "node"))]


def all_but(*names: str) -> pytest.MarkDecorator:
    """Run a test for all clients but these."""
    values = [each if isinstance(each, str) else each.values[0] for each in LANGUAGES]
    others = [each for each, value in zip(LANGUAGES, values, strict=True) if value not in names]
    return pytest.mark.parametrize("language", others, scope="module")


class Refused(Exception):
    """The server refused a request.

    :ivar reply: its reply.
    """

    def __init__(self, reply: Json) -> None:
        super().__init__(reply["error"])
        self.reply = reply


class Failed(Exception):
    """The client has no reply to a request; the text says why."""


class Session(Protocol):
    def ask(self, kind: str, **fields: Any) -> Json:
        """Return the reply.

        :raises Refused: it has an error.
        :raises Failed: there is none.
        """


#: Opens a session with servers, given by their ports or as a text, with seconds of patience and the fields of its
#: hello.
Opener = Callable[..., AbstractContextManager[Session]]


def address(servers: tuple[int | str, ...]) -> str:
    return ",".join(f"127.0.0.1:{server}" if isinstance(server, int) else server for server in servers)


class _OfPython:
    def __init__(self, client: Any) -> None:
        self._client = client

    def ask(self, kind: str, **fields: Any) -> Json:
        with _failures():
            return dict(self._client.request(kind, **fields))


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except GmError as error:
        raise Refused(error.reply) from error
    except (BadReply, ConnectionLost, ValueError) as error:
        raise Failed(str(error)) from error


class _OfGmcat:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, kind: str, **fields: Any) -> Json:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(_with_token(kind, fields)) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise Failed(self._process.communicate(timeout=PATIENCE)[1])
        return _granted(json.loads(line))


class _OfDriver:
    """A session of a driver, which has one at a time."""

    def __init__(self, driver: Driver, *, adds_tokens: bool) -> None:
        self._driver, self._adds_tokens = driver, adds_tokens

    def ask(self, kind: str, **fields: Any) -> Json:
        request = {"kind": kind, **fields} if self._adds_tokens else _with_token(kind, fields)
        return _answer(self._driver.ask("session_ask", _hex(request)))


def _hex(value: Json) -> str:
    return json.dumps(value).encode().hex()


def _with_token(kind: str, fields: Json) -> Json:
    """Return a request with the token that users of gmcat and of the client for C add."""
    return {"kind": kind, **({"token": uuid4().hex} if kind in MAKING else {}), **fields}


def _answer(text: str) -> Json:
    try:
        reply = json.loads(bytes.fromhex(text))
    except ValueError:
        raise Failed(text) from None
    return _granted(reply)


def _granted(reply: Json) -> Json:
    if reply["error"] is not None:
        raise Refused(reply)
    return reply


@contextmanager
def opener(language: str, folder: Path) -> Iterator[Opener]:
    """Yield how to open sessions of a client.

    :param folder: where the driver in C is compiled, unless it is there already.
    """
    if language == "blocking":
        yield _python(Clients(None))
    elif language == "trio":
        with trio_in_a_thread() as token:
            yield _python(Clients(token))
    elif language == "gmcat":
        yield _gmcat
    else:
        with driving(*driver_of(language, folder)) as driver:
            yield _driven(driver, adds_tokens=language == "node")


def driver_of(language: str, folder: Path) -> list[str | Path]:
    """Return the command of a driver."""
    if language == "node":
        return [require_tool("node"), HERE / "node" / "driver.mjs"]
    program = folder / "driver"
    return [program if program.exists() else compile_c(program, HERE / "c" / "driver.c")]


def _python(clients: Clients) -> Opener:
    @contextmanager
    def opened(*servers: int | str, patience: float = 10, **hello: Any) -> Iterator[Session]:
        with _failures():
            client = clients.connect(7100, host=address(servers), patience=patience, **hello)
        try:
            yield _OfPython(client)
        finally:
            clients.close(client)

    return opened


@contextmanager
def _gmcat(*servers: int | str, patience: float = 10, **hello: Any) -> Iterator[Session]:
    """Run gmcat, whose session outlives its connections if it has several servers."""
    servers = servers if len(servers) > 1 else servers * 2
    options = ["--server", address(servers), "--timeout", str(patience)]
    for name in ("player", "name"):
        options += ["--player", str(hello[name])] if name in hello else []
    options += ["--key", hello["key"]] if "key" in hello else []
    pipe = subprocess.PIPE
    with ended(subprocess.Popen([*GMCAT, *options], stdin=pipe, stdout=pipe, stderr=pipe, text=True)) as process:
        yield _OfGmcat(process)


def _driven(driver: Driver, *, adds_tokens: bool) -> Opener:
    @contextmanager
    def opened(*servers: int | str, patience: float = 10, **hello: Any) -> Iterator[Session]:
        greeting = hello if adds_tokens else {"kind": "hello", **hello}
        said = driver.ask("servers", address(servers), str(int(1000 * patience)), _hex(greeting))
        if said != "ok":
            _answer(said)
        try:
            yield _OfDriver(driver, adds_tokens=adds_tokens)
        finally:
            driver.ask("session_close")

    return opened
