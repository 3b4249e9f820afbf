"""A league: opponents of a training besides itself, none of which is played alone.

``members`` names them, ``games`` plays them in step, and ``season`` draws the games of a training.
"""
