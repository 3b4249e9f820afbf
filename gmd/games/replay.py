"""Checked replay: a game from events, each of which must equal the event that the rules would have produced."""

from __future__ import annotations

import re
from collections.abc import Sequence

import chess
import msgspec
from msgspec import UNSET, structs

from gm_protocol.endings import Cause, Ending, is_voluntary
from gm_protocol.errors import GmError
from gm_protocol.messages import GameOptions, NewGame
from gmd.games.commands import Absent, CallOff, Command, End, Flag, Join, Play, RunOut, Sense
from gmd.games.events import (
    KEPT_TAGS,
    MAX_KEPT_TAG,
    AnyEvent,
    Created,
    Ended,
    FirstContactMade,
    Joined,
    Loaded,
    Moved,
    Sensed,
)
from gmd.games.game import MAX_KEPT_TEXT, Game, seat_name
from gmd.games.variants import VARIANTS, make_game, resolve

_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class DoesNotApply(Exception):
    """An event that cannot have happened at its place in the game. The message says why.

    :ivar seq: its number among the game's events, from 0.
    """

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(why)
        self.seq = seq


class _Wrong(Exception):
    """An error in an event; the message says which."""


def replay(game_id: int, events: Sequence[AnyEvent]) -> Game:
    """Return the game that results from some events.

    :raises DoesNotApply: for the first event that cannot have happened; for event 0 if there are none.
    """
    if not events:
        raise DoesNotApply(0, "the game has no events")
    seq = 0
    try:
        game = _begun(events[0])
        game.id = game_id
        for seq, event in enumerate(events[1:], 1):
            _check(game, event, events[seq - 1])
            game.apply(event)
            if isinstance(event, Loaded):
                _check_kept(game, event)
    except (_Wrong, GmError) as error:
        raise DoesNotApply(seq, str(error)) from None
    return game


def _begun(event: AnyEvent) -> Game:
    """Return the game that an event creates."""
    if not isinstance(event, Created):
        raise _Wrong(f"a game begins with its creation, not with {_text(event)}")
    if not _UTC.fullmatch(event.created):
        raise _Wrong(f"created: {event.created!r} is not a time such as 2026-11-21T04:41:00Z")
    named = (event.player_black, event.player_white)
    for side in event.invited_sides:
        if named[side] is None or event.invited_sides.count(side) > 1:
            raise _Wrong(f"invited: {seat_name(side)}'s seat is kept for nobody, or twice")
    if event.lapses is not None and not event.lapses > 0:
        raise _Wrong(f"lapses: {event.lapses} seconds is not more than 0")
    for name, value in event.tags.items():
        if name not in KEPT_TAGS or len(value) > MAX_KEPT_TAG or not value.isprintable():
            raise _Wrong(f"tags: {name} {value!r} is not one of {', '.join(KEPT_TAGS)}, on one line and not too long")
    resolved = _resolved(event.options)
    for name in GameOptions.__struct_fields__:
        has, should = getattr(event.options, name), getattr(resolved, name)
        if has != should:
            raise _Wrong(f"options.{name}: {has!r}, but a new game would have {should!r}")
    return make_game(event)


def _resolved(options: GameOptions) -> GameOptions:
    """Return the options of a new game whose request has these options."""
    asked = {name: getattr(options, name) for name in GameOptions.__struct_fields__}
    if isinstance(options.position, int):  # the FEN came from it
        asked["fen"] = None
    given = {name: value for name, value in asked.items() if value is not UNSET}
    request = NewGame(player_white=1, player_black=2, **given)
    return resolve(request, {}, 0, strict=True)


def _check(game: Game, event: AnyEvent, before: AnyEvent) -> None:
    """Check that an event may come next.

    :param before: the event before it.
    :raises _Wrong: it may not.
    :raises GmError: the rules refuse it.
    """
    match event:
        case Created():
            raise _Wrong("the game was already created")
        case Loaded():
            if not isinstance(before, Created | Loaded):
                raise _Wrong("moves are loaded when a game is created, and not later")
            _check_loaded(game, event)
        case Joined():
            _check_decided(game, event, Join(event.player, event.side), 0.0)
        case FirstContactMade():
            seat = event.side
            if game.clock is None or game.over or game.contacted[seat] or game.players[seat] is None:
                raise _Wrong(f"no first contact of {event.seat} is awaited")
        case Sensed():
            _check_seconds(game, event.seconds)
            _check_decided(game, event, Sense(game.turn, event.square), event.seconds)
        case Moved():
            _check_seconds(game, event.seconds)
            drawn = {"offer_draw": event.offer_draw, "claim_draw": event.claim_draw}
            _check_decided(game, event, Play(game.turn, event.move, **drawn), event.seconds)
        case Ended():
            _check_seconds(game, event.seconds)
            _check_decided(game, event, _ending(game, event), event.seconds)


def _check_loaded(game: Game, event: Loaded) -> None:
    if game.now.ply + len(event.moves) > game.created.max_plies:
        raise _Wrong(f"more than {game.created.max_plies} moves are loaded")
    if not VARIANTS[game.options.variant].loads_moves:
        raise _Wrong(f"no game of {game.options.variant} has moves that were loaded")


def _check_kept(game: Game, event: Loaded) -> None:
    """Check that loaded moves, which were just applied, are written as the game keeps them."""
    for move, played in zip(event.moves, game.moves[game.now.ply - len(event.moves) :], strict=True):
        if played != move:
            raise _Wrong(f"move: {move!r} would be kept as {played!r}")


def _check_seconds(game: Game, seconds: float) -> None:
    if seconds < 0:
        raise _Wrong(f"seconds: {seconds} are charged, which is less than 0")
    if seconds and not game.ticking:
        raise _Wrong(f"seconds: {seconds} are charged while no clock runs")


def _ending(game: Game, event: Ended) -> Command:
    """Return the command that ended the game."""
    try:
        ending, seat = event.ending, event.side
    except ValueError as error:
        raise _Wrong(str(error)) from None
    if is_voluntary(ending.cause):
        return End(_asker(event, ending.side), ending.cause)
    if ending.called_off:
        return CallOff(_who_called_off(game, event, ending.cause))
    match ending.cause:
        case Cause.TIMEOUT | Cause.TIMEOUT_DRAW if seat is not None:
            return RunOut(seat)
        case Cause.TIMEOUT | Cause.TIMEOUT_DRAW:
            return Absent() if game.awaited else Flag()
        case Cause.FORFEIT:
            drawn = {"offer_draw": event.offer_draw, "claim_draw": event.claim_draw}
            return Play(_asker(event, ending.side), event.asked or "", **drawn)
        case _:
            raise _Wrong(f"termination: {event.termination!r} ends a game only by a move")


def _asker(event: Ended, expected: chess.Color | None) -> chess.Color:
    """Return the seat that asked for an end.

    :param expected: the only side that can; None if both can.
    """
    seat = event.side
    if seat is None or event.asked is None:
        raise _Wrong(f"termination: {event.termination!r} is requested by a seat, but none is named")
    if expected not in (None, seat):
        raise _Wrong(f"termination: {event.termination!r} cannot be requested by {event.seat}")
    return seat


def _who_called_off(game: Game, event: Ended, cause: Cause) -> int | None:
    """Return the player whose seat the event names; if it names none, a player who can have called the game off."""
    if cause is Cause.EXPIRED:
        if not (game.lapsing or game.created.invited):
            raise _Wrong("termination: 'expired' cannot end a game without a time limit to begin")
        return None
    if (seat := event.side) is not None:
        return game.named[seat]
    seated = cause is Cause.WITHDRAWN
    who = [named for named in game.named if named is not None and (named in game.players) is seated]
    if not who:
        raise _Wrong(f"termination: {event.termination!r} cannot be requested by any player")
    return who[0]


def _check_decided(game: Game, event: Joined | Sensed | Moved | Ended, command: Command, elapsed: float) -> None:
    """Check that the game decides a command with exactly this event."""
    decision = game.decide(command, elapsed)
    if decision.refusal is not None:
        raise decision.refusal
    decided = list(decision.events)
    if isinstance(event, Ended) and event.ending.cause is Cause.TIMEOUT:
        decided = [_lost(game, each, command) for each in decided]
    if isinstance(event, Ended) and event.asked is not None and len(event.asked) > MAX_KEPT_TEXT:
        # The forfeiting move's text was too long to be stored, so its digest stands for it.
        decided = [structs.replace(each, asked=event.asked) for each in decided if isinstance(each, Ended)]
    if isinstance(event, Ended) and event.seat is None and isinstance(command, CallOff):
        decided = [structs.replace(each, seat=None) for each in decided if isinstance(each, Ended)]
    if decided != [event]:
        said = ", ".join(map(_text, decided)) or "nothing"
        raise _Wrong(f"{_text(event)} would have been {said}")


def _lost(game: Game, decided: AnyEvent, command: Command) -> AnyEvent:
    """Return a draw on time as a loss, which it was in logs from before there was such a draw; other events as is."""
    if not isinstance(decided, Ended) or decided.ending.cause is not Cause.TIMEOUT_DRAW:
        return decided
    loser = command.seat if isinstance(command, RunOut) else game.late
    lost = Ending(Cause.TIMEOUT, winner=not loser).termination
    return structs.replace(decided, termination=lost, asked=None if decided.asked is None else lost)


def _text(event: AnyEvent) -> str:
    return msgspec.json.encode(event).decode()
