"""A player's hidden state leaves nothing in what all games share: it would make the next request about it faster."""

from __future__ import annotations

import chess
import pytest

from gm_recon import tables
from gmd.games import facts
from tests.helpers import Client, memory_daemon
from tests.secrecy.leaks import LEAKS
from tests.secrecy.shared_values import caches, sizes

#: Every value that all games share and that may grow: what it holds, and why nothing hidden of a blind game is in it.
JUDGED = {
    "gmd.net.addresses._subscriber": "the groups that peers' addresses are counted by: nothing of a game",
    "gmd.games.facts._kept": (
        "the facts of positions: of open games only; a blind game uses hidden_facts and keeps them itself"
    ),
    "gmd.games.facts._recent": (
        "the facts of positions: of open games only; a blind game uses hidden_facts and keeps them itself"
    ),
    "gmd.games.facts._seen": (
        "the facts of positions: of open games only; a blind game uses hidden_facts and keeps them itself"
    ),
    "gmd.games.facts.OPEN_LISTS": (
        "sets of squares and castling rights as JSON and FEN: only those of the facts above; hidden_facts and "
        "hidden.py make their own and keep none"
    ),
    "gmd.games.facts.kept_castling": (
        "sets of squares and castling rights as JSON and FEN: only those of the facts above; hidden_facts and "
        "hidden.py make their own and keep none"
    ),
    "gmd.games.access._KNIGHTS": (
        "attacks of knights: complete when loaded: all sets of up to two knights; larger sets are computed each time"
    ),
    "gmd.games.hidden.NO_PIECES": "what is shown to a viewer who knows no piece: made when loaded and never changed",
    "gmd.games.dark.NOTHING": "what is shown to a viewer who knows no piece: made when loaded and never changed",
    "gmd.games.moves._read": (
        "parsed move texts; moves by number: of open games only; a blind game reads UCI without them"
    ),
    "gmd.games.moves.known_move": (
        "parsed move texts; moves by number: of open games only; a blind game reads UCI without them"
    ),
    "gmd.games.pgn_text._shared": "words of PGN: of texts and files that were sent; a blind game takes no PGN",
    "gmd.games.pgn_text._without_signs": "words of PGN: of texts and files that were sent; a blind game takes no PGN",
    "gmd.net.addresses.is_loopback": "whether a host's name is this machine's: nothing of a game",
    "gm_recon.board._start": (
        "boards by the FEN of a start position: start positions, which every state shows to every viewer"
    ),
    "gm_recon.fen._RANKS": (
        "the FEN text of ranks: of start positions and of finished games only: nothing writes the FEN of a game in "
        "progress"
    ),
    "gm_recon.fen._HALF_RANKS": (
        "the FEN text of ranks: of start positions and of finished games only: nothing writes the FEN of a game in "
        "progress"
    ),
    "gmd.games.chess._start_fen": "start positions by number and FEN: public; chess only",
    "gmd.games.chess._start_of": "start positions by number and FEN: public; chess only",
    "gm_protocol.codec._choices": (
        "the values that a field accepts, by kind and field: nothing of a game; a malformed request is refused "
        "faster after an earlier one with the same malformed field"
    ),
    "gmd.http.app.litestar_app": (
        "the routes of HTTP, which all daemons of a process share: nothing of a daemon or a game: a request's "
        "scope names its daemon"
    ),
    "gmd.http.app._litestar_health_app": (
        "the routes of HTTP, which all daemons of a process share: nothing of a daemon or a game: a request's "
        "scope names its daemon"
    ),
    "gmd.http.compression._kept": "static files, compressed; the pictures of the rules: public",
    "gmd.http.pages.rules.pictures": "static files, compressed; the pictures of the rules: public",
    "gmd.http.pages.painting._sheet": "the pictures of pieces: public",
    "gmd.http.pages.rendering.templates": (
        "the templates and files of pages: public; the same for every daemon and visitor"
    ),
    "gmd.http.pages.static_files.package_files": (
        "the templates and files of pages: public; the same for every daemon and visitor"
    ),
    "gmd.http.responses._date": "HTTP's date header line: the time",
    "gmd.event_log.damage._said": (
        "damages of the log that were already logged: for operators only; about rows that are never served"
    ),
    "gmd.event_log.postgres.statement_for": (
        "the text of a batch's SQL, by the kinds of rows that it writes: nothing of a game: moves and senses write "
        "the same kinds"
    ),
    "gmd.event_log.postgres_committer.numbered": (
        "the text of a batch's SQL as PostgreSQL takes it: nothing of a game, as above"
    ),
    "gmd.event_log.memory._DURABLE": "the commit of an in-memory log: it holds nothing",
    "gmd.cli.main": "the commands: filled at start",
}

#: Each side's actions in a game in which everything happens that can: captures, castling, en passant, a promotion.
TURNS = [
    ("e7", "e2e4"), ("e2", "d7d5"), ("d5", "e4d5"), (None, "c7c5"), ("c5", "d5c6"), ("b2", "g8f6"),
    ("b7", "c6b7"), ("d4", "g7g6"), ("a8", "b7a8q"), ("a1", "f8g7"), (None, "g1f3"), (None, "e8g8"),
    ("h8", "f1b5"), ("e4", "h7h5"), ("g8", "e1g1"), (None, None), ("g7", "a8d8"), ("f3", "f8e8"),
]  # fmt: skip


async def play_blind(client: Client) -> None:
    """Play a game without ending it, while all players and strangers make every request after every action."""
    game_id = (await client.new_game(variant="rbc", clock=None))["game_id"]
    for ply, (square, move) in enumerate(TURNS):
        player = 1 + ply % 2
        await ask_everything(client, game_id)
        assert (await client.ask("sense", game_id=game_id, player=player, square=square))["error"] is None
        await ask_everything(client, game_id)
        assert (await client.ask("move", game_id=game_id, player=player, move=move))["error"] is None
    await ask_everything(client, game_id)


async def ask_everything(client: Client, game_id: int) -> None:
    for player in (1, 2, None, 77):
        asked = {"game_id": game_id, "player": player}
        await client.ask("state", **asked, actions=True)
        await client.ask("actions", **asked)
        await client.ask("belief", **asked, samples=3)
        await client.ask("wait", **asked, timeout=0, actions=True)
        await client.ask("sense", **asked, square="z9")
        await client.ask("move", **asked, move="a1a1")
        await client.ask("history", **asked)


async def grown_by_blind_games() -> set[tuple[str, ...]]:
    """Return the shared values that grow or shrink because of a game in progress."""
    async with memory_daemon(spectate="live") as daemon:
        daemon.services.beliefs.cap = 12  # nobody senses usefully
        client = await daemon.connect()
        begun = await client.new_game(variant="rbc", clock=None)  # everything is made that the first request makes
        await ask_everything(client, begun["game_id"])
        before = sizes()
        await play_blind(client)
        after = sizes()
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


@pytest.mark.slow
async def test_blind_game_leaves_nothing_in_what_all_games_share() -> None:
    assert await grown_by_blind_games() == set()


async def test_spectators_of_a_blind_game_see_the_true_position() -> None:
    async with memory_daemon(spectate="live") as daemon:
        client = await daemon.connect()
        game_id = (await client.new_game(variant="rbc", clock=None))["game_id"]
        await client.ask("sense", game_id=game_id, player=1, square=None)
        await client.ask("move", game_id=game_id, player=1, move="e2e4")
        state = (await client.ask("state", game_id=game_id, player=None))["state"]
    assert state["fen"] == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


@pytest.mark.slow
@pytest.mark.parametrize("leak", [leak for leak, planted in LEAKS.items() if "caches" in planted.found_in])
async def test_cache_that_blind_games_share_is_found(leak: str, monkeypatch: pytest.MonkeyPatch) -> None:
    facts.OPEN_LISTS.clear()
    facts.kept_castling.cache_clear()
    monkeypatch.setattr(*LEAKS[leak].patch)
    assert await grown_by_blind_games() != set()


@pytest.mark.slow
def test_table_of_moves_that_grows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sizes()
    monkeypatch.setitem(tables.MEN[True][chess.ROOK][0].up, 1, [])
    assert sizes() != before


@pytest.mark.slow
def test_every_shared_cache_is_judged() -> None:
    assert sorted(JUDGED) == sorted(caches())
