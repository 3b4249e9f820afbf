"""A process that has imported gmd and forks for our programs that tests start: ``python -m tests.fork_server N``.

A start of Python with gmd's imports takes 0.3 seconds of a processor, with HTTP 0.6, and the tests start a thousand.
This process has run no event loop and has one thread, so a fork of it is what a program is after its imports, but that
a hash of a password costs next to nothing. :mod:`tests.forked` asks for programs, by a socket with descriptor N.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import io
import json
import os
import pkgutil
import platform
import resource
import runpy
import signal
import socket
import struct
import sys
import termios
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

#: The length in bytes of a request's JSON, which follows. The program's standard streams come with it, and the sockets
#: that a service manager hands it.
HEADER = struct.Struct("!I")
MAX_DESCRIPTORS = 3 + 16
#: The id of a new process, once it is a child of the process that asks.
REPLY = struct.Struct("!i")
#: The number of the system call ``clone``, by machine.
CLONE = {"aarch64": 220, "x86_64": 56}
#: Its flag for a process that is a child of the caller's parent.
_CLONE_PARENT = 0x8000
#: The packages whose modules are imported, and modules of others that they import only when they run.
PACKAGES = ("gmd", "gm_arena", "gm_bots.minimax")
#: The modules that run as programs: the command line, and the processes of bots.
PROGRAMS = (
    "gmd",
    "gm_arena.playback.host",
    "gm_arena.reconchess_host",
    "gm_arena.resident",
    "gm_bots.minimax",
    "gm_client.gmcat",
)
LATE = (
    "alembic.command",
    "alembic.context",
    "argon2",
    "gm_client.gmcat",
    "hypercorn.trio",
    "prometheus_client",
    "sqlalchemy.dialects.sqlite",
    "trio.testing",
)
#: What is left out: it is part of the tests' process, or needs something that is not there or starts threads.
LEFT_OUT = (
    "gmd.__main__",
    "gm_bots.minimax.__main__",
    "gmd.pytest_plugin",
    "gmd.event_log.migrations.",
    "gm_arena.env_turns",  # numpy, by gm_env
    "gm_arena.opponent",
)


def main() -> None:
    gc.disable()  # nothing of what is imported is garbage
    import_everything()
    make_passwords_cheap()
    requests = socket.socket(fileno=int(sys.argv[1]))
    gc.freeze()  # a collection in a fork would copy it
    gc.enable()
    request = wait_for_requests(requests)
    if request is not None:
        run(request)


def import_everything() -> None:
    for package in PACKAGES:
        for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not found.name.startswith(LEFT_OUT):
                with suppress(ImportError):  # of an optional dependency
                    import_module(found.name)
    for name in LATE:
        import_module(name)
    # What a process does once, the first time:
    for pages in (False, True):
        import_module("gmd.http.app").litestar_app(pages)
    import_module("gmd.config_loading").load_config({}, {})
    assert len(os.listdir("/proc/self/task")) == 1, "a fork has only the thread that forks"


def make_passwords_cheap() -> None:
    """Let a daemon hash passwords by one pass over 64 KiB, as those in the tests' own process do: the usual hash takes
    0.2 seconds of a processor. A stored hash has its own cost with it, so real starts verify it as well.
    """
    daemon: Any = import_module("gmd.daemon")
    daemon.Passwords = partial(daemon.Passwords, passes=1, memory_kib=64)


def wait_for_requests(requests: socket.socket) -> dict[str, Any] | None:
    """Fork for each request. Return the request in a new process, and None in this one when nobody can ask any more."""
    while True:
        header, descriptors, _, _ = socket.recv_fds(requests, HEADER.size, MAX_DESCRIPTORS)
        if not header:
            return None
        request: dict[str, Any] = json.loads(_exactly(requests, HEADER.unpack(header)[0]))
        program = fork_for_parent()
        if program == 0:
            requests.close()
            _place(descriptors)
            return request
        for descriptor in descriptors:
            os.close(descriptor)
        requests.sendall(REPLY.pack(program))


def fork_for_parent() -> int:
    """Fork a process that is a child of this one's parent. Return its id, and 0 in it.

    Where the kernel does not do that at once, the process is a grandchild whose parent ends, and the parent of this one
    must adopt it. That costs twice as much, since each fork copies the tables of a hundred megabytes.
    """
    if (program := _cloned()) >= 0:
        return program
    receives, sends = os.pipe()
    between = os.fork()
    if between == 0:
        program = os.fork()
        if program == 0:
            os.close(receives)
            os.close(sends)
            return 0
        os.write(sends, REPLY.pack(program))
        os._exit(0)
    os.close(sends)
    (program,) = REPLY.unpack(os.read(receives, REPLY.size))
    os.close(receives)
    os.waitpid(between, 0)
    return program


def _cloned() -> int:
    """Do what :func:`os.fork` does, but for the new process's parent; return -1 where that is not possible.

    Handlers that C libraries registered with ``pthread_atfork`` are not called: nothing imported here needs any.
    """
    number = CLONE.get(platform.machine())
    if number is None:
        return -1
    python, system = ctypes.pythonapi, ctypes.PyDLL(None)
    system.syscall.restype = ctypes.c_long
    python.PyOS_BeforeFork()
    pid: int = system.syscall(*map(ctypes.c_long, (number, _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)))
    if pid == 0:
        python.PyOS_AfterFork_Child()
    else:
        python.PyOS_AfterFork_Parent()
    return pid


def _exactly(requests: socket.socket, length: int) -> bytes:
    received = b""
    while len(received) < length:
        received += requests.recv(length - len(received))
    return received


def _place(descriptors: Sequence[int]) -> None:
    """Make the descriptors 0, 1, 2, and those from 3 up that are handed down, of others, which are closed."""
    apart = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 100) for descriptor in descriptors]
    for descriptor in descriptors:
        os.close(descriptor)
    for number, descriptor in enumerate(apart):
        os.dup2(descriptor, number)
        os.close(descriptor)


def own_terminal() -> None:
    """Make the standard input the controlling terminal of a new session, as a shell does, so that Ctrl-C interrupts."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def run(request: dict[str, Any]) -> NoReturn:
    """Run ``python -m MODULE`` with the request's flags and arguments, as in a new process, and end."""
    if request["own_terminal"]:
        own_terminal()
    if request["start_new_session"]:
        os.setsid()
    if request["process_group"] >= 0:
        os.setpgid(0, request["process_group"])
    os.umask(request["umask"])
    resource.setrlimit(resource.RLIMIT_NOFILE, request["descriptors"])
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    if handed := request["handed"]:  # as systemd announces them
        os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(len(handed))}
        os.environ["LISTEN_FDNAMES"] = request["names"]
    time.tzset()
    scheduler: Any = import_module("trio._core._run")
    scheduler._r.seed()  # its own numbers, by which it shuffles tasks: a fork has those of all others
    if "-P" in request["flags"]:
        del sys.path[0]
    else:
        sys.path[0] = os.getcwd()
    sys.argv = [request["module"], *request["arguments"]]
    _open_standard_streams(unbuffered="-u" in request["flags"] or bool(os.environ.get("PYTHONUNBUFFERED")))
    _end(_exit_status(request["module"]))


def _open_standard_streams(unbuffered: bool) -> None:
    """Open the standard streams as Python does when it starts, with ``-u`` if so, and as PYTHONIOENCODING says."""
    sys.stdin = sys.__stdin__ = _text(0, "r", sys.stdin)  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _text(1, "w", sys.stdout, unbuffered)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _text(2, "w", sys.stderr, unbuffered)  # type: ignore[misc]


def _text(descriptor: int, mode: str, like: Any, unbuffered: bool = False) -> io.TextIOWrapper:
    """Return a stream on a descriptor, with the encoding of this process's own unless the environment names another."""
    binary: Any = open(descriptor, f"{mode}b", 0 if unbuffered else -1, closefd=False)  # noqa: SIM115 (it stays open)
    lines = descriptor == 2 or os.isatty(descriptor)
    encoding, errors = like.encoding, like.errors
    if named := os.environ.get("PYTHONIOENCODING"):
        encoding, _, errors = named.partition(":")
        encoding, errors = encoding or like.encoding, "backslashreplace" if descriptor == 2 else errors or "strict"
    return io.TextIOWrapper(binary, encoding, errors, newline="\n", line_buffering=lines, write_through=unbuffered)


def _exit_status(module: str) -> int:
    """Run the program to its end, and return what the process shall exit with, as Python does."""
    try:
        if not hasattr(sys.modules[module], "__path__"):  # else it runs a package's __main__, which nothing imports
            del sys.modules[module]  # runpy warns of a module that has been imported
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _end(status: int) -> NoReturn:
    """End as Python does, but leave all memory to the system."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:
        status = 120
    sys.stderr.flush()
    if status == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(status & 0xFF)


if __name__ == "__main__":
    main()
