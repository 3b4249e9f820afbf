"""Which gmd this is. It stands apart from ``gmd``, whose names are those of programs that embed the daemon."""

VERSION = "0.1.0"
