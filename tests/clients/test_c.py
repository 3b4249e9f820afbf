"""The client for C: its compilation, its sockets, its JSON compared with Python's, its README. Its sessions are in
``test_reconnecting.py``.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.other_languages import STRICT, C, Driver, compile_c, driving, examples_of
from tests.clients.running import OK, PATIENCE
from tests.clients.sessions import driver_of
from tests.serving import Served, reserved_port
from tests.tools import require_tool

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
BOT = C / "examples" / "random_bot.c"


@pytest.mark.parametrize(
    "command",
    [
        ["gcc", "-O0", "-c", C / "gm.c"],
        ["gcc", "-O2", "-c", BOT],
        ["clang", "-O2", "-c", C / "gm.c"],
        ["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-c", C / "gm.c"],
    ],
    ids=lambda command: "-".join(map(str, command[:2])),
)
def test_client_compiles_without_warnings(command: list[str | Path], tmp_path: Path) -> None:
    compiler, *flags = command
    words = [require_tool(str(compiler)), *STRICT, "-Wshadow", "-Wconversion", f"-I{C}", *flags, "-o", tmp_path / "x.o"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_header_compiles_as_cpp(tmp_path: Path) -> None:
    (tmp_path / "x.cpp").write_text('#include "gm.h"\nint main() { gm_connection c; gm_init(&c); return c.fd + 1; }\n')
    compile_c(tmp_path / "gm.o", flags=["-c"])
    command = [require_tool("g++"), "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{C}", "x.cpp", "gm.o", "-o", "x"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).stderr == b""
    assert subprocess.run([tmp_path / "x"]).returncode == 0


def test_client_has_no_global_variables(tmp_path: Path) -> None:
    """The object file has neither data nor bss, only functions and constants."""
    compiled = compile_c(tmp_path / "gm.o", flags=["-c", "-O2"])
    listed = subprocess.run([require_tool("nm"), compiled], capture_output=True, text=True, check=True).stdout
    symbols = [line.split()[-2:] for line in listed.splitlines()]
    assert {kind for kind, _ in symbols} <= set("TtrRU")
    used = {name for kind, name in symbols if kind == "U"}
    assert used.isdisjoint({"malloc", "calloc", "realloc", "free", "strdup", "signal", "sigaction", "printf", "exit"})


@pytest.mark.parametrize("watched", ["sanitizers", "valgrind"])
def test_sockets_may_be_slow_cut_or_closed(watched: str, tmp_path: Path) -> None:
    if watched == "sanitizers":
        command = [compile_c(tmp_path / "checks", HERE / "c" / "checks.c")]
    else:
        valgrind = require_tool("valgrind")
        program = compile_c(tmp_path / "checks", HERE / "c" / "checks.c", flags=["-g"])
        command = [valgrind, "--quiet", "--leak-check=full", "--track-fds=no", "--error-exitcode=9", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=4 * PATIENCE)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.splitlines()[-1] == "lengths out of range"


@pytest.fixture(scope="module")
def driver(compiled: Path) -> Iterator[Driver]:
    with driving(*driver_of("c", compiled)) as running:
        yield running


# JSON. Python's parser, limited to standard JSON, is the oracle.


def digits(text: str | bytes) -> str:
    data = text if isinstance(text, bytes) else text.encode()
    return data.hex() or "."


def is_json(data: bytes) -> bool:
    def refuse(name: str) -> Any:
        raise ValueError(name)

    try:
        json.loads(data.decode().rstrip("\0"), parse_constant=refuse, parse_int=str)
    except ValueError:
        return False
    return True


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    # No lone surrogates; another test covers them.
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('ab."é\\'), inner, max_size=4),
    max_leaves=12,
)


def spelt(value: Any, ascii_only: bool, spaced: bool) -> str:
    return json.dumps(value, ensure_ascii=ascii_only, indent=1 if spaced else None)


@given(values, st.booleans(), st.booleans())
def test_find_returns_the_same_members_as_python(driver: Driver, value: Any, ascii_only: bool, spaced: bool) -> None:
    text = digits(spelt({"v": value, "a": {"b": value}}, ascii_only, spaced))
    for path in ("v", "a.b"):
        found, string, integer = driver.ask("find", text, digits(path)).split()
        assert json.loads(bytes.fromhex(found)) == value
        if isinstance(value, str) and "\0" not in value:
            assert bytes.fromhex(string.replace(".", "")).decode() == value
        elif not isinstance(value, str):
            assert string == "-"
        in_range = type(value) is int and -(2**63) <= value < 2**63
        assert integer == (str(value) if in_range else "-")


@given(st.lists(values, max_size=6), st.booleans())
def test_items_are_returned_in_order(driver: Driver, elements: list[Any], spaced: bool) -> None:
    count, *texts = driver.ask("items", digits(spelt(elements, True, spaced))).split()
    assert int(count) == len(elements)
    assert [json.loads(bytes.fromhex(text)) for text in texts] == elements


def mutated(text: bytes, changes: list[tuple[int, int]]) -> bytes:
    """Return a text with some bytes changed, inserted or removed."""
    data = bytearray(text)
    for place, what in changes:
        at = place % (len(data) + 1)
        if what < 256:
            data[at:at] = bytes([what])
        elif what < 512:
            data[at : at + 1] = bytes([what - 256])
        else:
            del data[at : at + 1]
    return bytes(data)


changes = st.lists(st.tuples(st.integers(0, 1000), st.sampled_from([*b'{}[],:"\\u0019.eE-+ \0ntf', *range(256, 513)])))


@given(values, changes)
def test_parser_accepts_the_same_texts_as_python(driver: Driver, value: Any, changes: list[tuple[int, int]]) -> None:
    data = mutated(spelt({"v": value}, True, False).encode(), changes)
    answer = driver.ask("parse", digits(data))
    if b"\xef\xbb\xbf" not in data and all(byte < 128 for byte in data):
        assert (answer == "ok") == is_json(data)
    driver.ask("find", digits(data), digits("v"))
    driver.ask("items", digits(data))


@pytest.mark.parametrize("depth", [1, 64, 65, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_nesting_depth_is_limited(driver: Driver, depth: int, opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    answer = driver.ask("parse", digits(opening * depth + "1" + closing * depth))
    assert answer == ("ok" if depth <= 64 else "the text is not JSON")


@pytest.mark.parametrize(
    ("text", "string"),
    [
        (r'"\ud83d\ude00"', "😀"),
        (r'"\ud83d"', "\ufffd"),
        (r'"\ud83dx"', "\ufffdx"),
        (r'"\ud83d\n"', "\ufffd\n"),
        (r'"\ude00"', "\ufffd"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd😀"),
        (r'"a\u0000b"', "a\ufffdb"),
        (r'"\u0041\u00e9\u20ac\uffff\/\"\\"', 'Aé€\uffff/"\\'),
    ],
)
def test_string_escapes_are_decoded(driver: Driver, text: str, string: str) -> None:
    _, found, _ = driver.ask("find", digits('{"v":' + text + "}"), digits("v")).split()
    assert bytes.fromhex(found).decode() == string


@pytest.mark.parametrize(
    ("text", "path", "answer"),
    [
        ('{"a":1,"b":2,"a":3}', "a", f"{digits('3')} - 3"),
        (r'{"\u0061":1}', "a", f"{digits('1')} - 1"),
        ('{"a":{"b":{"c":null}}}', "a.b.c", f"{digits('null')} - -"),
        ('{"a":-0}', "a", f"{digits('-0')} - 0"),
        ('{"a":1}', "b", "there is no such member or element"),
        ('{"aa":1}', "a", "there is no such member or element"),
        ('{"a":1}', "aa", "there is no such member or element"),
        ("{}", "a", "there is no such member or element"),
        ('{"a":1}', "a.b", "the value has another type or is out of range"),
        ("[1]", "a", "the value has another type or is out of range"),
        ('{"a":1} x', "a", "the text is not JSON"),
        ('{"a":1}\0\0', "a", f"{digits('1')} - 1"),
    ],
)
def test_find_reports_values_and_errors(driver: Driver, text: str, path: str, answer: str) -> None:
    assert driver.ask("find", digits(text), digits(path)) == answer


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 200))
def test_quoted_text_decodes_to_itself_or_is_not_written(driver: Driver, text: str, size: int) -> None:
    needed, written = driver.ask("quote", str(size), digits(text)).split()
    if int(needed) < size:
        assert json.loads(bytes.fromhex(written)) == text
        assert len(bytes.fromhex(written)) == int(needed)
    else:
        assert written == "."


# Connections and sessions.


def test_addresses_of_a_host_are_tried_one_after_the_other(driver: Driver, daemon_process: Served) -> None:
    """The daemon listens only on 127.0.0.1; "localhost" may resolve to ::1 first."""
    assert driver.ask("open", "0", "localhost", str(daemon_process.port)) == "ok"
    assert bytes.fromhex(driver.ask("ask", "0", digits('{"kind":"ping"}'))) == OK
    driver.ask("close", "0")


def test_failed_connection_is_explained(driver: Driver) -> None:
    assert driver.ask("open", "0", "256.256.256.256", "7100").startswith("the host was not found: ")
    with reserved_port() as port:
        assert driver.ask("open", "0", "127.0.0.1", str(port)) == "a system call failed: Connection refused"
    assert driver.ask("ask", "0", digits("{}")) == "the server has closed the connection, or there is none"


def test_session_takes_hosts_without_a_port_or_in_brackets(driver: Driver, daemon_process: Served) -> None:
    hello = digits('{"kind":"hello"}')
    assert driver.ask("servers", f"127.0.0.1,[::1],:{daemon_process.port}", "0", hello) == "ok"
    assert driver.ask("servers", "::1", "0", hello) == "a system call failed: Connection refused"
    driver.ask("session_close")


# The README.


def test_readme_example_plays_a_game(daemon_process: Served, tmp_path: Path) -> None:
    (source,) = examples_of(C / "README.md", "c")
    (tmp_path / "bot.c").write_text(source.replace('"7100"', f'"{daemon_process.port}"'))
    bot = compile_c(tmp_path / "bot", tmp_path / "bot.c")
    done = subprocess.run([bot], capture_output=True, text=True, timeout=4 * PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"(1-0|0-1|1/2-1/2) [a-z_]+\n", done.stdout)
