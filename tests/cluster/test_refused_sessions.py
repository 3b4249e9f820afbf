"""Sessions whose requests were refused: their later requests are known as such, and memory has a bound."""

from __future__ import annotations

from gmd.cluster.refused_sessions import MAX_SESSIONS, RefusedSessions


def test_requests_sent_before_the_refusal_was_known_are_behind_it_and_later_ones_are_not() -> None:
    refused = RefusedSessions()
    refused.note(7, 3)
    assert refused.is_behind(7, 2)
    assert refused.is_behind(7, 3)
    assert not refused.is_behind(8, 1)
    assert not refused.is_behind(7, 4)
    assert len(refused) == 0


def test_sessions_that_send_nothing_more_are_forgotten_in_the_end() -> None:
    refused = RefusedSessions()
    refused.note(1, 1)
    for session in range(2, MAX_SESSIONS + 1):
        refused.note(session, 1)
    refused.note(1, 2)
    refused.note(MAX_SESSIONS + 1, 1)
    assert len(refused) == MAX_SESSIONS
    assert refused.is_behind(1, 2)
    assert not refused.is_behind(2, 1)
