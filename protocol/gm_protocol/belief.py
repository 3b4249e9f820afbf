"""What a player of reconnaissance blind chess may know of the position: the request and its reply."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from .base import GameId, Reply, Request
from .state import Color


class GetBelief(Request, tag="belief", kw_only=True):
    """A request for what the player may believe of the position in rbc, by all that it has observed."""

    retry = "always"
    game_id: GameId  #: The game.
    seat: Color | None = None  #: The seat acted for.
    samples: Annotated[int, Meta(ge=0, le=100)] = 0  #: How many to draw.
    seed: Annotated[int, Meta(ge=0, le=2**53 - 1)] = 0  #: Decides which samples.
    hint: bool = False  #: Whether to name the sense that would tell most.


class Hint(Struct):
    """The sense that leaves the fewest positions on average."""

    square: str  #: Its square.
    left: float  #: The share of the positions that it leaves.


class BeliefReply(Reply, kw_only=True):
    """The positions that are possible by all that the seat has observed, each as likely as the others."""

    ply: int  #: The ply_index it is of.
    count: int  #: Positions kept.
    exact: bool  #: Whether no other is possible.
    marginals: list[list[float]]  #: 12 pieces' chances on 64 squares.
    samples: list[str]  #: Some positions, in FEN.
    hint: Hint | UnsetType | None = UNSET  #: If asked for; null: the seat is not to sense.
    error: None = None
