"""gmd: the game server for people who write chess and reconnaissance-blind-chess bots."""

__version__ = "0.1.0"
