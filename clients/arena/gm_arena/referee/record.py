"""The record of a match: all that a viewer would show, as JSON and as PGN. clients/arena/REFEREE.md describes it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Literal

import chess.pgn

from gm_protocol.endings import ON

from ..boards import board_of
from ..endings import ending_of

#: Half-points of White and Black, by result.
HALF_POINTS = {"1-0": (2, 0), "0-1": (0, 2), "1/2-1/2": (1, 1)}

#: How a bot may fail: late; ended, not reading or flooding; with an illegal move; with an answer that has no meaning.
FailureKind = Literal["timeout", "crash", "illegal_move", "bad_output"]

#: PGN's ``Termination`` by the kind of a bot's failure.
_PGN_TERMINATIONS: dict[FailureKind, str] = {
    "timeout": "time forfeit",
    "crash": "abandoned",
    "illegal_move": "rules infraction",
    "bad_output": "rules infraction",
}


@dataclass
class Failure:
    """The failure by which a bot lost the match.

    :ivar bot: 1 or 2.
    :ivar game: the number of the game, 1 or 2; 0 in the turn for the configuration.
    :ivar ply: the number of moves made in that game before.
    """

    bot: int
    game: int
    ply: int
    kind: FailureKind
    text: str


@dataclass
class TurnRecord:
    """A bot's action in a turn, and the viewer's line about it.

    :ivar bot: 1 or 2.
    :ivar action: ``move``, ``random``, ``draw`` or ``resign``.
    :ivar move: UCI as CodinGame writes it, castling as the king's move to its rook; None where none was made.
    :ivar draw_offered: whether a draw was offered with the move.
    :ivar seconds: from when the bot was given its input to when the referee saw its line.
    :ivar status: the viewer's line, such as "Checkmate."; empty where there is nothing to report.
    """

    ply: int
    bot: int
    color: Literal["white", "black"]
    action: str
    move: str | None
    san: str | None
    draw_offered: bool
    comment: str
    seconds: float
    status: str


@dataclass
class GameRecord:
    """One of the two games.

    :ivar white: the bot that has White, 1 or 2.
    :ivar result, termination: the daemon's, as in ``PROTOCOL``.
    :ivar fen: the last position, as CodinGame writes it.
    """

    number: int
    game_id: int
    white: int
    black: int
    variant: str
    start_fen: str
    turns: list[TurnRecord] = field(default_factory=list)
    result: str = "*"
    termination: str = ON
    status: str = ""
    fen: str = ""


@dataclass
class BotRecord:
    """A bot of the match.

    :ivar inputs: the inputs it asked for, in its order.
    :ivar unknown_inputs: the other words it asked for, which CodinGame ignores.
    :ivar configuration_seconds: the time it took to configure.
    :ivar slowest_seconds: the time of its slowest answer in the games.
    """

    command: str
    inputs: list[str] = field(default_factory=list)
    unknown_inputs: list[str] = field(default_factory=list)
    configuration_seconds: float | None = None
    slowest_seconds: float | None = None


@dataclass
class MatchRecord:
    """A match.

    :ivar start: the start position's number in Scharnagl's numbering, or a FEN.
    :ivar limits: the time limits, in seconds.
    :ivar score: both bots' half-points, as they were played; a bot that failed has lost, whatever they are.
    :ivar winner: 1 or 2; None for a draw.
    """

    referee: str
    seed: int
    start: int | str
    crazyhouse: bool
    max_moves: int
    limits: dict[str, float]
    bots: list[BotRecord]
    games: list[GameRecord] = field(default_factory=list)
    score: list[int] = field(default_factory=lambda: [0, 0])
    winner: int | None = None
    failure: Failure | None = None

    def to_json(self) -> str:
        """Return the record as one JSON object."""
        return json.dumps(asdict(self), indent=1) + "\n"

    def to_pgn(self, played: datetime | None = None) -> str:
        """Return both games as PGN, with the bots' comments."""
        date = f"{played or datetime.now(UTC):%Y.%m.%d}"
        return "".join(f"{self._pgn_of(game, date)}\n\n" for game in self.games)

    def _pgn_of(self, game: GameRecord, date: str) -> chess.pgn.Game:
        pgn = chess.pgn.Game()
        pgn.setup(board_of(game.variant, game.start_fen))
        names = {number: bot.command for number, bot in enumerate(self.bots, 1)}
        headers = {"Event": "CodinGame chess match", "Date": date, "Round": str(game.number)}
        headers |= {"White": names[game.white], "Black": names[game.black], "Result": game.result}
        headers["Termination"] = self._termination_of(game)
        pgn.headers.update(headers)
        node: chess.pgn.GameNode = pgn
        for turn in game.turns:
            if turn.move is not None:
                node = node.add_variation(node.board().parse_uci(_chess_move(node.board(), turn.move)))
            said = " ".join(text for text in (turn.comment, turn.status) if text)
            node.comment = " ".join(text for text in (node.comment, said) if text).replace("}", ")")
        return pgn

    def _termination_of(self, game: GameRecord) -> str:
        """Return PGN's word for how a game ended: the failure that ended it, or the server's."""
        if self.failure is not None and self.failure.game == game.number:
            return _PGN_TERMINATIONS[self.failure.kind]
        ending = ending_of(game.termination, game.variant)
        return "unterminated" if ending is None else ending.cause.value.pgn


def _chess_move(board: chess.Board, text: str) -> str:
    """Return a recorded move as the board writes it: classical castling is a king's move of two squares."""
    return next(board.uci(move) for move in board.legal_moves if board.uci(move, chess960=True) == text)
