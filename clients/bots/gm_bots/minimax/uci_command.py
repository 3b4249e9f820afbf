"""``gmd uci``: run gmd's engine for any program that speaks UCI."""

from __future__ import annotations

import click


@click.command()
@click.argument("engine", type=click.Choice(["minimax"]))
def uci(engine: str) -> None:
    """\b
    Example: gmd uci minimax

    Run ENGINE on the standard streams, by the Universal Chess Interface (UCI).

    GUIs, match runners and `gmd connect uci:'gmd uci minimax'` run this command. The engine has the options Hash,
    Seed, Margin (with a seed, by how many hundredths of a pawn a move may be worse than the best), MaxDepth and
    CheckExtension (whether a side in check gets an extra ply).
    """
    from .__main__ import main

    main()
