"""The bytes that gmcat sends, and what it does not send."""

from __future__ import annotations

import json
import os

import pytest

from tests.clients.running import NEW_GAME, OK, PING, complaint, gmcat, replies
from tests.clients.scripted import answer_all, answer_once, serving


def test_single_argument_is_sent_as_a_version_1_session() -> None:
    with serving(answer_once(OK)) as server:
        assert gmcat(server, PING).returncode == 0
    assert server.sessions == [[PING.encode()]]


@pytest.mark.parametrize("lines", [PING, PING + "\n", f"\n  \n{PING}\r\n\n{PING}\n\n"])
def test_lines_form_one_version_2_session_and_blank_lines_are_skipped(lines: str) -> None:
    with serving(answer_all) as server:
        run = gmcat(server, lines=lines)
    hello, *requests = server.sessions[0]
    assert len(server.sessions) == 1
    assert json.loads(hello)["kind"] == "hello"
    assert json.loads(hello)["protocol"] == 2
    assert requests == [PING.encode()] * lines.count("kind")
    assert run.stdout == (OK + b"\n") * len(requests)


def test_several_arguments_form_one_version_2_session() -> None:
    with serving(answer_all) as server:
        gmcat(server, PING, NEW_GAME)
    assert [session[1:] for session in server.sessions] == [[PING.encode(), NEW_GAME.encode()]]


def test_hello_of_the_user_replaces_the_hello_of_gmcat() -> None:
    hello = b'{ "client" : "mine", "kind" : "hello" }'
    with serving(answer_all) as server:
        run = gmcat(server, lines=hello + b"\n" + PING.encode())
    assert server.sessions == [[hello, PING.encode()]]
    assert len(replies(run)) == 2


@pytest.mark.parametrize(
    "request_text",
    [
        '{"kind":"ping","kind":"state"}',
        '  {"a":1.50, "b":1e400, "\\u0041":"\\ud800"} ',
        '{"é":"象"}',
        "17",
        "9" * 5000,
        "[" * 100_000 + "]" * 100_000,
    ],
    ids=["duplicate keys", "spaces and escapes", "utf-8", "no object", "a long number", "deep"],
)
def test_json_is_sent_exactly_as_written(request_text: str) -> None:
    with serving(answer_all) as server:
        assert gmcat(server, lines=request_text).returncode == 0
    assert server.sessions[0][1:] == [request_text.encode()]


def test_no_requests_open_no_session() -> None:
    with serving(answer_all) as server:
        run = gmcat(server, lines="\n\n")
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
    assert server.sessions == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{", "is not JSON: Expecting property name enclosed in double quotes (character 2)"),
        (b"{'kind':'ping'}", "is not JSON: Expecting property name enclosed in double quotes (character 2)"),
        (b"{} {}", "is not JSON: Extra data (character 4)"),
        (b'{"x":NaN}', "is not JSON: NaN is not a JSON number"),
        (b'{"x":"\xff"}', "is not JSON: 'utf-8' codec can't decode byte 0xff in position 6"),
        (b'{"x":"\xed\xa0\x80"}', "is not JSON: 'utf-8' codec can't decode byte 0xed in position 6"),
    ],
)
def test_text_that_is_not_json_exits_with_2_after_earlier_requests(text: bytes, said: str) -> None:
    with serving(answer_all) as server:
        by_line = gmcat(server, lines=b"\n".join([PING.encode(), b"", text, PING.encode()]))
        by_argument = gmcat(server, PING, os.fsdecode(text), PING)
    assert complaint(by_line).startswith(f"line 3 {said}")
    assert complaint(by_argument).startswith(f"argument 2 {said}")
    assert by_line.stdout == by_argument.stdout == OK + b"\n"
    assert [session[1:] for session in server.sessions] == [[PING.encode()]] * 2


def test_empty_argument_is_not_json() -> None:
    with serving(answer_all) as server:
        assert complaint(gmcat(server, "")) == "argument 1 is not JSON: Expecting value (character 1)"
    assert server.sessions == []
