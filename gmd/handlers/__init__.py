"""One file per message kind: each takes a request struct and gives a reply struct."""
