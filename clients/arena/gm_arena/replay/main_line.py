"""The main line of a PGN of chess, up to its first illegal move."""

from __future__ import annotations

import chess.pgn
from chess import AmbiguousMoveError, Board, IllegalMoveError, InvalidMoveError, Move
from chess.variant import find_variant

from gm_protocol.messages import NewGame
from gmd.games.chess import CLASSICAL
from gmd.games.pgn_text import PgnText
from gmd.games.variants import named_in_pgn, resolve

from ..boards import board_of


def start_of(headers: dict[str, str]) -> tuple[str, Board]:
    """Return the variant of a game by its tags, as ``PROTOCOL`` names it if gmd plays it, and its start position.

    :raises ValueError: the position is not possible, or nobody knows the variant.
    :raises GmError: gmd plays the variant, and the position is not possible in it.
    """
    tag, fen = headers.get("Variant", ""), headers.get("FEN")
    known = named_in_pgn(tag)
    if known is not None and not known.loads_moves:
        return known.name, known.board(chess.STARTING_FEN if fen is None else fen)
    if known is None and tag.strip("?-"):
        board_type = find_variant(tag)
        return tag.lower(), board_type() if fen is None else board_type(fen)
    options = resolve(NewGame(player_white=None, player_black=None, pgn=""), headers, CLASSICAL, strict=False)
    return options.variant, board_of(options.variant, options.fen)


def read_main_line(pgn: PgnText, start: Board) -> tuple[list[chess.pgn.ChildNode], str]:
    """Return the moves of a game with their comments, up to the first one that is not legal. Null moves are.

    :param start: the start position.
    :returns: the moves, and what is wrong with the move after them (``1... Ke5 is illegal``); empty if nothing is.
    :raises ValueError: one of them is no move in any position.
    """
    board = start.copy()
    node: chess.pgn.GameNode = chess.pgn.Game()
    nodes: list[chess.pgn.ChildNode] = []
    for ply, text in enumerate(pgn.moves, 1):
        number = f"{board.fullmove_number}{'.' if board.turn else '...'}"
        try:
            move = _move_of(board, text)
        except AmbiguousMoveError:
            return nodes, f"{number} {text} is ambiguous"
        except IllegalMoveError:
            return nodes, f"{number} {text} is illegal"
        except InvalidMoveError:
            raise ValueError(f"{number} {text} is not a move: it is neither SAN (Nf3) nor UCI (g1f3)") from None
        node = node.add_main_variation(move, comment=pgn.comments.get(ply, ""))
        nodes.append(node)
        board.push(move)
    return nodes, ""


def _move_of(board: Board, text: str) -> Move:
    """Return the move of a text, as the server reads it."""
    try:
        return board.parse_uci(text)
    except InvalidMoveError:
        return board.parse_san(text)
