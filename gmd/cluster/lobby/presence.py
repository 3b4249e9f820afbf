"""Presence across daemons: each reports its sessions to the lobby's owner."""

from __future__ import annotations

from collections import OrderedDict

import trio

from gmd import loop_time
from gmd.cluster.links import Links
from gmd.players.authenticated import Authenticated
from gmd.players.presence import Presence

from .messages import Seen, Session, Sessions
from .reporter import Reporter

#: Seconds between two reports of a player who sends requests without a session; each makes it present for some sixty.
SEEN_AGAIN_SECONDS = 5.0
#: The most players whose last report is remembered.
MAX_SEEN = 10_000
#: Seconds for which a session's beginning waits until the lobby's owner knows of it.
KNOWN_SECONDS = 5.0


class PresenceEverywhere:
    """The presence of players at all daemons, as one of them keeps and reports it."""

    def __init__(self, presence: Presence, links: Links, reporter: Reporter, me: int) -> None:
        self._presence = presence
        self._links = links
        self._reporter = reporter
        self._me = me
        self._reported: OrderedDict[Authenticated, float] = OrderedDict()
        presence.on_session = self._session
        presence.on_seen = self._seen
        links.on_note(Session, self._on_session)
        links.on_note(Seen, self._on_seen)
        links.on_note(Sessions, self._on_sessions)

    def tell_all(self) -> None:
        """Report all sessions to the new owner of the lobby."""
        self._reported.clear()
        if self._reporter.lobby != self._me:
            self._reporter.tell(Sessions([(each.player, each.key) for each in self._presence.sessions()]))

    async def known(self) -> None:
        """Return when the lobby's owner knows who has sessions here, or does not answer for long."""
        with trio.move_on_after(KNOWN_SECONDS):
            while (lobby := self._reporter.lobby) not in (None, self._me):
                assert lobby is not None
                await self._links.notes_acknowledged(lobby)
                if self._reporter.lobby == lobby:
                    return

    def forget(self, daemon: int) -> None:
        """Forget the sessions of a dead daemon."""
        self._presence.forget_daemon(daemon)

    def forget_all(self) -> None:
        """Forget the sessions of all other daemons: this one becomes the lobby's owner, and they report anew."""
        self._presence.forget_daemons()

    def _session(self, authenticated: Authenticated, is_open: bool) -> None:
        if self._reporter.lobby != self._me:
            self._reporter.tell(Session(authenticated.player, authenticated.key, is_open))

    def _seen(self, authenticated: Authenticated) -> None:
        now = loop_time.now()
        if self._reporter.lobby == self._me or self._reported.get(authenticated, 0.0) > now - SEEN_AGAIN_SECONDS:
            return
        self._reported[authenticated] = now
        self._reported.move_to_end(authenticated)
        if len(self._reported) > MAX_SEEN:
            self._reported.popitem(last=False)
        self._reporter.tell(Seen(authenticated.player, authenticated.key))

    def _on_session(self, note: Session, daemon: int) -> None:
        self._presence.session_elsewhere(daemon, Authenticated(note.player, note.key), open=note.open)

    def _on_seen(self, note: Seen, _daemon: int) -> None:
        self._presence.seen_elsewhere(Authenticated(note.player, note.key))

    def _on_sessions(self, note: Sessions, daemon: int) -> None:
        self._presence.forget_daemon(daemon)
        for player, key in note.sessions:
            self._presence.session_elsewhere(daemon, Authenticated(player, key), open=True)
