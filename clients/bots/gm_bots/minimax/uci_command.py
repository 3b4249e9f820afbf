"""``gmd uci``: a bot of gmd's own as an engine for whatever speaks UCI."""

from __future__ import annotations

import click


@click.command()
@click.argument("engine", type=click.Choice(["minimax"]))
def uci(engine: str) -> None:
    """\b
    Example: gmd uci minimax

    Run ENGINE on the standard streams, by the Universal Chess Interface.

    This is the command that GUIs, match runners and `gmd connect uci:'gmd uci minimax'` want. It has the options Hash,
    Seed, Margin (with a seed, how many hundredths of a pawn a move may be worse than the best), MaxDepth and
    CheckExtension (whether a side in check is given a ply more).
    """
    from .__main__ import main

    main()
