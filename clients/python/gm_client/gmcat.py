#!/usr/bin/env python3
"""gmcat: send JSON requests to a gm server from a shell, and print its replies.

    gmcat '{"kind":"new_game","player_white":1,"player_black":2}'
    gmcat < requests.jsonl > replies.jsonl

Needs Python 3.11 and nothing else: copy this one file to wherever you need it.

A single request given as an argument is a version 1 session. Anything else is one version 2 session. It begins with
gmcat's own hello, unless the first request is a hello; with --player, the hello names the player. With --player or
several servers a single request has a session too. Each request is sent after the reply to the previous one has been
printed: so a reply can decide the next request, and no following request cuts a ``wait`` short. With several servers a
session outlives its connections, unless one ends before the reply to a request that may not be sent twice.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Iterable, Iterator

VERSION = "0.3.0"

#: The operator's socket in a daemon's data directory.
SOCKET_NAME = "operator.sock"

#: The variable for a key, which would otherwise be visible among the arguments of running programs.
KEY_VARIABLE = "GM_KEY"

#: Seconds that each of several servers has for connecting and for the first reply, since a frozen one may never answer;
#: and seconds between two attempts at all of them, at first and at most, with jitter.
ANSWER_SECONDS, FIRST_DELAY, LONGEST_DELAY = 5.0, 0.05, 2.0

#: Options of a connection, where the system has them, by which it ends some ten seconds after the server's machine has
#: lost its power or was cut off: when a silent connection is probed, and how long data may stay unconfirmed.
KEEPALIVE = {"TCP_KEEPIDLE": 5, "TCP_KEEPALIVE": 5, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 10_000}

# >>> kinds: generated from the structs of gm_protocol; run `python -m clients.generate`.


#: Kinds that change nothing, or nothing more when repeated.
READING = {
    "hello",
    "ping",
    "state",
    "wait",
    "actions",
    "games",
    "history",
    "join",
    "revoke",
    "players",
    "invitations",
    "accept",
    "decline",
    "settings",
    "leaderboard",
    "contest",
    "belief",
}
#: Kinds that may be sent again if "ply" identifies the action.
ACTING = {
    "move",
    "sense",
    "end_game",
}
#: Kinds that may be sent again if they have a "token".
MAKING = {
    "new_game",
    "game_from_pgn",
    "register",
    "rekey",
    "challenge",
    "seek",
    "pair",
}


# <<< kinds

#: Codes of a reply to hello for which the next of several servers is tried.
PASSING = {"too_many", "shutting_down"}

#: The largest reply accepted, in bytes. The longest game's history is some 10 MB. A server of another protocol is
#: recognised by its first four bytes: "HTTP" would be a reply of 1.2 GB.
MAX_REPLY = 64 << 20

#: The longest line that --pretty makes of an array or object, in characters: a rank of the board fits on one line.
PRETTY_WIDTH = 100

EPILOG = """\
examples: gmcat '{"kind": "ping"}'
          gmcat < requests.jsonl > replies.jsonl

Without a request as an argument, requests are read from standard input, one per line; blank lines are skipped.
Each reply is printed on a line of its own as it arrives.

exit status: 0  no reply has an error
             1  a reply has an error
             2  the server cannot be reached, a reply is missing, or a request is not JSON
"""


class GmcatError(Exception):
    """An error that ends gmcat with status 2; its text is one line for the user."""


class ConnectionLost(GmcatError):
    """The connection ended before the reply."""


def main() -> int:
    """Run gmcat on the process's arguments and streams, and return the exit status."""
    options = _options()
    try:
        return _print_replies(_converse(options), pretty=options.pretty)
    except GmcatError as error:
        print(f"gmcat: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return _die_of(signal.SIGINT)
    except BrokenPipeError:
        return _die_of(signal.SIGPIPE)
    except OSError as error:  # errors of the connection are GmcatErrors
        print(f"gmcat: standard input or output failed: {error.strerror}", file=sys.stderr)
        return 2


def _die_of(signum: signal.Signals) -> int:
    """End as a program does that does not handle ``signum``, so that a shell's loop stops too."""
    signal.signal(signum, signal.SIG_DFL)
    signal.raise_signal(signum)
    return 128 + signum  # reached only if the signal is blocked


def _options() -> argparse.Namespace:
    """Parse the arguments; argparse reports contradictions, with exit status 2."""
    parser = _arguments()
    options = parser.parse_args()
    if options.ca is not None and not options.tls:
        parser.error("--ca needs --tls")
    if options.socket is not None and options.tls:
        parser.error("--tls cannot be combined with --socket: only the game port has TLS")
    if options.player is None and options.key is not None:
        parser.error("--key needs --player")
    return options


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gmcat",
        description="Send JSON requests to a gm server and print its replies.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("request", nargs="*", help="a request: one JSON object")
    servers = "the server, or several of which one serves, with IPv6 addresses in brackets (default: %(default)s)"
    parser.add_argument("--server", "--host", default="127.0.0.1", metavar="HOST[:PORT][,...]", help=servers)
    parser.add_argument("--port", type=_port, default=7100, help="the port, if not named there (default: %(default)s)")
    parser.add_argument("--tls", action="store_true", help="use TLS, and verify the server's certificate")
    parser.add_argument("--ca", metavar="FILE", help="with --tls: trust these certificates, not the system's")
    parser.add_argument(
        "--socket", metavar="PATH", help="connect to the operator's socket, or to the one in a data directory"
    )
    parser.add_argument("--player", metavar="PLAYER", help="the player to act as: a number, or a registered name")
    parser.add_argument("--key", metavar="KEY", help=f"the player's key, or @FILE with it (default: ${KEY_VARIABLE})")
    parser.add_argument("--timeout", type=_seconds, default=10.0, help="seconds to connect (default: %(default)s)")
    parser.add_argument("--pretty", action="store_true", help="print replies indented, for people")
    parser.add_argument("--version", action="version", version=f"gmcat {VERSION}")
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 65535")
    return int(text)


def _addresses(servers: str, port: int) -> Iterator[tuple[str, int]]:
    """Yield the hosts and ports in a list; ``port`` is for those without one."""
    is_one = servers.count(":") > 1 and not re.search(r"[],[]", servers)  # an IPv6 address
    for each in [f"[{servers}]"] if is_one else servers.split(","):
        parts = re.fullmatch(r"(\[[^][\s]+\]|[^][:\s]*)(?::([0-9]{1,5}))?", each)
        if not each or parts is None or not 1 <= int(parts[2] or 1) <= 65535:
            raise GmcatError(f"--server: {each!r} is not HOST:PORT, with a port from 1 to 65535")
        yield parts[1].strip("[]") or "127.0.0.1", int(parts[2] or port)


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < float(text) <= 86400:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and at most 86400")


def _print_replies(replies: Iterable[bytes], *, pretty: bool) -> int:
    """Print each reply as it arrives.

    :returns: 0 if no reply has an error, else 1.
    :raises GmcatError: a reply is missing or not valid.
    """
    status = 0
    # Not through sys.stdout: at exit, Python would try again to print what could not be printed.
    with open(1, "wb", closefd=False) as output:
        for reply in replies:
            if _refused(reply):
                status = 1
            output.write((_pretty(reply) if pretty else reply) + b"\n")
            output.flush()
    return status


def _converse(options: argparse.Namespace) -> Iterator[bytes]:
    """Yield the reply to each request. Connect only once there is a request: a server does not wait for long."""
    requests = _checked(_given(options.request))
    first = next(requests, None)
    if first is None:
        return
    is_single = len(options.request) == 1 and "," not in options.server
    greets = options.player is not None or not (is_single or _is_hello(first))
    with contextlib.closing(Session(options)) as session:
        reply = session.begin(_hello(options) if greets else first)
        if greets and _refused(reply):
            yield reply
            return
        yield session.ask(first) if greets else reply
        for request in requests:
            yield session.ask(request)


class Session:
    """A session with one server; or with several of which one serves, and then it outlives its connections."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._servers = list(_addresses(options.server, options.port))[: 1 if options.socket else None]
        self._is_lasting = len(self._servers) > 1
        self._first = b""  # the first request of each connection: if there are several, a hello
        self._connection = socket.socket()  # not connected yet

    def close(self) -> None:
        """End the session."""
        self._connection.close()

    def begin(self, request: bytes) -> bytes:
        """Connect, and return the reply to the first request.

        :raises GmcatError: no server answers; if there are several, for as long as the timeout.
        """
        self._first = request
        return self._learned(request, self._open(_attempts(self._options.timeout)))

    def ask(self, request: bytes) -> bytes:
        """Return the reply to a further request.

        :raises GmcatError: there is none, and the request may not be repeated, or no server answers.
        """
        if not self._is_lasting:
            return _ask(self._connection, request)
        attempts = _attempts(self._options.timeout)
        lost: GmcatError | None = ConnectionLost("the connection was lost") if _is_over(self._connection) else None
        while True:
            if lost is not None and _refused(reply := self._open(attempts, lost)):
                raise GmcatError(f"the connection was lost, and another is refused: {_fields(reply)['error']}")
            try:
                reply = _ask(self._connection, request)
                if _fields(reply).get("code") != "shutting_down":
                    return self._learned(request, reply)
                lost = GmcatError("the server is stopping")  # and has not carried out the request
            except ConnectionLost as error:
                if not _may_repeat(request):
                    raise
                lost = error

    def _learned(self, request: bytes, reply: bytes) -> bytes:
        """Return the reply. Later connections begin with the last hello; a refused one leaves a session nobody's."""
        if self._is_lasting and _is_hello(request):
            self._first = _anonymous_hello() if _refused(reply) else request
        return reply

    def _open(self, attempts: Iterator[None], lost: GmcatError | None = None) -> bytes:
        """Connect to the first server that answers, and return its reply.

        :raises GmcatError: there is none; ``lost``, if the attempts are over.
        """
        error = lost or GmcatError("there is no server")
        for _ in attempts:
            failures = []
            for number, address in enumerate(self._servers):
                try:
                    reply = self._open_at(*address)
                except GmcatError as failure:
                    failures.append(str(failure))
                else:
                    self._servers = self._servers[number:] + self._servers[:number]
                    return reply
            error = GmcatError("; ".join(failures))
            if not self._is_lasting:
                break
        raise error

    def _open_at(self, host: str, port: int) -> bytes:
        """Connect to one server, without a timeout if it is the only one since a ``wait`` may take a minute."""
        silence = min(self._options.timeout, ANSWER_SECONDS) if self._is_lasting else None
        self._connection.close()
        self._connection = _connect(self._options, host, port, silence or self._options.timeout)
        self._connection.settimeout(silence)
        reply = _ask(self._connection, self._first)
        if self._is_lasting:
            fields = _fields(reply)
            if fields.get("code") in PASSING:
                raise GmcatError(f"port {port} of {host} refuses connections: {fields['error']}")
            limits = json.loads(reply).get("limits") or {}
            self._connection.settimeout(float(limits.get("max_wait_seconds", 60)) + ANSWER_SECONDS)
        return reply


def _attempts(seconds: float) -> Iterator[None]:
    """Yield when to try: at once when first asked, then after longer and longer pauses, until the time is over."""
    deadline, delay = time.monotonic() + seconds, FIRST_DELAY
    yield
    while time.monotonic() + delay <= deadline:
        time.sleep(delay * (0.5 + os.urandom(1)[0] / 512))
        delay = min(2 * delay, LONGEST_DELAY)
        yield


def _may_repeat(request: bytes) -> bool:
    """Return whether a request changes nothing more if the server has carried it out already."""
    with contextlib.suppress(RecursionError):
        value = _decode(request)
        kind = value.get("kind") if isinstance(value, dict) else None
        if isinstance(value, dict) and isinstance(kind, str):
            field = "ply" if kind in ACTING else "token" if kind in MAKING else None
            return kind in READING or (field is not None and value.get(field) is not None)
    return False


def _hello(options: argparse.Namespace) -> bytes:
    """Return the request that opens a version 2 session.

    :raises GmcatError: the key cannot be read.
    """
    hello: dict[str, object] = {}
    if options.player is not None:
        number = options.player.removeprefix("-").isdecimal()
        hello |= {"player": int(options.player)} if number else {"name": options.player}
        hello |= {"key": key} if (key := _key(options.key)) else {}
    return _anonymous_hello(**hello)


def _anonymous_hello(**others: object) -> bytes:
    hello = {"kind": "hello", "protocol": 2, "client": f"gmcat/{VERSION}", **others}
    return json.dumps(hello, separators=(",", ":")).encode()


def _key(argument: str | None) -> str | None:
    """Return the key. A file is the better place: any process on the machine can read an argument."""
    if argument is None:
        return os.environ.get(KEY_VARIABLE)
    if not argument.startswith("@"):
        return argument
    try:
        with open(argument[1:], encoding="utf-8") as file:
            key = file.read().strip()
    except (OSError, UnicodeError) as error:
        raise GmcatError(f"--key: {argument[1:]}: {getattr(error, 'strerror', None) or error}") from None
    if not key:
        raise GmcatError(f"--key: {argument[1:]}: the file is empty; it should hold the key")
    return key


def _given(arguments: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield each request as given, with its name for error messages."""
    if arguments:
        for number, argument in enumerate(arguments, 1):
            yield f"argument {number}", argument.encode("utf-8", "surrogateescape")
        return
    with open(0, "rb", closefd=False) as lines:
        for number, line in enumerate(lines, 1):
            if not line.isspace():
                yield f"line {number}", line.rstrip(b"\r\n")


def _checked(given: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """Yield the requests unchanged, checking each in turn.

    :raises GmcatError: a request is not JSON, or not UTF-8.
    """
    for name, request in given:
        try:
            _decode(request)
        except json.JSONDecodeError as error:
            raise GmcatError(f"{name} is not JSON: {error.msg} (character {error.pos + 1})") from None
        except ValueError as error:
            raise GmcatError(f"{name} is not JSON: {error}") from None
        except RecursionError:
            pass  # nested too deep to check here; the server will report it
        yield request


def _decode(request: bytes) -> object:
    """Decode JSON, with numbers left as text: a number of 5,000 digits is JSON, and the server's to judge."""
    text = request.decode("utf-8")
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=_no_number)


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


def _is_hello(request: bytes) -> bool:
    with contextlib.suppress(RecursionError):
        value = _decode(request)
        return isinstance(value, dict) and value.get("kind") == "hello"
    return False


def _connect(options: argparse.Namespace, host: str, port: int, timeout: float) -> socket.socket:
    """Connect; ``timeout`` is in seconds, for each address of the host and for each step after that."""
    if options.socket is not None:
        return _connect_locally(options.socket)
    try:
        server = socket.create_connection((host, port), timeout)
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _keep_alive(server)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise GmcatError(f"cannot reach port {port} of {host}: {reason} (is gmd serve running?)") from None
    return _secure(server, host, options.ca) if options.tls else server


def _keep_alive(server: socket.socket) -> None:
    """Have the system notice that the other machine is gone."""
    server.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE.items():
        if hasattr(socket, name):
            with contextlib.suppress(OSError):  # an older system than Python was built for
                server.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _connect_locally(path: str) -> socket.socket:
    """Connect to a Unix socket. First change to its directory: a socket's path is limited to some 100 bytes."""
    where = os.path.join(path, SOCKET_NAME) if os.path.isdir(path) else path
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        os.chdir(os.path.dirname(where) or ".")
        server.connect(os.path.basename(where))
    except (OSError, ValueError) as error:
        server.close()
        reason = getattr(error, "strerror", None) or error
        raise GmcatError(f"cannot reach {where}: {reason} (is gmd serve running, and as this user?)") from None
    return server


def _secure(server: socket.socket, host: str, ca: str | None) -> socket.socket:
    """Return the connection under TLS, after verifying that the server is ``host``.

    :raises GmcatError: the handshake or the verification failed.
    """
    import ssl  # takes a quarter of a whole run's time, and most runs do not need it

    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:  # ssl.SSLError is one
        reason = "holds no certificate in PEM" if isinstance(error, ssl.SSLError) else error.strerror
        raise GmcatError(f"--ca: {ca}: {reason}") from None
    try:
        return context.wrap_socket(server, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        hint = "" if ca else "; use --ca FILE to trust your own certificate"
        raise GmcatError(f"the server is not verified as {host}: {error.verify_message.rstrip('.')}{hint}") from None
    except ssl.SSLError as error:
        raise GmcatError(f"TLS with {host} failed: {error.reason or error} (does the server use TLS?)") from None
    except (OSError, ValueError) as error:
        is_late = isinstance(error, TimeoutError)
        why = "it did not answer in time" if is_late else getattr(error, "strerror", None) or error
        raise GmcatError(f"TLS with {host} failed: {why}") from None


def _ask(server: socket.socket, request: bytes) -> bytes:
    """Send one request and read one frame.

    :raises GmcatError: no reply came.
    """
    # A server may answer and close before it has read the whole request (`too_many`). Otherwise reading fails too.
    with contextlib.suppress(OSError):
        server.sendall(len(request).to_bytes(4, "big") + request)
    header = _receive(server, 4)
    length = int.from_bytes(header, "big", signed=True)
    if not 0 < length <= MAX_REPLY:
        raise GmcatError(f"this is not a gm server: its reply begins with {header!r}, a length of {length}")
    return _receive(server, length).rstrip(b"\0").replace(b"\n", b" ")  # one line: newlines in strings are escaped


def _receive(server: socket.socket, size: int) -> bytes:
    """Read exactly ``size`` bytes.

    :raises ConnectionLost: the connection ended before.
    """
    received = bytearray()
    while len(received) < size:
        try:
            chunk = server.recv(min(size - len(received), 1 << 16))
        except OSError as error:
            raise ConnectionLost(f"the connection was lost before the reply: {error.strerror or error}") from None
        if not chunk:
            raise ConnectionLost("the server closed the connection before the reply")
        received += chunk
    return bytes(received)


def _is_over(server: socket.socket) -> bool:
    """Return whether the server has closed the connection, or has sent data while no reply was pending."""
    patience = server.gettimeout()
    try:
        server.settimeout(0)
        return server.recv(1) is not None
    except OSError as error:
        return type(error).__name__ not in {"BlockingIOError", "SSLWantReadError"}  # ssl may not be loaded
    finally:
        server.settimeout(patience)


def _refused(reply: bytes) -> bool:
    """Return whether a reply has an error.

    :raises GmcatError: it is not a JSON object.
    """
    return _fields(reply).get("error") is not None


def _fields(reply: bytes) -> dict[str, object]:
    """Decode a reply.

    :raises GmcatError: it is not a JSON object.
    """
    try:
        value = json.loads(reply.decode())
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise GmcatError("the server's reply is not a JSON object")
    return value


def _pretty(reply: bytes) -> bytes:
    """Indent a reply for people. A lone surrogate stays an escape sequence."""
    return _indented(json.loads(reply.decode())).encode("utf-8", "backslashreplace")


def _indented(value: object, margin: str = "") -> str:
    """Format JSON with a line for each item, except that a value that fits on one line stays on one."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(margin) + len(flat) <= PRETTY_WIDTH or not isinstance(value, dict | list):
        return flat
    inner = margin + "  "
    if isinstance(value, list):
        items = [_indented(item, inner) for item in value]
    else:
        items = [f"{json.dumps(key, ensure_ascii=False)}: {_indented(item, inner)}" for key, item in value.items()]
    lines = f",\n{inner}".join(items)
    return f"{flat[0]}\n{inner}{lines}\n{margin}{flat[-1]}"


if __name__ == "__main__":
    sys.exit(main())
