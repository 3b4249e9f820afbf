"""General HTTP answers: HEAD, and errors, which all have one shape."""

from __future__ import annotations

import json

import httpx

from tests.http.helpers import http_daemon, open_http, read_to_end

#: Requests that each part of the HTTP side refuses, with status and code.
REFUSED = [
    (b"GET /nowhere HTTP/1.1\r\nHost: x", 404, "not_found"),
    (b"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0", 405, "method_not_allowed"),
    (b"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 2000", 413, "bad_request"),
    (b"what is this", 400, "bad_request"),
    (b"GET /healthz HTTP/1.1", 400, "bad_request"),
    (b"GET /metrics HTTP/1.1\r\nHost: x", 401, "unauthorized"),
]


async def test_head_is_get_without_the_body() -> None:
    async with http_daemon() as (_, client):
        for path in ("/healthz", "/metrics", "/schema", "/nowhere"):
            got, head = await client.get(path), await client.head(path)
            assert (head.status_code, head.content) == (got.status_code, b"")
            assert head.headers["content-type"] == got.headers["content-type"]
            if path != "/metrics":  # the body of the metrics differs each time
                assert head.headers["content-length"] == got.headers["content-length"] == str(len(got.content))
            again = await client.get("/healthz")  # on the same connection
            assert again.headers["cache-control"] == "no-store"
            assert again.json() == {"status": "ok", "reason": None}


async def test_refusal_of_head_has_no_body() -> None:
    async with http_daemon(max_message=1024, frame_timeout=0.1) as (daemon, _):
        for request, status in ((b"Content-Length: 2000", 413), (b"Content-Length: 9", 408)):
            async with await open_http(daemon) as stream:
                await stream.send_all(b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n" + request + b"\r\n\r\n")
                head, _, body = (await read_to_end(stream)).partition(b"\r\n\r\n")
            assert (int(head.split()[1]), body) == (status, b"")
            assert b"\r\ncontent-length: " in head


async def test_wrong_method_is_refused_with_the_allowed_ones() -> None:
    async with http_daemon() as (_, client):
        response = await client.post("/healthz")
        assert sorted(response.headers["allow"].split(", ")) == ["GET", "HEAD", "OPTIONS"]
        assert response.json() == {"error": "/healthz: POST is not allowed; send GET", "code": "method_not_allowed"}


async def test_every_error_has_the_same_shape() -> None:
    async with http_daemon(metrics_token="sesame", max_message=1024) as (daemon, _):
        for request, status, code in REFUSED:
            async with await open_http(daemon) as stream:
                body = bytes(2000) if b"2000" in request else b""
                await stream.send_all(request + b"\r\nConnection: close\r\n\r\n" + body)
                head, _, body = (await read_to_end(stream)).partition(b"\r\n\r\n")
            assert int(head.split()[1]) == status
            assert b"content-type: application/json" in head.lower()
            error = json.loads(body)
            assert error.keys() == {"error", "code"}
            assert error["code"] == code
            assert len(error["error"]) > 10


async def test_metrics_require_the_token() -> None:
    wrong = ("Bearer", "Bearer sesam", "Bearer sesame2", "Basic sesame", "sesame", "Bearer \xff")
    async with http_daemon(metrics_token="sesame") as (_, client):
        for shown in (None, *wrong):
            headers = {} if shown is None else {"authorization": shown.encode("latin-1")}
            refused = await client.get("/metrics", headers=headers)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
            assert refused.json() == {
                "error": "authorization: /metrics needs the daemon's metrics_token; send Authorization: Bearer TOKEN",
                "code": "unauthorized",
            }
        for scheme in ("Bearer", "bearer"):
            let_in = await client.get("/metrics", headers={"authorization": f"{scheme} sesame"})
            assert let_in.status_code == 200
            assert "gmd_sessions" in let_in.text
        assert (await client.get("/healthz")).status_code == 200


async def test_metrics_without_a_token_are_for_clients_on_the_daemon_s_machine() -> None:
    """They would tell players of blind chess when others sense."""
    async with http_daemon() as (_, client):
        assert (await client.get("/metrics")).status_code == 200
        forwarded = await client.get("/metrics", headers={"x-forwarded-for": "192.0.2.7"})
        assert forwarded.status_code == 401
        assert forwarded.json()["error"] == (
            "authorization: /metrics is for this machine alone without a metrics_token; start the daemon with one, and "
            "send Authorization: Bearer TOKEN"
        )


async def test_refusal_without_a_free_place_has_the_same_shape() -> None:
    async with http_daemon(http_max_connections=1) as (daemon, client):
        assert (await client.get("/healthz")).status_code == 200  # and the connection stays open
        async with httpx.AsyncClient(trust_env=False) as another:
            response = await another.get(f"http://127.0.0.1:{daemon.http_port}/schema")
        assert (response.status_code, response.headers["retry-after"]) == (503, "5")
        assert response.json() == {
            "error": "http_max_connections: 1 of 1 are open; try again later",
            "code": "too_many",
            "retry_after": 5,
        }
