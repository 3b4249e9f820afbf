"""CodinGame's chess match: ``gmd match --referee codingame``. ``match`` plays it, ``record`` is what is kept of it."""
