"""Every request that a player may make about a game of blind chess or Dark chess without changing it.

These are looks, retries, and whatever is refused: as the player, as its opponent, as a stranger, with and without keys.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import chess

from gm_protocol.messages import REQUESTS
from gmd.players.account import is_registered
from tests.helpers import Json
from tests.secrecy.paired_daemons import (
    NAMES,
    OPPONENT,
    REGISTERED_OPPONENT,
    REGISTERED_STRANGER,
    STRANGER,
    key_of,
    proof_of,
)
from tests.secrecy.twins import OwnTurn

#: Enough fields for a request of any kind.
_FIELDS: Json = {"square": "e4", "move": "e2e4", "termination": "draw_agreed", "timeout": 0}
#: Texts that are no move, by variant: in Dark chess a move may also be written as SAN.
UNREADABLE = {"rbc": ("Nf3", "e4", "O-O", "e2e4 "), "dark_chess": ("a1h8q", "Qa1xh8", "Kd4d8")}
#: Kinds that name a game.
_KINDS = [kind for kind, request in REQUESTS.items() if "game_id" in request.__struct_fields__]


@dataclass
class Seat:
    """What a player knows of its game, and therefore what it can ask."""

    rng: random.Random
    game_id: int
    #: The player's id and its opponent's.
    me: int
    them: int
    color: str
    variant: str
    #: The request that the player made the game with, if it made it.
    made_by: Json | None
    #: Whether both seats are taken.
    begun: bool = False
    ply: int = 0
    #: What the player is to do: "sense", "move", or None when it is not its turn.
    phase: str | None = None
    turn: OwnTurn | None = None
    #: The player's latest sense and move: the ply, and the square, or the move in UCI.
    sensed: tuple[int, str | None] | None = None
    moved: tuple[int, str | None] | None = None
    #: The ids of the player's other games.
    others: Sequence[int] = field(default_factory=list)

    @property
    def other(self) -> str:
        """The opponent's colour."""
        return "black" if self.color == "white" else "white"

    def mine(self, kind: str, **fields: object) -> Json:
        """Return a request of the player's, in its own session."""
        request: Json = {"kind": kind, "game_id": self.game_id, "player": self.me, **fields}
        if self.rng.random() < 0.3:
            request["brief"] = True
        if self.rng.random() < 0.3 and self.begun and "seat" not in fields:
            request["seat"] = self.color
        if self.rng.random() < 0.2:
            request["id"] = self.rng.choice([7, "seven"])
        if self.rng.random() < 0.2 and is_registered(self.me):
            request["key"] = key_of(self.me)
        return request

    def alone(self, request: Json) -> Json:
        """Return the same request without a session, most of the time with the key that this needs."""
        if request.get("player") == self.me and "key" not in request and self.rng.random() < 0.9:
            return request | proof_of(self.me)
        return request

    def everything(self) -> Iterator[Json]:
        """Yield every possible request."""
        yield from self._looks()
        yield from self._lists()
        yield from self._others_looks()
        yield from self._others_seats()
        yield from self._joins()
        yield from self._accounts()
        yield from self._lobby()
        yield from self._refused()
        yield from self._senses()
        yield from self._moves()
        yield from self._endings()

    def greetings(self) -> Iterator[Json]:
        """Yield requests that begin a session, or fail to; each needs its own connection."""
        for player in (self.me, self.them):
            yield {"kind": "hello", **proof_of(player)}
            yield {"kind": "hello", "player": player, "key": "x"}
        yield {"kind": "hello", "name": "observer", "key": "x"}

    def _looks(self) -> Iterator[Json]:
        for actions in (True, False):
            yield self.mine("state", actions=actions)
            yield self.mine("wait", timeout=0, actions=actions)
        yield self.mine("actions")
        yield self.mine("belief", samples=3, seed=self.ply, hint=True)
        several: Json = {"kind": "wait", "player": self.me, "timeout": 0, "actions": True}
        yield {**several, "game_ids": [self.game_id]}
        yield {**several, "game_ids": [*self.others, self.game_id], "seat": self.color}
        yield {**several, "game_ids": [*self.others, self.game_id]}
        yield {**several, "game_ids": [self.game_id], "seat": self.other}
        yield {**several, "any": True}
        yield {**several, "any": True, "except": [self.game_id], "actions": False}
        yield {**several, "any": True, "except": list(self.others)}
        yield {"kind": "history", "game_id": self.game_id, "player": self.me}
        if self.made_by is not None:
            yield self.made_by
            yield {**self.made_by, "player_white": STRANGER}

    def _lists(self) -> Iterator[Json]:
        yield {"kind": "games", "player": self.me, "limit": 2}
        yield {"kind": "games", "player": None, "limit": 1}
        yield {"kind": "games", "player": None, "status": "live", "variant": self.variant, "limit": 2}
        yield {"kind": "games", "player": OPPONENT, "limit": 1, "before": self.game_id + 1}
        yield {"kind": "games", "player": None, "status": "over", "limit": 1}
        for player in (self.me, None):
            yield {"kind": "games", "player": player, "status": "open", "limit": 3}

    def _others_looks(self) -> Iterator[Json]:
        """Yield looks as no player, and as another player."""
        for player in (None, STRANGER):
            yield {"kind": "state", "game_id": self.game_id, "player": player, "actions": True}
            yield {"kind": "history", "game_id": self.game_id, "player": player}
        yield {"kind": "state", "game_id": self.game_id, **proof_of(REGISTERED_STRANGER), "actions": True}
        yield {"kind": "actions", "game_id": self.game_id, "player": STRANGER}
        yield {"kind": "actions", "game_id": self.game_id, "player": None}
        for player in (STRANGER, None):
            yield {"kind": "belief", "game_id": self.game_id, "player": player, "samples": 9, "hint": True}
        yield {"kind": "wait", "game_id": self.game_id, "player": STRANGER, "timeout": 0}
        for ply in (self.ply - 1, self.ply):
            if ply >= 0:
                yield {"kind": "wait", "game_id": self.game_id, "player": None, "ply": ply, "timeout": 0}

    def _others_seats(self) -> Iterator[Json]:
        """Yield requests from the other seat, and as its player without the key."""
        for kind, fields in (
            ("state", {"actions": True}),
            ("wait", {"timeout": 0}),
            ("actions", {}),
            ("belief", {"samples": 9}),
            ("sense", {"square": "e4"}),
            ("move", {"move": "e2e4"}),
            ("end_game", {"termination": "draw_agreed"}),
        ):
            yield {"kind": kind, "game_id": self.game_id, "player": self.me, **fields, "seat": self.other}
        for kind in _KINDS:
            asked: Json = {"kind": kind, "game_id": self.game_id, **_FIELDS}
            for player in (self.me, self.them):
                if is_registered(player):
                    bad_key = self.rng.choice(["", "x", key_of(REGISTERED_STRANGER), f"{key_of(player)}x"])
                    if player == self.me:
                        bad_key = bad_key or "x"  # an empty key counts as none, and the session has shown its own
                    yield {**asked, "player": player, "key": bad_key}
            yield {**asked, "player": REGISTERED_OPPONENT}
            yield {**asked, "player": 2**52, "key": self.rng.choice(["x", key_of(REGISTERED_OPPONENT)])}

    def _joins(self) -> Iterator[Json]:
        """Yield joins, once both seats are taken."""
        if self.begun:
            yield self.mine("join")
            for seat in ("white", "black"):
                yield {"kind": "join", "game_id": self.game_id, "player": self.me, "seat": seat}
            for player in (STRANGER, REGISTERED_STRANGER):
                yield {"kind": "join", "game_id": self.game_id, **proof_of(player)}

    def _accounts(self) -> Iterator[Json]:
        yield {"kind": "register", "name": "Observer"}
        yield {"kind": "register", "name": f"bot-{self.rng.getrandbits(64)}"}
        yield {"kind": "rekey", "player": REGISTERED_OPPONENT, "key": "x"}
        yield {"kind": "players"}
        yield {"kind": "revoke", "name": NAMES[REGISTERED_OPPONENT]}
        yield {"kind": "ping"}

    def _lobby(self) -> Iterator[Json]:
        """Yield requests about other games, which begin none."""
        for kind in ("invitations", "settings"):
            yield {"kind": kind, "player": self.me}
        yield {"kind": "leaderboard"}
        yield {"kind": "challenge", "player": self.me, "opponent": "nobody", "variant": self.variant}
        yield {"kind": "seek", "player": self.me, "variant": self.variant, "clock": "never"}
        yield {"kind": "pair", "player": self.me, "white": self.me, "black": self.them}
        yield {"kind": "contest", "player": self.me, "token": "token", "report": {}}

    def _refused(self) -> Iterator[Json]:
        """Yield requests that are refused before anything is looked up, or right after."""
        for kind in _KINDS:
            yield {"kind": kind, "game_id": 2**40 + self.game_id, "player": self.me, **_FIELDS}
            yield {"kind": kind, "game_id": str(self.game_id), "player": self.me}
        yield self.mine("sense")
        yield self.mine("move")
        yield self.mine("sense", square=1.5)
        yield self.mine("move", move=12)
        yield self.mine("state", seat="gold")
        yield self.mine("moves", move="e2e4")
        yield self.mine("wait", ply=self.ply, timeout=0)
        yield {"kind": "game_from_pgn", "player_white": 1, "player_black": 2, "variant": "rbc", "pgn": "1. e4"}

    def _senses(self) -> Iterator[Json]:
        for square in ("z9", "", "E4", "e44", 64, -1, 10**12):
            yield self.mine("sense", square=square)
            yield self.mine("sense", square=square, ply=self.ply)
        for ply in (self.ply + 1, self.ply - 2, 10**9):
            if ply >= 0 and (ply, "e4") != self.sensed:
                yield self.mine("sense", square="e4", ply=ply)
        if self.phase != "sense":
            yield self.mine("sense", square="e4")
            yield self.mine("sense", square=None, ply=self.ply)
        if self.sensed is not None:  # the same again, the same written differently, and another
            ply, square = self.sensed
            yield self.mine("sense", square=square, ply=ply)
            yield self.mine("sense", square=None if square is None else chess.parse_square(square), ply=ply)
            if ply != self.ply:
                yield self.mine("sense", square="b2" if square != "b2" else "b3", ply=ply)

    def _moves(self) -> Iterator[Json]:
        for text in ("e9e4", "--", "", "P@e4", "e1e1", *UNREADABLE[self.variant]):
            yield self.mine("move", move=text)
        for ply in (self.ply + 1, self.ply - 2, 10**9):
            if ply >= 0 and (ply, "e2e4") != self.moved:
                yield self.mine("move", move="e2e4", ply=ply)
        if self.turn is not None:
            yield self.mine("move", move=self.turn.forbidden.uci())
            yield self.mine("move", move=self.turn.forbidden.uci(), ply=self.ply)
            if self.phase != "move":
                for move in self.rng.sample(self.turn.allowed, min(4, len(self.turn.allowed))):
                    yield self.mine("move", move=move.uci())
            if self.phase != "move" or self.variant == "dark_chess":
                yield self.mine("move", move=None)
            for move in self.rng.sample(self.turn.allowed, min(4, len(self.turn.allowed))):
                yield self.mine("move", move=move.uci(), offer_draw=True)
                yield self.mine("move", move=move.uci(), claim_draw=True)
        if self.moved is not None:
            ply, move_made = self.moved
            yield self.mine("move", move=move_made, ply=ply)
            yield self.mine("move", move=move_made, ply=ply, offer_draw=True)
            yield self.mine("move", move="a1a2" if move_made != "a1a2" else "a1a3", ply=ply)

    def _endings(self) -> Iterator[Json]:
        for termination in ("taken_draw_white", "taken_draw_black", "draw_agreed", f"resignation_{self.other}"):
            yield self.mine("end_game", termination=termination)
            yield self.mine("end_game", termination=termination, ply=self.ply)
        for ply in (self.ply + 1, self.ply - 1):
            if ply >= 0:
                yield self.mine("end_game", termination=f"resignation_{self.color}", ply=ply)
        yield self.mine("end_game", termination="checkmate")
