"""The clients for C and Node as programs that tests run: building them, starting them, and talking to them by lines."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Any

import trio

from tests.clients.running import PATIENCE
from tests.ended import ended
from tests.helpers import Client, Json
from tests.tools import require_tool

ROOT = Path(__file__).parents[2]
C = ROOT / "clients" / "c"
NODE = ROOT / "clients" / "node"
PYTHON = ROOT / "clients" / "python"

#: Flags with which the C client compiles without a warning.
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
#: Flags that end a program at its first access to memory that is not its own, or at undefined behaviour.
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def compile_c(output: Path, *sources: Path, flags: Sequence[str] = SANITIZED, compiler: str = "gcc") -> Path:
    """Compile sources together with the client, and return the output's path."""
    command = [require_tool(compiler), *STRICT, *flags, f"-I{C}", C / "gm.c", *sources, "-o", output]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return output


def examples_of(readme: Path, language: str) -> list[str]:
    """Return the code blocks of a language in a README."""
    return re.findall(rf"^```{language}\n(.*?)^```$", readme.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def python_programs() -> list[str]:
    """Return the programs of the Python client's README (random play) and reference (a refusal, trio, the tracker)."""
    pages = (PYTHON / "README.md", ROOT / "docs/reference/python-client.md")
    return [program for page in pages for program in examples_of(page, "python")]


@asynccontextmanager
async def client_of(port: int, **hello: Any) -> AsyncIterator[Client]:
    """Yield a session of our test client with the daemon."""
    client = Client(await trio.open_tcp_stream("127.0.0.1", port))
    try:
        reply: Json = await client.ask("hello", **hello)
        assert reply["error"] is None, reply
        yield client
    finally:
        await client.aclose()


#: Function that returns the command of a language's random bot.
Bots = Callable[[str], list[str | Path]]


def random_bots(folder: Path) -> Bots:
    """Return how to start each random bot. The bot in C is compiled into a folder with sanitizers."""

    def command(language: str) -> list[str | Path]:
        if language == "node":
            return [require_tool("node"), NODE / "examples" / "random_bot.js"]
        if language.startswith("python"):
            name = "random_bot_trio.py" if language == "python-trio" else "random_bot.py"
            return [sys.executable, PYTHON / "examples" / name]
        program = folder / "random_bot"
        return [program if program.exists() else compile_c(program, C / "examples" / "random_bot.c")]

    return command


class Driver:
    """A program that answers each line with one line."""

    def __init__(self, stdin: IO[str], stdout: IO[str]) -> None:
        self._stdin, self._stdout = stdin, stdout

    def ask(self, *words: str) -> str:
        """Send one command and return its answer."""
        self._stdin.write(" ".join(words) + "\n")
        self._stdin.flush()
        answer = self._stdout.readline()
        assert answer.endswith("\n"), f"the driver ended at {words}"
        return answer[:-1]


@contextmanager
def driving(*command: str | Path) -> Iterator[Driver]:
    """Yield a driver, which must exit with status 0 when its input ends."""
    pipe = subprocess.PIPE
    with ended(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Driver(process.stdin, process.stdout)
        finally:
            _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")


class Bot:
    """A program that plays one game.

    :ivar output: what it printed, once it has ended.
    """

    def __init__(self, process: trio.Process) -> None:
        self._process = process
        self._printed = b""
        self.output = ""

    async def game_id(self) -> int:
        """Return the id of the game that the bot has begun, from its first line."""
        while b"\n" not in self._printed:
            await self._read()
        return int(self._printed.split()[1])

    async def end(self) -> None:
        """Wait for the bot's end, which must be successful."""
        while await self._read():
            pass
        await self._process.wait()
        self.output = self._printed.decode()
        assert self._process.returncode == 0, self.output

    async def _read(self) -> bytes:
        assert self._process.stdout is not None
        chunk = await self._process.stdout.receive_some()
        self._printed += chunk
        assert chunk or self._printed.count(b"\n") > 1, f"the bot ended early: {self._printed!r}"
        return bytes(chunk)


@asynccontextmanager
async def playing(*command: str | Path, env: dict[str, str] | None = None) -> AsyncIterator[Bot]:
    """Yield a bot, which is killed if it has not ended. Its errors are in its output."""
    pipe = subprocess.PIPE
    words = [str(word) for word in command]
    process = await trio.lowlevel.open_process(words, stdin=None, stdout=pipe, stderr=subprocess.STDOUT, env=env)
    assert process.stdout is not None
    async with process.stdout:
        try:
            yield Bot(process)
        finally:
            process.kill()  # this does nothing to a process that has ended
            with trio.CancelScope(shield=True):
                await process.wait()
