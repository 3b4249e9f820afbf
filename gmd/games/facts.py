"""Everything a position alone decides, computed once and shared by every game that reaches it.

:func:`facts_of` is a pure function with a memory: a bounded cache, as the original server kept one tree of positions
for all its games. What goes on the wire is kept as encoded JSON.

The cache is for games of open information. It answers sooner what it has, so a position that somebody may not see
must not come into it: :func:`hidden_facts` is for those.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import cast

import chess
from chess import BB_SQUARES, Board
from chess.variant import CrazyhouseBoard
from msgspec import Raw, Struct

from gm_protocol.state import AccessMap, BoardRows, Pockets

from .access import access
from .fragments import OPEN_LISTS, Placement, SquareLists, access_json, castling, fen_of, kept_castling, placement
from .moves import Found, find_move, san_stem
from .position import Position, advance, contents, pack, unpack

#: Positions kept after their second sighting: some 50 MB, or 100 where clients ask for all their legal moves.
KEPT_POSITIONS = 16_384
#: Positions seen once that stay at hand: enough for a few hundred games to find theirs again for the other player. A
#: game that is played on keeps two of them, so that few games use little memory again and again, which is quicker.
RECENT_POSITIONS = 256
#: How many once-seen positions are remembered (by a hash alone) so that a second sighting is known as one.
REMEMBERED_POSITIONS = 65_536


# What a reply is said to hold, and the JSON it will be: msgspec copies that to where it goes.
_as_rows = cast(Callable[[bytes], BoardRows], Raw)
_as_map = cast(Callable[[str], AccessMap], Raw)


class Played(Struct, frozen=True, gc=False):
    """A legal move and what comes of it."""

    uci: str
    san: str
    #: The move, by :func:`~gmd.games.moves.encode_move`.
    code: int
    position: Position
    #: Whether the position behind it leaves the side to move a legal move.
    goes_on: bool
    #: Whether it resets the half-move clock: a capture or a pawn's move, but no drop.
    zeroing: bool


#: A move as a game has resolved it: a blind game knows no more of it than the move itself.
Resolved = Played | chess.Move


class Facts:
    """What a position says about itself."""

    __slots__ = (
        "_actions",
        "_before",
        "_board",
        "_played",
        "access_map",
        "board",
        "can_move",
        "castles",
        "check",
        "fen_stem",
        "passant_file",
        "placement",
        "pockets",
        "position",
        "sources",
        "turn",
        "used",
    )

    def __init__(
        self, position: Position, board: Board, placed: Placement | None = None, *, hidden: bool = False
    ) -> None:
        """:param board: the position; it is kept, and changed by the first move.
        :param placed: its pieces, where they are known already.
        :param hidden: whether somebody may not see it: then nothing is kept of what it is made of.
        """
        self.position = position
        self.turn = board.turn
        found = access(board)
        #: See :class:`gmd.games.access.Access`.
        self.sources, self.check = found.sources, found.check
        # In Chess960 castling can be the only move: Kf1 and Rg1 change places, with nowhere else to go.
        self.can_move = found.can_move or any(board.generate_castling_moves())
        self.placement = placed or placement(contents(board, board.occupied))
        fen = fen_of(self.placement)
        rights, self.castles = "-", 0
        if board.castling_rights:
            white, kings = board.occupied_co[chess.WHITE], board.kings
            rights_of = castling if hidden else kept_castling
            rights, self.castles = rights_of(board.castling_rights, kings & white, kings & ~white, board.chess960)
        passant, self.passant_file = "-", -1
        if board.ep_square is not None:
            passant, self.passant_file = chess.SQUARE_NAMES[board.ep_square], board.ep_square & 7
        self.pockets: Pockets | None = None
        if isinstance(board, CrazyhouseBoard):
            self.can_move = self.can_move or any(board.generate_legal_drops())
            hands = board.pockets
            self.pockets = Pockets(white=str(hands[chess.WHITE]).upper(), black=str(hands[chess.BLACK]))
            fen += f"[{self.pockets.white}{self.pockets.black}]"
        #: The first four FEN fields.
        self.fen_stem = f"{fen} {'w' if board.turn else 'b'} {rights} {passant}"
        #: The wire's ``board`` and ``access_map``.
        self.board = _as_rows(self.placement.json)
        self.access_map = _as_map(access_json(self.sources, SquareLists() if hidden else OPEN_LISTS))
        #: Whether it was asked for since the cache last thought of dropping it.
        self.used = False
        #: The position as a board, for the first move to be made on.
        self._board: Board | None = board
        self._actions: list[str] | None = None
        #: The position it was first reached from: when the game has moved on, nobody is likely to ask for that.
        self._before: Position | None = None
        self._played: dict[str, Played] = {}

    @property
    def actions(self) -> list[str]:
        """All legal moves in UCI."""
        if self._actions is None:
            board = unpack(self.position)
            self._actions = [board.uci(move) for move in board.legal_moves]
        return self._actions

    def play(self, text: str) -> Played:
        """Play a move given in SAN or UCI.

        :raises IllegalMove: the text means no legal move.
        :raises AmbiguousMove: it means several.
        """
        played = self._played.get(text)
        if played is None:
            board = self._board or unpack(self.position)
            found = find_move(board, self.sources, text)
            uci = found.known.uci
            played = self._played.get(uci)
            if played is None:
                self._board = None
                played = self._played[uci] = self._push(board, found)
            if text == played.san:  # the other spellings a client might send are without number
                self._played[text] = played
        return played

    def _push(self, board: Board, found: Found) -> Played:
        known, piece_type = found.known, found.piece_type
        move = known.move
        captures = board.occupied_co[not self.turn] & BB_SQUARES[move.to_square] != 0
        stem = san_stem(board, found)
        changes = advance(board, move, piece_type)
        position = pack(board)
        if position in _kept or position in _recent:
            after = facts_of(position)
        else:
            after = _store(Facts(position, board, placement(changes, self.placement)))
            after._before = self.position
            if self._before is not None:
                _recent.pop(self._before, None)
        sign = ("+" if after.can_move else "#") if after.check else ""
        zeroing = captures or piece_type == chess.PAWN
        return Played(known.uci, stem + sign, known.code, position, after.can_move, zeroing)


# Facts by position. One seen for the first time stays a while; one seen again stays for as long as it is used:
# storing every position for long would fill memory with positions nobody reaches twice, and cost each of them more.
_kept: OrderedDict[Position, Facts] = OrderedDict()
_recent: dict[Position, Facts] = {}
_seen: set[int] = set()


def facts_of(position: Position) -> Facts:
    """The facts of a position, from the cache or computed."""
    facts = _kept.get(position)
    if facts is not None:
        facts.used = True
        return facts
    return _recent.get(position) or _store(Facts(position, unpack(position)))


def hidden_facts(position: Position) -> Facts:
    """The facts of a position that somebody may not see: neither looked up in the cache nor kept in it."""
    return Facts(position, unpack(position), hidden=True)


def _store(facts: Facts) -> Facts:
    position = facts.position
    mark = hash(position)
    if mark in _seen:
        _kept[position] = facts
        if len(_kept) > KEPT_POSITIONS:
            _drop_unused()
        return facts
    if len(_seen) >= REMEMBERED_POSITIONS:
        _seen.clear()
    _seen.add(mark)
    _recent[position] = facts
    if len(_recent) > RECENT_POSITIONS:
        del _recent[next(iter(_recent))]
    return facts


def _drop_unused() -> None:
    """Drop the oldest position not used since it was last looked at here; the used ones get another round."""
    while True:
        position, facts = _kept.popitem(last=False)
        if not facts.used:
            return
        facts.used = False
        _kept[position] = facts
