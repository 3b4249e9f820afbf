"""Matches between bots: ``gmd match``.

``plan`` says which games there are, and nothing but the arguments decides that; ``runner`` plays them, several at once;
``record`` keeps what they came to, in the plan's order; ``summary`` says what that means. A game is played as ``game``
has it, with each bot under ``observed``'s eyes. ``match`` brings these together, for ``command``
and for other programs.
"""
