"""``gmd replay``: recorded games in a terminal, live games, and recorded games played back to a bot.

``recorded`` reads games, ``frames`` is what is shown of them, ``follow`` shows live games; ``ask`` plays games back.
"""
