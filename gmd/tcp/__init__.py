"""The protocol over TCP: the listener, and a session for each connection."""
