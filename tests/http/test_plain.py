"""Plain requests: h11 reads every request that the shortcut accepts in the same way."""

from __future__ import annotations

import h11
import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from gmd.http.plain import read_plain

HEAD = b"GET /api/games/7/color HTTP/1.1\r\nHost: here\r\n"
POST = b"POST /api/games/7/sense HTTP/1.1\r\nHost: here\r\n"

#: The parts of a request: mostly as HTTP libraries write it, with an occasional oddity.
good_starts = st.sampled_from([b"GET /api/games/7/color HTTP/1.1\r\n", b"POST /api/games/0042/sense HTTP/1.1\r\n"])
odd_starts = st.sampled_from(
    [
        b"GET /api/games/7/color?x HTTP/1.1\r\n",
        b"GET /api/games/%37/color HTTP/1.1\r\n",
        b"GET  /api/games/7/color HTTP/1.1\r\n",
        b"GET /api/games/7/color HTTP/1.0\r\n",
        b"HEAD /api/games/7/color HTTP/1.1\r\n",
        b"\r\nGET /api/games/7/color HTTP/1.1\r\n",
        b"GET /api/games/7/color HTTP/1.1\n",
    ]
)
good_lines = st.lists(
    st.sampled_from(
        [b"Content-Length: 3\r\n", b"Accept: */*\r\n", b"Connection: Keep-Alive\r\n", b"Authorization: Basic eDp5 \r\n"]
    ),
    max_size=4,
    unique=True,
)
names = st.sampled_from([b"Host", b"Connection", b"content-length", b"Transfer-Encoding", b"Upgrade", b"Expect"]) | (
    st.sampled_from([b"X-Forwarded-For", b"X_Y", b"X ", b" X", b""])
)
separators = st.sampled_from([b": ", b": ", b":", b" : ", b":\t", b":  "])
values = (
    st.sampled_from(
        [b"here", b"here:80", b"here,there", b"[::1]", b"keep-alive", b"close", b"upgrade", b"h2c", b"chunked"]
    )
    | st.sampled_from(
        [b"0", b"3", b"3, 3", b"-1", b"+3", b"100-continue", b"", b"a  ", b"a\t", b"\xe9", b"a\0b", b"a\x0bb"]
    )
    | st.binary(max_size=6)
)
odd_lines = st.lists(
    st.tuples(names, separators, values, st.sampled_from([b"\r\n", b"\r\n", b"\n", b"\r\n ", b"\r\n\t"])).map(b"".join),
    max_size=1,
)
heads = st.tuples(good_lines, odd_lines).flatmap(
    lambda services: st.permutations([b"Host: here\r\n", *services[0], *services[1]])
)
ends = st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"", b"\n"])
requests = st.tuples(good_starts | good_starts | odd_starts, heads.map(b"".join), ends, st.binary(max_size=9)).map(
    b"".join
)


@given(requests)
@example(HEAD + b"\r\n")
@example(HEAD + b"\r\nGET /another HTTP/1.1\r\n\r\n")
@example(POST + b"Content-Length: 3\r\nAuthorization: Basic eDp5 \r\n\r\nabcdef")
@example(POST + b"Content-Length: 3\r\n\r\na")
@example(HEAD + b"Content-Length: 3\r\n\r\nabc")
def test_plain_request_is_read_as_by_h11(data: bytes) -> None:
    plain = read_plain(data)
    event("plain" if plain is not None else "left to h11")
    if plain is None:
        return
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    request = connection.next_event()
    assert isinstance(request, h11.Request)
    assert request.method.decode() == plain.method
    start, game_id, what = request.target.rsplit(b"/", 2)
    assert (start, int(game_id), what.decode()) == (b"/api/games", plain.game_id, plain.what)
    assert dict(request.headers) == plain.headers
    assert not connection.they_are_waiting_for_100_continue
    body = b""
    while isinstance(part := connection.next_event(), h11.Data):
        body += part.data
    assert body == data[plain.start : plain.end]
    if len(data) < plain.end:
        assert part is h11.NEED_DATA
        return
    assert isinstance(part, h11.EndOfMessage)
    assert connection.trailing_data[0] == data[plain.end :]
    connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
    connection.send(h11.EndOfMessage())
    connection.start_next_cycle()  # this raises if the connection must be closed


@pytest.mark.parametrize(
    "data",
    [
        b"",
        HEAD,
        HEAD + b"Host: there\r\n\r\n",
        b"GET /api/games/7/color HTTP/1.1\r\nAccept: */*\r\n\r\n",
        HEAD.replace(b"here", b"he re") + b"\r\n",
        HEAD.replace(b"7", b"12345678901234567") + b"\r\n",
        HEAD + b"Connection: close\r\n\r\n",
        POST + b"Content-Length: 3\r\ncontent-length: 3\r\n\r\nabc",
        POST + b"Content-Length: 1234567890\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"Content-Length: 3\r\nExpect: 100-continue\r\n\r\n",
        HEAD + b"Upgrade: websocket\r\n\r\n",
        HEAD.replace(b"GET", b"HEAD") + b"\r\n",
        HEAD.replace(b"/color", b"/color/") + b"\r\n",
    ],
)
def test_incomplete_or_unusual_request_is_not_plain(data: bytes) -> None:
    assert read_plain(data) is None


@pytest.mark.parametrize(
    ("data", "start", "length"),
    [
        (HEAD + b"\r\n", len(HEAD) + 2, 0),
        (HEAD + b"User-Agent: python-requests/2.32.5\r\nConnection: keep-alive\r\n\r\n", len(HEAD) + 62, 0),
        (POST + b"Content-Length: 14\r\n\r\n" + b'{"square": 28}', len(POST) + 22, 14),
    ],
)
def test_request_of_an_http_library_is_plain(data: bytes, start: int, length: int) -> None:
    plain = read_plain(data)
    assert plain is not None
    assert (plain.start, plain.end) == (start, start + length)
    assert plain.path in ("/api/games/7/color", "/api/games/7/sense")
