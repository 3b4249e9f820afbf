"""The sessions whose last forwarded request was not carried out, so that later ones are not carried out either."""

from __future__ import annotations

from collections import OrderedDict

#: Sessions that are remembered. A request that was sent before its daemon knew of the refusal is behind fewer others:
#: so many have more bytes than a connection holds on its way.
MAX_SESSIONS = 65_536


class RefusedSessions:
    """What one daemon has refused of another's sessions, in the order of the refusals.

    Requests of a session that were sent before its daemon knew that one before them had not been carried out are
    refused, too: that daemon sends all of them again, in their order.
    """

    def __init__(self) -> None:
        self._last: OrderedDict[int, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._last)

    def note(self, session: int, number: int) -> None:
        """Note that a session's request was not carried out; the sessions that were noted first are forgotten."""
        self._last[session] = number
        self._last.move_to_end(session)
        if len(self._last) > MAX_SESSIONS:
            self._last.popitem(last=False)

    def is_behind(self, session: int, oldest: int) -> bool:
        """Return whether a request was sent before its daemon knew of the refusal; if not, forget that.

        :param oldest: the oldest request of the session that was not answered when this one was sent.
        """
        last = self._last.get(session)
        if last is None:
            return False
        if oldest <= last:
            return True
        del self._last[session]
        return False
