"""What the entry daemon says about a client is read as it was said, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gmd.http.proxy.origin import HEADER, Origin, origin_of, taken_from

CLIENTS = st.one_of(
    st.none(), st.tuples(st.one_of(st.ip_addresses().map(str), st.just("fe80::1%eth0")), st.integers(0, 65_535))
)


@given(CLIENTS, st.sampled_from(["http", "https"]), st.floats(0, 90_000))
def test_an_origin_is_read_as_it_was_said(client: tuple[str, int] | None, scheme: str, waited: float) -> None:
    found = origin_of(Origin(client, scheme, waited).encoded())
    assert found is not None
    assert (found.client, found.scheme) == (client, scheme)
    assert found.waited == pytest.approx(waited, abs=1e-6)


@pytest.mark.parametrize("value", [None, b"", b"https", b"ftp 0.000000 a 1", b"http 0.000000 a b 1", b"http -1.0 a 1"])
def test_nothing_else_is_an_origin(value: bytes | None) -> None:
    assert origin_of(value) is None


def test_an_origin_counts_only_if_it_is_said_once() -> None:
    said = (HEADER, Origin(None, "http", 0.0).encoded())
    assert taken_from([(b"host", b"x"), said]) == (Origin(None, "http", 0.0), [(b"host", b"x")])
    assert taken_from([said, (b"host", b"x"), said]) == (None, [(b"host", b"x")])
    assert taken_from([(b"host", b"x")]) == (None, [(b"host", b"x")])
