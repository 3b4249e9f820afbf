"""``new_game`` and ``game_from_pgn``: a new game, from a start position or from the end of a PGN."""

from __future__ import annotations

import secrets

import chess

from gm_protocol.codec import echo_id
from gm_protocol.errors import BadPgn, NotAvailable, Unauthorized
from gm_protocol.messages import NewGame, NewGameReply
from gm_protocol.state import COLOR_NAMES, Color
from gmd.event_log.utc import write_now
from gmd.games.events import AnyEvent, Created
from gmd.games.game import Game
from gmd.games.pgn_text import PgnText, read_pgn
from gmd.games.variants import VARIANTS, make_game, resolve
from gmd.games.views import Viewer
from gmd.handlers.context import PendingReply, RequestContext
from gmd.handlers.game_requests import source_peer, state_of, viewer_of
from gmd.handlers.permission import authorise
from gmd.handlers.tokens import made_before, token_use
from gmd.play.live_games import LiveGame
from gmd.players.account import is_registered


async def new_game(request: NewGame, context: RequestContext) -> PendingReply:
    """Create a game; or show the one that the same request created before."""
    player, is_operator = context.player, context.session.is_operator
    authorise(context)
    if player is None and context.services.registered_only and not is_operator:
        raise Unauthorized("player: missing; on this server only registered players create games")
    token = token_use(request, player)
    if token is not None and (live := await made_before(token, request.token, context)) is not None:
        return _answer(request, live, context)
    _check_named(request, context)
    lobby, peer = context.services.lobby, source_peer(context)
    if request.pgn is not None:
        lobby.quotas.check_game(peer)  # before the work of reading the PGN
    game, events = await _build(request, context)
    context.services.roster.check_clock(game.named, game.options.clock)
    limited = not is_operator
    if game.created.invited and limited:
        lobby.quotas.take_invitation(peer)
        await lobby.make_way(game, peer)
    if request.pgn is not None or game.created.invited:  # other tasks may have run since
        authorise(context)  # its key may have been revoked
        if token is not None and (live := await made_before(token, request.token, context)) is not None:
            return _answer(request, live, context)
    return _answer(request, lobby.open(game, events, token, peer, limited=limited), context)


def _answer(request: NewGame, live: LiveGame, context: RequestContext) -> PendingReply:
    """Return the reply that shows the game to the player who asked for it."""
    game = live.game
    viewer = viewer_of(game, None, context, both=Viewer.WHITE)
    reply = NewGameReply(
        id=echo_id(request),
        game_id=game.id,
        state=state_of(live, viewer, context, brief=request.brief),
        options=game.options,
    )
    return context.reply(reply, live.commit_for(viewer), live)


def _check_named(request: NewGame, context: RequestContext) -> None:
    """Check that the players that the request names can play.

    :raises NotAvailable: one is not registered or was revoked, or is an open id where those are refused.
    """
    for field in ("player_white", "player_black"):
        player = getattr(request, field)
        if player is None:
            continue
        if is_registered(player):
            account = context.services.authenticator.registry.get(player)
            if account is None or account.key is None:
                raise NotAvailable(f"{field}: {player} is in the range of registered players, and nobody has that id")
        elif context.services.registered_only:
            raise NotAvailable(f"{field}: {player} is an open id, and this server takes only registered players")


def _invited(request: NewGame, player: int | None) -> list[Color]:
    """Return the seats that are kept for registered players other than the one who requests the game."""
    named = ((chess.WHITE, request.player_white), (chess.BLACK, request.player_black))
    others = [(seat, other) for seat, other in named if other is not None and other != player]
    return [COLOR_NAMES[seat] for seat, other in others if is_registered(other)]


async def _build(request: NewGame, context: RequestContext) -> tuple[Game, list[AnyEvent]]:
    """Build the game and its first events, which are applied; it is not in the log yet.

    :raises BadPgn: the PGN is too long, or cannot be loaded.
    :raises TooMany: the request has a PGN, and its address has used up its budget.
    """
    if request.pgn is None:
        return _begun(request, PgnText({}, [], None, {}), context)
    limits, cpu_queue, peer = context.services.limits, context.services.arbiter.cpu_queue, context.session.peer
    if len(request.pgn) > limits.max_pgn:
        long = f"pgn: {len(request.pgn)} characters are more than {limits.max_pgn}, the server's max_pgn"
        raise BadPgn(f"{long}: leave out its comments and variations")
    async with cpu_queue.slot(peer, paid=True):
        pgn = await cpu_queue.run(read_pgn(request.pgn, limits.max_plies), peer)
        game, events = _begun(request, pgn, context)
        events += await cpu_queue.run(game.load(pgn.moves), peer)
    return game, events


def _begun(request: NewGame, pgn: PgnText, context: RequestContext) -> tuple[Game, list[AnyEvent]]:
    """Return the game at its start, and the event that creates it."""
    player, services = context.player, context.services
    drawn = secrets.randbelow(960) if VARIANTS[request.variant or "standard"].draws_start else 0
    invited = _invited(request, player)
    created = Created(
        player_white=request.player_white,
        player_black=request.player_black,
        options=resolve(request, pgn.headers, drawn, strict=context.session.strict),
        created=write_now(),
        result_header=pgn.result,
        invited=invited,
        lapses=services.lobby.limits.kept_seat_seconds if invited else None,
        asked_by=(player or 0) if invited else None,
        max_plies=services.limits.max_plies,
    )
    return make_game(created), [created]
