"""HTTP is read strictly: anything that two servers may read differently is refused with 400, and the connection
closed.
"""

from __future__ import annotations

import re

import h11
import trio
from hypothesis import event, example, given
from hypothesis import strategies as st

from gmd.http.requests import Refusal, RequestReader
from tests.http.helpers import open_http, read_to_end
from tests.http.rbc import Table, rbc_table
from tests.http.test_plain_routes import basic

GET = b"GET /api/version HTTP/1.1\r\nHost: here\r\n"
#: The head of a request for a plain route.
GAME = b"POST /api/games/1/sense HTTP/1.1\r\nHost: here\r\n"
CHUNKED = GET.replace(b"GET", b"POST") + b"Transfer-Encoding: chunked\r\n\r\n"
#: A second request to a server that reads the first one differently.
SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n"

TARGET = b"request line: send the path of the resource, which begins with /, and no fragment"
HOST = b"host: send the name of this server as URLs have it"
LINES = b"request head: end each line with CR LF, and do not continue lines"
LENGTHS = b"content-length and transfer-encoding: send exactly one of them"
NUMBER = b"content-length: send one whole number, with digits only"
CHUNKS = b"chunk header: begin it with the size in hexadecimal digits and end it with CR LF"
NONE = b"this is not an HTTP request; this port speaks HTTP/1.1"

#: The known ways to smuggle a request, by section of RFC 9112, and the refusal of each.
SMUGGLING = {
    "2.2 a bare line feed ends the request line": (b"GET / HTTP/1.1\nHost: here\r\n\r\n", LINES),
    "2.2 a bare line feed ends a header": (GET + b"A: b\nContent-Length: 39\r\n\r\n" + SMUGGLED, LINES),
    "2.2 bare line feeds end the head": (GET + b"A: b\n\n" + SMUGGLED, LINES),
    "2.2 a bare line feed begins it": (b"\n" + GET + b"\r\n", LINES),
    "2.2 a bare carriage return in a value": (GET + b"A: b\rContent-Length: 39\r\n\r\n" + SMUGGLED, LINES),
    "2.2 a bare carriage return in the request line": (b"GET /\rx HTTP/1.1\r\nHost: here\r\n\r\n", LINES),
    "2.2 whitespace before the first header": (b"GET / HTTP/1.1\r\n Host: here\r\n\r\n", LINES),
    "2.3 no version": (b"GET /\r\nHost: here\r\n\r\n", NONE),
    "2.3 an odd version": (b"GET / HTTP/1.10\r\nHost: here\r\n\r\n", NONE),
    "2.3 a version in small letters": (b"GET / http/1.1\r\nHost: here\r\n\r\n", NONE),
    "2.3 a later version": (b"GET / HTTP/2.0\r\nHost: here\r\n\r\n", NONE),
    "2.3 an earlier version": (b"GET / HTTP/0.9\r\nHost: here\r\n\r\n", NONE),
    "3 two spaces in the request line": (b"GET  / HTTP/1.1\r\nHost: here\r\n\r\n", NONE),
    "3 a tab in the request line": (b"GET\t/ HTTP/1.1\r\nHost: here\r\n\r\n", NONE),
    "3 a space in the target": (b"GET /a b HTTP/1.1\r\nHost: here\r\n\r\n", NONE),
    "3 whitespace behind the version": (b"GET / HTTP/1.1 \r\nHost: here\r\n\r\n", NONE),
    "3 a method that is no token": (b"G(T / HTTP/1.1\r\nHost: here\r\n\r\n", NONE),
    "3.2 a path without its slash": (b"GET healthz HTTP/1.1\r\nHost: here\r\n\r\n", TARGET),
    "3.2 a whole URL": (b"GET http://there/healthz HTTP/1.1\r\nHost: here\r\n\r\n", TARGET),
    "3.2 only a host": (b"CONNECT there:80 HTTP/1.1\r\nHost: here\r\n\r\n", TARGET),
    "3.2 a fragment": (b"GET /healthz#/../metrics HTTP/1.1\r\nHost: here\r\n\r\n", TARGET),
    "3.2 no host": (b"GET / HTTP/1.1\r\n\r\n", NONE),
    "3.2 a user before the host": (b"GET / HTTP/1.1\r\nHost: there@here\r\n\r\n", HOST),
    "3.2 two hosts": (GET + b"Host: there\r\n\r\n", NONE),
    "5.1 whitespace before the colon": (GET + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", NONE),
    "5.1 a tab before the colon": (GET + b"Content-Length\t: 39\r\n\r\n" + SMUGGLED, NONE),
    "5.1 no name": (GET + b": chunked\r\n\r\n", NONE),
    "5.1 no colon": (GET + b"Content-Length 39\r\n\r\n", NONE),
    "5.2 a continued header": (GET + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", LINES),
    "5.2 a continued header, with a tab": (GET + b"A: b\r\n\tContent-Length: 39\r\n\r\n" + SMUGGLED, LINES),
    "5.5 a null byte": (GET + b"A: b\0c\r\n\r\n", NONE),
    "5.5 a vertical tab": (GET + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", NONE),
    "6.1 both": (GET + b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG", LENGTHS),
    "6.1 both, the other way round": (
        GET + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        LENGTHS,
    ),
    "6.1 twice": (GET + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", LENGTHS),
    "6.1 twice, one obscure": (GET + b"Transfer-Encoding: chunked\r\nTransfer-encoding: cow\r\n\r\n0\r\n\r\n", LENGTHS),
    "6.1 in HTTP/1.0": (
        b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"transfer-encoding: it needs HTTP/1.1",
    ),
    "6.2 two lengths": (GAME + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", LENGTHS),
    "6.2 the same length twice": (GAME + b"Content-Length: 3\r\ncontent-length: 3\r\n\r\nabc", LENGTHS),
    "6.2 a list": (GAME + b"Content-Length: 3, 3\r\n\r\nabc", NUMBER),
    "6.2 a sign": (GAME + b"Content-Length: +3\r\n\r\nabc", NUMBER),
    "6.2 less than nothing": (GAME + b"Content-Length: -3\r\n\r\nabc", NUMBER),
    "6.2 an underscore": (GAME + b"Content-Length: 1_0\r\n\r\n0123456789", NUMBER),
    "6.2 a space inside": (GAME + b"Content-Length: 1 0\r\n\r\n0123456789", NUMBER),
    "6.2 another script's digit": (GAME + "Content-Length: ٣\r\n\r\nabc".encode(), NUMBER),
    "6.2 hexadecimal": (GAME + b"Content-Length: 0x3\r\n\r\nabc", NUMBER),
    "6.2 nothing": (GAME + b"Content-Length: \r\n\r\nabc", NUMBER),
    "6.2 a number that wraps": (GAME + b"Content-Length: 18446744073709551619\r\n\r\nabc", NUMBER),
    "7.1 a chunk's size ends with a bare line feed": (CHUNKED + b"3\nabc\r\n0\r\n\r\n", CHUNKS),
    "7.1 a bare line feed in an extension": (CHUNKED + b"3;\nabc\r\n0\r\n\r\n", CHUNKS),
    "7.1 a bare carriage return in an extension": (CHUNKED + b"3;a\rb\r\nabc\r\n0\r\n\r\n", CHUNKS),
    "7.1 a sign": (CHUNKED + b"+3\r\nabc\r\n0\r\n\r\n", CHUNKS),
    "7.1 a prefix": (CHUNKED + b"0x3\r\nabc\r\n0\r\n\r\n", CHUNKS),
    "7.1 an underscore": (CHUNKED + b"1_0\r\n0123456789abcdef\r\n0\r\n\r\n", CHUNKS),
    "7.1 whitespace before it": (CHUNKED + b" 3\r\nabc\r\n0\r\n\r\n", CHUNKS),
    "7.1 whitespace behind it": (CHUNKED + b"3 \r\nabc\r\n0\r\n\r\n", CHUNKS),
    "7.1 another script's digit": (CHUNKED + "٣\r\nabc\r\n0\r\n\r\n".encode(), CHUNKS),
    "7.1 a number that wraps": (CHUNKED + b"10000000000000003\r\nabc\r\n0\r\n\r\n", CHUNKS),
    "7.1 a chunk longer than it says": (CHUNKED + b"3\r\nabcd\r\n0\r\n\r\n", NONE),
    "7.1 a chunk that ends with a bare line feed": (CHUNKED + b"3\r\nabc\n0\r\n\r\n", NONE),
    "7.1.2 a trailer that ends with a bare line feed": (CHUNKED + b"0\r\nA: b\n\r\n", LINES),
    "7.1.2 trailers that end with a bare line feed": (CHUNKED + b"0\r\n\n" + SMUGGLED, LINES),
}


async def asked(table: Table, data: bytes, *, end: bool = False) -> bytes:
    """Send bytes, and return everything until the server closes."""
    async with await open_http(table.daemon) as stream:
        await stream.send_all(data)
        if end:
            await stream.send_eof()
        return await read_to_end(stream)


async def test_ambiguous_request_is_refused_and_nothing_after_it_is_answered() -> None:
    async with rbc_table() as table:
        host = b"Host: here\r\n" + basic(*table.white.auth)
        for name, (data, sentence) in SMUGGLING.items():
            response = await asked(table, data.replace(b"Host: here\r\n", host, 1), end=True)
            assert response.startswith(b"HTTP/1.1 400 "), name
            assert len(re.findall(rb"HTTP/1\.1 \d", response)) == 1, name
            assert b"\r\nconnection: close\r\n" in response.lower(), name
            assert response.endswith(b'{"error":"' + sentence + b'","code":"bad_request"}'), name


async def test_methods_in_small_letters_are_unknown() -> None:
    async with rbc_table() as table:
        for method in (b"get", b"Head", b"head"):
            response = await asked(table, method + GET[3:] + b"Connection: close\r\n\r\n")
            assert response.startswith(b"HTTP/1.1 405 "), method
            assert response.endswith(b"}"), method


async def test_codings_other_than_chunked_are_refused_as_not_implemented() -> None:
    codings = (b"identity", b"chunked, identity", b"gzip, chunked", b"xchunked", b"chunked;q=1", b'"chunked"', b"")
    async with rbc_table() as table:
        for coding in codings:
            response = await asked(table, GET + b"Transfer-Encoding: " + coding + b"\r\n\r\n" + SMUGGLED)
            assert response.startswith(b"HTTP/1.1 501 "), coding
            assert b'{"error":"transfer-encoding: send chunked alone, or a content-length",' in response, coding
            assert len(re.findall(rb"HTTP/1\.1 \d", response)) == 1, coding


async def test_numbers_in_paths_and_queries_must_consist_of_digits() -> None:
    async with rbc_table() as table:
        game_id, white = await table.new_game(), basic(*table.white.auth)
        assert game_id == 1

        async def status(request: str) -> int:
            head = f"{request} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n".encode()
            return int((await asked(table, head + white + b"\r\n")).split()[1])

        assert await status("GET /api/games/%31/color") == 200
        for number in ("1_0", "+1", "%2B1", "%201", "1%20", "-1", "%D9%A1", "%EF%BC%91", "1.0", "1e0", "0x1"):
            assert await status(f"GET /api/games/{number}/color") == 404, number
            assert await status(f"POST /api/invitations/{number}") == 404, number
        for number in ("1_0", "%2B1", "%201", "1%20", "%D9%A1", "0x1", "", "nan", "inf"):
            assert await status(f"GET /api/leaderboard/?limit={number}") == 400, number
            assert await status(f"GET /api/games/{game_id}/game_status?wait={number}") == 400, number


#: Pieces of heads, mostly correct, with an occasional oddity.
lines = st.sampled_from(
    [
        *(b"Host: here", b"Content-Length: 3", b"content-length: 3", b"Content-Length: 4", b"Content-Length: 3, 3"),
        *(b"Content-Length: +3", b"Content-Length: 1_0", b"Transfer-Encoding: chunked", b"Transfer-Encoding : chunked"),
        *(b"transfer-encoding: chunked", b" folded", b"\tfolded", b"A:b", b"A: b ", b"A : b", b"A: b\rc", b""),
    ]
)
line_ends = st.sampled_from([b"\r\n"] * 8 + [b"\n", b"\r", b"\r\r\n", b"\n\r"])
starts = st.sampled_from([b"POST /api/games/1/sense HTTP/1.1"] * 3 + [b"POST / HTTP/1.0", b"GET / HTTP/1.1", b""])
bodies = st.sampled_from(
    [
        *(b"abc", b"3\r\nabc\r\n0\r\n\r\n", b"3\nabc\r\n0\r\n\r\n", b"3;x\r\nabc\r\n0\r\n\r\n", b""),
        *(b"3 \r\nabc\r\n0\r\n\r\n", b"0\r\nA: b\r\n\r\n", b"0\r\nA: b\n\n", b"+3\r\nabc\r\n0\r\n\r\n"),
    ]
)
heads = st.tuples(starts, st.lists(st.tuples(lines, line_ends).map(b"".join), max_size=4), line_ends, line_ends).map(
    lambda services: services[0] + services[2] + b"Host: here\r\n" + b"".join(services[1]) + services[3]
)


#: The parts of a request, mostly as HTTP libraries write it, with an occasional oddity.
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
usual_heads = st.tuples(good_lines, odd_lines).flatmap(
    lambda lines: st.permutations([b"Host: here\r\n", *lines[0], *lines[1]])
)
ends = st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"", b"\n"])
usual = st.tuples(good_starts | good_starts | odd_starts, usual_heads.map(b"".join), ends, st.binary(max_size=9)).map(
    b"".join
)

#: What was read of a request's head, whether it is the connection's last request, and its body.
Read = tuple[tuple[bytes, bytes, bytes, list[tuple[bytes, bytes]]], bool, bytes]


def read_strictly(pieces: list[bytes]) -> Read | None:
    """Return the head and body of the first request, or None if it is refused or incomplete."""
    left = iter(pieces)

    async def receive() -> bytes:
        return next(left, b"")

    async def read() -> Read | None:
        reader = RequestReader(receive, 10_000, trio.lowlevel.checkpoint)
        try:
            if (head := await reader.head()) is None:
                return None
            what = head.method.encode(), head.target, head.version.encode(), head.headers
            return what, head.is_last, await reader.body(head)
        except Refusal:
            return None

    return trio.run(read)


def read_leniently(data: bytes) -> Read | None:
    """Return what h11 alone reads."""
    connection, head, body = h11.Connection(h11.SERVER), None, b""
    connection.receive_data(data)
    try:
        while (event := connection.next_event()) is not h11.NEED_DATA:
            if isinstance(event, h11.Request):
                head = (event.method, event.target, event.http_version, list(event.headers))
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                assert head is not None
                return head, connection.their_state is h11.MUST_CLOSE, body
            else:
                return None
    except h11.RemoteProtocolError:
        return None
    return None


@given(st.tuples(heads, bodies).map(b"".join) | usual, st.integers(1, 200))
@example(GAME + b"Content-Length: 3\r\n\r\nabc", 7)
def test_requests_are_read_as_h11_does_or_refused(data: bytes, size: int) -> None:
    strict = read_strictly([data])
    assert read_strictly([data[start : start + size] for start in range(0, len(data), size)]) == strict
    event("refused" if strict is None else "taken")
    if strict is not None:
        assert strict == read_leniently(data)
        head = data[: data.index(b"\r\n\r\n") + 4]
        assert not re.search(rb"(?<!\r)\n|\r(?!\n)|\r\n[ \t]", head)
        assert len(re.findall(rb"(?im)^(?:content-length|transfer-encoding)[ \t]*:", head)) <= 1
