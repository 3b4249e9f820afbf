"""Reasons for the end of a session that are no error codes: words of the log and of the metrics."""

from __future__ import annotations

#: A version 1 client has received its reply.
ANSWERED = "answered"
#: The client closed its sending side after a complete request.
CLIENT_CLOSED = "client_closed"
#: The client has sent nothing for too long.
IDLE = "idle"
#: The daemon stops.
STOPPING = "stopping"
#: The player was revoked.
REVOKED = "revoked"
#: The daemon waits for it no longer.
CUT_OFF = "cut_off"
#: The client does not take its replies.
STALLED = "stalled"
#: The client is gone.
LOST = "lost"
#: The server failed.
FAILED = "failed"
