#!/usr/bin/env python3
"""gmcat: JSON to a gm server and its replies back, from a shell.

    gmcat '{"kind":"new_game","player_white":1,"player_black":2}'
    gmcat < requests.jsonl > replies.jsonl

Needs Python 3.11 and nothing else: this one file may be copied to wherever it is wanted.

A single request given as argument is a version 1 session. Anything else is one version 2 session, opened by a
hello of gmcat's own unless the first request is one, and by one that names the player where --player does; then a
single request has a session too. Each request is sent once the reply to the one before is
printed: a reply can decide the next request, and a ``wait`` is not cut short by what stands behind it.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import signal
import socket
import sys
from collections.abc import Iterable, Iterator

VERSION = "0.1.0"

#: The operator's socket in a daemon's data directory.
SOCKET_NAME = "operator.sock"

#: Where a key may stand that is not to be seen among the arguments of running programs.
KEY_VARIABLE = "GM_KEY"

#: Largest reply taken, in bytes. The longest game's history is some 10 MB; a server of another protocol gives
#: itself away by its first four bytes: "HTTP" would be a reply of 1.2 GB.
MAX_REPLY = 64 << 20

#: Longest line that --pretty makes of an array or object, in characters: a rank of the board is one line.
PRETTY_WIDTH = 100

EPILOG = """\
Without arguments, requests are read from standard input, one a line; blank lines are skipped.
Each reply is printed on a line of its own as it arrives.

exit status: 0  every reply's error is null
             1  some reply's error is not null
             2  the server cannot be reached, a reply did not come, or a request is not JSON
"""


class GmcatError(Exception):
    """What ends gmcat with status 2; its text is one line for the user."""


class BadInput(GmcatError):
    """A request that is not JSON, or a key that cannot be read."""


class Unreachable(GmcatError):
    """There is no connection to the server."""


class NoReply(GmcatError):
    """The connection ended, or brought something else, where a reply was due."""


def main() -> int:
    """The exit status of one run on the process's own arguments and streams."""
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
    except OSError as error:  # the connection's own are GmcatErrors
        print(f"gmcat: standard input or output failed: {error.strerror}", file=sys.stderr)
        return 2


def _die_of(signum: signal.Signals) -> int:
    """End as a program that does not handle ``signum`` does: a shell's loop then stops too, as it should."""
    signal.signal(signum, signal.SIG_DFL)
    signal.raise_signal(signum)
    return 128 + signum  # where the signal is blocked


def _options() -> argparse.Namespace:
    """The arguments; contradictions among them are argparse's to report, with exit status 2."""
    parser = _arguments()
    options = parser.parse_args()
    if options.ca is not None and not options.tls:
        parser.error("--ca goes with --tls")
    if options.socket is not None and options.tls:
        parser.error("--tls is for the game port, and --socket is not that")
    if options.player is None and options.key is not None:
        parser.error("--key goes with --player")
    return options


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gmcat",
        description="Send JSON requests to a gm server and print its replies.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("request", nargs="*", help="a request: one JSON object")
    parser.add_argument("--host", default="127.0.0.1", help="the server's name or address (%(default)s)")
    parser.add_argument("--port", type=_port, default=7100, help="the server's port (%(default)s)")
    parser.add_argument("--tls", action="store_true", help="speak TLS, and check that the server is the one named")
    parser.add_argument("--ca", metavar="FILE", help="with --tls: trust these certificates, in place of the system's")
    parser.add_argument("--socket", metavar="PATH", help="the operator's socket, or the data directory it is in")
    parser.add_argument("--player", metavar="PLAYER", help="who asks: a number, or a registered player's name")
    parser.add_argument("--key", metavar="KEY", help=f"its key, or @FILE (default: ${KEY_VARIABLE}, if set)")
    parser.add_argument("--timeout", type=_seconds, default=10.0, help="how long connecting may take (%(default)s)")
    parser.add_argument("--pretty", action="store_true", help="print replies indented, for people")
    parser.add_argument("--version", action="version", version=f"gmcat {VERSION}")
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 65535")
    return int(text)


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < float(text) <= 86400:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and at most 86400")


def _print_replies(replies: Iterable[bytes], *, pretty: bool) -> int:
    """Print each reply as it arrives.

    :returns: 0 where every reply's error is null, else 1.
    :raises NoReply: one of them is no reply.
    """
    status = 0
    # Not by sys.stdout: what could not be printed, that would try again to print at exit.
    with open(1, "wb", closefd=False) as output:
        for reply in replies:
            if _refused(reply):
                status = 1
            output.write((_pretty(reply) if pretty else reply) + b"\n")
            output.flush()
    return status


def _converse(options: argparse.Namespace) -> Iterator[bytes]:
    """The reply to each request in turn. Connects only when it has the first: a server does not wait long."""
    requests = _checked(_given(options.request))
    first = next(requests, None)
    if first is None:
        return
    hello = _hello(options)
    with _connect(options) as server:
        if options.player is not None or (len(options.request) != 1 and not _is_hello(first)):
            greeting = _ask(server, hello)
            if _refused(greeting):
                yield greeting
                return
        for request in itertools.chain([first], requests):
            yield _ask(server, request)


def _hello(options: argparse.Namespace) -> bytes:
    """The request that opens a version 2 session.

    :raises BadInput: the key cannot be read.
    """
    hello: dict[str, object] = {"kind": "hello", "protocol": 2, "client": f"gmcat/{VERSION}"}
    if options.player is not None:
        number = options.player.removeprefix("-").isdecimal()
        hello |= {"player": int(options.player)} if number else {"name": options.player}
        key = _key(options.key)
        hello |= {"key": key} if key else {}
    return json.dumps(hello, separators=(",", ":")).encode()


def _key(argument: str | None) -> str | None:
    """A key as it was given; any process of the machine can read an argument, so that a file is the better place."""
    if argument is None:
        return os.environ.get(KEY_VARIABLE)
    if not argument.startswith("@"):
        return argument
    try:
        with open(argument[1:], encoding="utf-8") as file:
            return file.read().strip()
    except (OSError, UnicodeError) as error:
        raise BadInput(f"--key: {argument[1:]}: {getattr(error, 'strerror', None) or error}") from None


def _given(arguments: list[str]) -> Iterator[tuple[str, bytes]]:
    """Each request as it was given, and what to call it in an error."""
    if arguments:
        for number, argument in enumerate(arguments, 1):
            yield f"argument {number}", argument.encode("utf-8", "surrogateescape")
        return
    with open(0, "rb", closefd=False) as lines:
        for number, line in enumerate(lines, 1):
            if not line.isspace():
                yield f"line {number}", line.rstrip(b"\r\n")


def _checked(given: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """The requests as they were given, each found to be JSON when its turn comes.

    :raises BadInput: one is not, or is not UTF-8.
    """
    for name, request in given:
        try:
            _decode(request)
        except json.JSONDecodeError as error:
            raise BadInput(f"{name} is not JSON: {error.msg} (character {error.pos + 1})") from None
        except ValueError as error:
            raise BadInput(f"{name} is not JSON: {error}") from None
        except RecursionError:
            pass  # nested deeper than can be checked here; the server will say so
        yield request


def _decode(request: bytes) -> object:
    """The value of a JSON text, numbers left as text: one of 5,000 digits is JSON, the server's to judge."""
    text = request.decode("utf-8")
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=_no_number)


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


def _is_hello(request: bytes) -> bool:
    try:
        value = _decode(request)
    except RecursionError:
        return False
    return isinstance(value, dict) and value.get("kind") == "hello"


def _connect(options: argparse.Namespace) -> socket.socket:
    """A connection that blocks without limit once it is made: a ``wait`` may take a minute.

    :raises Unreachable: there is none.
    """
    if options.socket is not None:
        return _connect_locally(options.socket)
    server = _connect_by_tcp(options.host, options.port, options.timeout)
    if options.tls:
        server = _secure(server, options.host, options.ca)
    server.settimeout(None)
    return server


def _connect_by_tcp(host: str, port: int, timeout: float) -> socket.socket:
    """:param timeout: seconds for each of the host's addresses, and for each step of what follows."""
    try:
        server = socket.create_connection((host, port), timeout)
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Unreachable(f"cannot reach port {port} of {host}: {reason} (is gmd serve running?)") from None
    return server


def _connect_locally(path: str) -> socket.socket:
    """A connection to a Unix socket. Its directory is entered first: an address has room for some 100 bytes."""
    where = os.path.join(path, SOCKET_NAME) if os.path.isdir(path) else path
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        os.chdir(os.path.dirname(where) or ".")
        server.connect(os.path.basename(where))
    except (OSError, ValueError) as error:
        server.close()
        reason = getattr(error, "strerror", None) or error
        raise Unreachable(f"cannot reach {where}: {reason} (is gmd serve running, and as this user?)") from None
    return server


def _secure(server: socket.socket, host: str, ca: str | None) -> socket.socket:
    """The connection under TLS, with a server that has proved to be ``host``.

    :raises Unreachable: it has not.
    """
    import ssl  # a quarter of the time of a whole run, which most runs do without

    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:  # ssl.SSLError is one
        reason = "holds no certificate in PEM" if isinstance(error, ssl.SSLError) else error.strerror
        raise Unreachable(f"--ca: {ca}: {reason}") from None
    try:
        return context.wrap_socket(server, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        hint = "" if ca else "; --ca FILE trusts a certificate of your own"
        raise Unreachable(f"the server is not known to be {host}: {error.verify_message.rstrip('.')}{hint}") from None
    except ssl.SSLError as error:
        raise Unreachable(f"no TLS with {host}: {error.reason or error} (does the server speak it?)") from None
    except (OSError, ValueError) as error:
        why = (
            "it did not answer in time"
            if isinstance(error, TimeoutError)
            else getattr(error, "strerror", None) or error
        )
        raise Unreachable(f"no TLS with {host}: {why}") from None


def _ask(server: socket.socket, request: bytes) -> bytes:
    """Send one request and read one frame.

    :raises NoReply: none came.
    """
    # A server may answer and close before it has read all (`too_many`). If it did not, reading fails too.
    with contextlib.suppress(OSError):
        server.sendall(len(request).to_bytes(4, "big") + request)
    header = _receive(server, 4)
    length = int.from_bytes(header, "big", signed=True)
    if not 0 < length <= MAX_REPLY:
        raise NoReply(f"this is no gm server: its reply begins with {header!r}, a length of {length}")
    return _receive(server, length).rstrip(b"\0").replace(b"\n", b" ")  # one line; in strings they are escaped


def _receive(server: socket.socket, size: int) -> bytes:
    """Exactly ``size`` bytes.

    :raises NoReply: the connection ended before.
    """
    received = bytearray()
    while len(received) < size:
        try:
            chunk = server.recv(min(size - len(received), 1 << 16))
        except OSError as error:
            raise NoReply(f"the connection was lost before the reply: {error.strerror or error}") from None
        if not chunk:
            raise NoReply("the server closed the connection before the reply")
        received += chunk
    return bytes(received)


def _refused(reply: bytes) -> bool:
    """Whether a reply's error is not null.

    :raises NoReply: it is not a JSON object.
    """
    try:
        value = json.loads(reply.decode())
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise NoReply("the server's reply is not a JSON object")
    return value.get("error") is not None


def _pretty(reply: bytes) -> bytes:
    """A reply for people to read. A lone surrogate stays the escape it came as."""
    return _indented(json.loads(reply.decode())).encode("utf-8", "backslashreplace")


def _indented(value: object, margin: str = "") -> str:
    """JSON with a line for each item, except that what fits into one line stays in one."""
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
