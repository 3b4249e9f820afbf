"""Every kind of request has a route, which follows from the request alone."""

from __future__ import annotations

import pytest

from gm_protocol.base import FIRST_REGISTERED
from gm_protocol.codec import decode_request
from gm_protocol.messages import REQUESTS
from gmd.cluster.routing import (
    AT_ONCE,
    BY_CONTENT,
    FIXED,
    IN_GAME,
    OfGame,
    OfGames,
    Route,
    Where,
    is_repeatable,
    route_of,
)
from gmd.handlers.table import HANDLERS

HERE, LOBBY = Where.HERE, Where.LOBBY


def test_every_kind_has_one_route() -> None:
    routed = [*FIXED, *IN_GAME, *BY_CONTENT]
    assert len(routed) == len(set(routed))
    assert set(routed) == set(HANDLERS) == set(REQUESTS.values())
    assert AT_ONCE <= IN_GAME


@pytest.mark.parametrize(
    ("body", "route", "repeatable"),
    [
        ('{"kind":"hello","protocol":2}', HERE, False),
        ('{"kind":"ping"}', HERE, True),
        ('{"kind":"games"}', HERE, True),
        ('{"kind":"new_game","player_white":1,"player_black":2}', HERE, False),
        ('{"kind":"new_game","player_white":1,"player_black":2,"token":"t"}', HERE, True),
        (f'{{"kind":"new_game","player_white":{FIRST_REGISTERED},"player_black":2}}', HERE, False),
        (f'{{"kind":"new_game","player_white":2,"player_black":{FIRST_REGISTERED + 1}}}', LOBBY, False),
        (
            f'{{"kind":"game_from_pgn","pgn":"","player_white":null,"player_black":{FIRST_REGISTERED + 1}}}',
            LOBBY,
            False,
        ),
        ('{"kind":"join","game_id":257}', OfGame(257), True),
        ('{"kind":"state","game_id":257}', OfGame(257), True),
        ('{"kind":"history","game_id":257}', OfGame(257), True),
        ('{"kind":"actions","game_id":257}', OfGame(257), True),
        ('{"kind":"belief","game_id":257}', OfGame(257), True),
        ('{"kind":"move","game_id":257,"move":"e4"}', OfGame(257), False),
        ('{"kind":"move","game_id":257,"move":"e4","ply":3}', OfGame(257), True),
        ('{"kind":"sense","game_id":257,"square":"e4"}', OfGame(257), False),
        ('{"kind":"sense","game_id":257,"square":"e4","ply":3}', OfGame(257), True),
        ('{"kind":"end_game","game_id":257,"termination":"draw_agreed"}', OfGame(257), False),
        ('{"kind":"end_game","game_id":257,"termination":"draw_agreed","ply":3}', OfGame(257), True),
        ('{"kind":"accept","game_id":257}', OfGame(257), True),
        ('{"kind":"decline","game_id":257}', OfGame(257), True),
        ('{"kind":"decline"}', LOBBY, True),
        ('{"kind":"wait","game_id":257}', OfGame(257), True),
        ('{"kind":"wait","game_ids":[257,3]}', OfGames([257, 3]), True),
        ('{"kind":"wait","any":true}', LOBBY, True),
        ('{"kind":"wait"}', HERE, True),
        ('{"kind":"wait","game_ids":[]}', HERE, True),
        ('{"kind":"wait","any":true,"game_id":257}', HERE, True),
        ('{"kind":"register","name":"a"}', LOBBY, False),
        ('{"kind":"register","name":"a","token":"t"}', LOBBY, True),
        ('{"kind":"rekey"}', LOBBY, False),
        ('{"kind":"revoke","name":"a"}', LOBBY, True),
        ('{"kind":"players"}', LOBBY, True),
        ('{"kind":"settings"}', LOBBY, True),
        ('{"kind":"challenge","opponent":4}', LOBBY, False),
        ('{"kind":"seek"}', LOBBY, False),
        ('{"kind":"invitations"}', LOBBY, True),
        ('{"kind":"leaderboard"}', LOBBY, True),
    ],
)
def test_route_and_repetition_follow_from_the_request(body: str, route: Route, repeatable: bool) -> None:
    request = decode_request(body.encode())
    assert route_of(request, FIRST_REGISTERED) == route
    assert is_repeatable(request) is repeatable
