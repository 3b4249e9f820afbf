"""What sessions end by, where that is no error of the protocol's: words of the log and of the metrics."""

from __future__ import annotations

#: A version 1 session has had its reply.
ANSWERED = "answered"
#: The daemon waits for it no longer.
CUT_OFF = "cut_off"
#: The client does not take its replies.
STALLED = "stalled"
