"""A league: opponents of a training besides itself, none of which is played alone.

``members`` names them, ``standing`` says how often each is met, ``games`` plays them in step, ``season`` puts these
together for the iterations of a training.
"""
