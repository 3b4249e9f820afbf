"""Games as pictures and text: what a player observed, or the true position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chess import Color

from ..batch import BatchedRbc
from ..games import check
from .picture import draw_svg, paint
from .scene import RenderView, Scene, scene_of
from .text import write

#: ``human`` prints the game as text, and draws nothing else; ``rgb_array`` is a picture, uint8[height, width, 3];
#: ``ansi`` and ``svg`` are text.
RENDER_MODES = ("human", "rgb_array", "ansi", "svg")

__all__ = ["RENDER_MODES", "RenderView", "Scene", "check_rendering", "draw", "draw_svg", "paint", "scene_of", "write"]


def check_rendering(mode: str | None, view: str, modes: Sequence[str] = RENDER_MODES) -> None:
    """Raise a ValueError if there is no such mode or view."""
    check(mode is None or mode in modes, f"render_mode: {mode!r} is none of {', '.join(modes)}")
    check(view in ("player", "truth"), f"render_view: {view!r} is not 'player' or 'truth'")


def draw(batch: BatchedRbc, game: int, viewer: Color, mode: str | None, view: RenderView = "player") -> Any:
    """Draw a game of a batch.

    :param viewer: the player whose view it is, and who sits below.
    :param mode: one of :data:`RENDER_MODES`; None draws nothing.
    :param view: ``"player"`` shows what the player observed, ``"truth"`` the true position.
    :returns: uint8[height, width, 3], text, or None.
    """
    if mode is None:
        return None
    scene = scene_of(batch, game, viewer, view)
    if mode == "human":
        print(write(scene), end="\n\n", flush=True)
        return None
    if mode == "rgb_array":
        return paint(scene)
    return write(scene) if mode == "ansi" else draw_svg(scene)
