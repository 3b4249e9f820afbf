"""Programs of ours that begin as forks: whenever a test starts ``python -m gmd``, a fork server does it.

It also starts the programs in which the arena runs bots (:data:`tests.fork_server.PROGRAMS`).

:mod:`subprocess` remains the way to start them, and :mod:`trio` uses that: the process has its own id, signals,
environment, descriptors and exit status, and is a child of this one. But the modules are imported when it begins. So
tests of the start itself, of what is imported, or of the memory of a daemon are marked ``real_start``.
"""

from __future__ import annotations

import atexit
import ctypes
import inspect
import json
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.fork_server import HEADER, PROGRAMS, REPLY, own_terminal

ROOT = Path(__file__).parent.parent

#: Of ``prctl``: whether a process becomes the parent of descendants whose parents have ended.
_PR_SET_CHILD_SUBREAPER = 36
#: The beginnings of variables that Python or a library reads as a process starts.
_READ_AT_START = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC_", "GLIBC_", "COVERAGE_")
#: Those of them by which the fork server opens the standard streams.
_OF_STREAMS = {"PYTHONIOENCODING", "PYTHONUNBUFFERED"}
#: Parameters of :meth:`subprocess.Popen._execute_child` that a fork lacks, and their values without use.
_NOT_PROVIDED = {
    "close_fds": True,
    "shell": False,
    "restore_signals": True,
    "gid": None,
    "gids": None,
    "uid": None,
    "umask": -1,
}

#: A program that puts descriptors where a service expects them, from 3 up, and announces them in the environment of the
#: process that it becomes. Arguments: their count, their numbers, their names, and the command.
HAND_DOWN = """
import os, sys
count = int(sys.argv[1])
given = [os.dup(int(number)) for number in sys.argv[2 : 2 + count]]
for place, descriptor in enumerate(given, 3):
    os.dup2(descriptor, place + 100, inheritable=True)
for place in range(3, 3 + count):
    os.dup2(place + 100, place, inheritable=True)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(count), "LISTEN_FDNAMES": sys.argv[2 + count]}
os.execvp(sys.argv[3 + count], sys.argv[3 + count :])
"""

#: The pipes that it gets, of which the child's ends are its standard streams.
_PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")

_start: Any = subprocess.Popen._execute_child  # type: ignore[attr-defined]
_PARAMETERS = tuple(inspect.signature(_start).parameters)[1:]
_wanted = True


def install() -> None:
    """Have :mod:`subprocess` fork our programs in this process; for Linux, whose kernel can pass children on."""
    if sys.platform == "linux":
        _at_start.update(os.environ)
        subprocess.Popen._execute_child = _start_or_fork  # type: ignore[attr-defined]


@contextmanager
def real_starts() -> Iterator[None]:
    """Start commands as the operator does."""
    global _wanted
    before, _wanted = _wanted, False
    try:
        yield
    finally:
        _wanted = before


_at_start: dict[str, str] = {}


def _start_or_fork(process: Any, *values: Any) -> None:
    """Start a process of :class:`subprocess.Popen`, which has prepared its pipes."""
    options = dict(zip(_PARAMETERS, values, strict=False))
    program = _program(options["args"])
    if program is None or not _wanted or not _can_fork(options) or program["handed"] != [*options["pass_fds"]]:
        return _start(process, *values)  # type: ignore[no-any-return]
    given = [options[name] for name in ("p2cread", "c2pwrite", "errwrite")]
    streams = [number if each == -1 else each for number, each in enumerate(given)]
    request = {
        **program,
        "cwd": os.getcwd() if options["cwd"] is None else os.fspath(options["cwd"]),
        "env": dict(os.environ if options["env"] is None else options["env"]),
        "umask": _umask(),
        "own_terminal": options["preexec_fn"] is own_terminal,
        "descriptors": resource.getrlimit(resource.RLIMIT_NOFILE),
        "start_new_session": options["start_new_session"],
        "process_group": options["process_group"],
    }
    process.pid = _server().fork(request, [*streams, *options["pass_fds"]])
    process._child_created = True
    process._close_pipe_fds(*(options[name] for name in _PIPES))
    return None


def _program(command: Any) -> dict[str, Any] | None:
    """Return the module, Python's flags and the arguments of one of our programs, and None for other commands.

    Where HAND_DOWN hands it descriptors, return these and their names, too.
    """
    if isinstance(command, str | bytes | os.PathLike):
        return None
    words = [os.fsdecode(word) for word in command]
    handed: list[int] = []
    names = ""
    if words[:3] == [sys.executable, "-c", HAND_DOWN]:
        after = 4 + int(words[3])
        handed, names, words = [int(number) for number in words[4:after]], words[after], words[after + 1 :]
    if words[:1] != [sys.executable] or "-m" not in words:
        return None
    at = words.index("-m")
    flags, module, arguments = words[1:at], words[at + 1], words[at + 2 :]
    if module in PROGRAMS and set(flags) <= {"-P", "-u"}:
        return {"module": module, "flags": flags, "arguments": arguments, "handed": handed, "names": names}
    return None


def _can_fork(options: Mapping[str, Any]) -> bool:
    env = os.environ if options["env"] is None else options["env"]
    return (
        all(options[name] == unused for name, unused in _NOT_PROVIDED.items())
        and options["preexec_fn"] in (None, own_terminal)
        and options["executable"] is None
        and (options["cwd"] is None or os.path.isdir(options["cwd"]))
        and _read_at_start(env) == _read_at_start(_at_start)
    )


def _read_at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(_READ_AT_START) and name not in _OF_STREAMS}


def _umask() -> int:
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("Umask:"))
    return int(line.split()[1], 8)


@cache
def _server() -> _Server:
    return _Server()


class _Server:
    """The fork server of this process, which ends when this process does."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._requests, theirs = socket.socketpair()
        with theirs, real_starts():
            command = [sys.executable, "-m", "tests.fork_server", str(theirs.fileno())]
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=_at_start, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
            )
        atexit.register(self._end)

    def _end(self) -> None:
        self._requests.close()
        self._process.wait()

    def fork(self, request: Mapping[str, Any], streams: Sequence[int]) -> int:
        """Return the id of a new process, a child of this one.

        :param streams: the descriptors that become its standard streams, and those that it is handed.
        """
        said = json.dumps(request).encode()
        with self._turn:
            _adopt_orphans(True)
            try:
                socket.send_fds(self._requests, [HEADER.pack(len(said))], streams)
                self._requests.sendall(said)
                return self._receive()
            finally:
                _adopt_orphans(False)

    def _receive(self) -> int:
        reply = self._requests.recv(REPLY.size, socket.MSG_WAITALL)
        assert reply, "the fork server has ended"
        (pid,) = REPLY.unpack(reply)
        return int(pid)


def _adopt_orphans(whether: bool) -> None:
    """Make this process the parent of its orphaned descendants, or the first process of the system again."""
    assert _prctl()(_PR_SET_CHILD_SUBREAPER, int(whether), 0, 0, 0) == 0


@cache
def _prctl() -> Any:
    return ctypes.CDLL(None).prctl
