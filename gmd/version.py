"""The version of gmd. It is not defined in ``gmd``, whose names are for programs that embed the daemon."""

VERSION = "0.3.0"
