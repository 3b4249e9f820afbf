"""The hint where a game is: before the last field of replies that show a game, and followed once by the client."""

from __future__ import annotations

import json
import ssl
from typing import Any

import pytest

from gm_client.blocking import HOME_AGAIN_SECONDS, Conversation
from gm_protocol.messages import GetHistory, GetState, Wait
from gmd.cluster.home import with_home
from gmd.config import Config
from gmd.joining import gives_home
from tests.cluster.memory_cluster import memory_cluster

SHOWN = b'{"id":7,"state":{"ply_index":0},"error":null}'


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        (SHOWN, GetState, b'{"id":7,"state":{"ply_index":0},"home":"h:7100","error":null}'),
        (SHOWN, GetHistory, SHOWN),
        (b'{"state":null,"error":null}', Wait, b'{"state":null,"error":null}'),
        (
            b'{"state":null,"code":"stale","error":"ply: 3"}',
            GetState,
            b'{"state":null,"code":"stale","error":"ply: 3"}',
        ),
    ],
)
def test_hint_is_in_replies_that_show_a_game(body: bytes, kind: type, expected: bytes) -> None:
    assert with_home(body, kind, "h:7100") == expected


def _conversation(*replies: dict[str, object]) -> Conversation:
    conversation = Conversation({}, 10.0)
    conversation.greeted(b'{"limits":{},"player":null,"error":null}')
    for reply in replies:
        conversation.ask("state", {"game_id": 1})
        conversation.unsent()
        conversation.answered(json.dumps({**reply, "error": None}).encode())
    return conversation


STATE: dict[str, object] = {"state": {"ply_index": 0}}


@pytest.mark.parametrize("home", ["10.0.0.7:7200", "[::1]:7200"])
def test_client_connects_once_where_the_game_is(home: str) -> None:
    conversation = _conversation({**STATE, "home": home})
    address = home.rpartition(":")[0].strip("[]"), 7200
    assert conversation.again().way_home(None, False, 0.0) == address
    assert conversation.way_home(None, False, 0.0) == address
    assert conversation.way_home(None, False, 0.0) is None  # the connection was lost again


def test_client_does_not_try_a_home_again_for_a_while_that_did_not_answer() -> None:
    conversation = _conversation({**STATE, "home": "10.0.0.7:7200"})
    address = ("10.0.0.7", 7200)
    loop = conversation.again()
    conversation.not_home(address, 100.0)
    for each in (conversation, loop):
        each.home = address
        assert each.way_home(None, False, 99.9 + HOME_AGAIN_SECONDS) is None
        each.home = address
        assert each.way_home(None, False, 100.1 + HOME_AGAIN_SECONDS) == address


@pytest.mark.parametrize("replies", [[{**STATE, "home": "h:1"}, STATE], [{**STATE, "home": "nonsense"}], [STATE]])
def test_client_keeps_its_address_without_a_hint(replies: list[dict[str, object]]) -> None:
    assert _conversation(*replies).way_home(None, False, 0.0) is None


def test_client_follows_no_hint_under_tls_or_over_a_unix_socket() -> None:
    for path, tls in (("/run/gmd", False), (None, ssl.create_default_context())):
        conversation = _conversation({**STATE, "home": "h:1"})
        assert conversation.way_home(path, tls, 0.0) is None


@pytest.mark.parametrize("given", [True, False])
async def test_daemons_whose_clients_cannot_reach_the_others_give_no_hint(given: bool) -> None:
    async with memory_cluster(2) as cluster:
        for member in cluster.members:
            member.router.sender.gives_home = given
        maker, other = [await member.connect(player=1) for member in cluster.members]
        game_id = (await maker.new_game())["game_id"]
        assert ("home" in await other.ask("state", game_id=game_id)) == given


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, True),
        ({"link_host": "10.0.0.1"}, True),
        ({"link_host": "daemon.example"}, True),
        ({"link_host": "0.0.0.0"}, False),
        ({"link_host": "::"}, False),
        ({"link_host": "0.0.0.0", "reached_at": "daemon.example"}, True),
        ({"link_host": "10.0.0.1", "home": False}, False),
        ({"reached_at": "daemon.example", "home": False}, False),
    ],
)
def test_hint_is_given_where_clients_may_reach_the_address(settings: dict[str, Any], expected: bool) -> None:
    assert gives_home(Config(**settings)) == expected
