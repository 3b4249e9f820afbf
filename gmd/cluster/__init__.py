"""Several daemons on one PostgreSQL: each game has one owner, by a lease with a fencing epoch."""
