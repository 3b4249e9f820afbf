"""Rights to watch live games in full, on servers that strangers can or cannot reach."""

from __future__ import annotations

import pytest

from tests.helpers import Json, connected, running_daemon

HIDDEN = "8/8/8/8/8/8/8/8 w - - 0 1"


@pytest.mark.parametrize(
    ("settings", "key", "sees_all"),
    [
        ({"host": "127.0.0.1"}, None, True),
        ({"host": "localhost"}, None, True),
        ({"host": "127.0.0.1", "spectator_key": "sesame"}, None, True),
        ({"host": "0.0.0.0"}, None, False),
        ({"host": "0.0.0.0", "spectator_key": "sesame"}, None, False),
        ({"host": "0.0.0.0", "spectator_key": "sesame"}, "sesame", True),
    ],
)
async def test_spectator_key_is_needed_when_others_can_reach_the_server(
    settings: Json, key: str | None, sees_all: bool
) -> None:
    async with running_daemon(spectate="live", **settings) as daemon, connected(daemon) as client:
        await client.new_game(variant="rbc")
        assert (await client.ask("hello", spectator_key=key))["error"] is None
        state = (await client.ask("state", game_id=1))["state"]
        assert (state["fen"] != HIDDEN) == sees_all
        # The session's next hello ends its right.
        assert (await client.ask("hello"))["error"] is None
        unasked = settings["host"] != "0.0.0.0"
        assert ((await client.ask("state", game_id=1))["state"]["fen"] != HIDDEN) == unasked


async def test_refused_hello_ends_the_right_to_watch() -> None:
    settings: Json = {"host": "0.0.0.0", "spectate": "live", "spectator_key": "sesame"}
    async with running_daemon(**settings) as daemon, connected(daemon) as client:
        await client.new_game(variant="rbc")
        for refused in ({"spectator_key": "other"}, {"protocol": "two"}):
            await client.ask("hello", spectator_key="sesame")
            assert (await client.ask("state", game_id=1))["state"]["fen"] != HIDDEN
            assert (await client.ask("hello", **refused))["error"] is not None
            assert (await client.ask("state", game_id=1))["state"]["fen"] == HIDDEN
