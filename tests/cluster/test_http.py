"""HTTP at any daemon: what another daemon owns is answered as its owner answers it."""

from __future__ import annotations

import random

import httpx
import pytest
import trio
from reconchess import Player, play_remote_game
from reconchess.bots.attacker_bot import AttackerBot
from reconchess.bots.random_bot import RandomBot
from trio.testing import wait_all_tasks_blocked

from gm_protocol.errors import Moved
from gmd.cluster.shards import shard_of
from gmd.http.pages.visitor import COOKIE
from gmd.http.proxy.origin import HEADER
from gmd.http.proxy.peers import ROLE
from gmd.tls import certificate_of
from tests.cluster.http_cluster import HttpCluster, HttpMember, client_of, http_cluster, made
from tests.http.helpers import read_to_end
from tests.http.pages.browser import browsing
from tests.http.pages.test_home import play_form
from tests.http.pages.test_playing import act
from tests.http.rbc import PATIENCE_SECONDS
from tests.http.test_reconchess_client import in_thread
from tests.tls import Certificates

PASSWORD = "correct horse"


def shown(response: httpx.Response) -> tuple[int, list[tuple[str, str]], bytes]:
    """Return what a client is shown, but the date."""
    headers = [(name, value) for name, value in response.headers.multi_items() if name != "date"]
    return response.status_code, headers, response.content


async def hand_over(cluster: HttpCluster, game_id: int, to: HttpMember) -> None:
    await cluster.games.hand_over([shard_of(game_id)], to.member)


# --- Pages ------------------------------------------------------------------------------------------------------------


async def test_answers_are_the_same_bytes_at_the_owner_and_elsewhere() -> None:
    async with http_cluster(2) as cluster:
        of_game, of_lobby = await made(cluster[1]), await made(cluster[0])
        await cluster[1].ask("move", game_id=of_game, player=1, move="e4")
        paths = [f"/games/{of_game}{what}" for what in ("", ".svg", ".pgn", ".json", "/", "?ply=0", "/nothing", ".exe")]
        paths += [f"/embed/{of_game}", f"/games/{of_game}/counts", "/games/1000001", f"/api/games/{of_game}/is_over"]
        elsewhere = dict.fromkeys(paths, (cluster[0], cluster[1]))
        lobbys = ("/", "/ranked", "/contests", "/sign-in", "/register", "/players/7", "/api/users", "/api/leaderboard")
        elsewhere |= dict.fromkeys(lobbys, (cluster[1], cluster[0]))
        elsewhere[f"/games/{of_lobby}"] = (cluster[1], cluster[0])
        for path, (entry, owner) in elsewhere.items():
            async with client_of(entry) as at_entry, client_of(owner) as at_owner:
                for method in ("GET", "HEAD", "OPTIONS", "POST", "PUT"):
                    for accept in ("text/html", "*/*"):
                        before = entry.forwarded
                        headers = {"accept": accept, "host": "gmd.example"}
                        here = await at_entry.request(method, path, headers=headers)
                        assert entry.forwarded == before + 1, path
                        there = await at_owner.request(method, path, headers=headers)
                        assert shown(here) == shown(there)
                        assert here.status_code < 500


async def test_what_is_the_same_everywhere_is_answered_by_the_entry_daemon() -> None:
    async with http_cluster(2) as cluster, client_of(cluster[1]) as client:
        for path in ("/healthz", "/metrics", "/schema", "/static/0/style.css", "/api/version", "/no/such/page"):
            await client.get(path)
        assert cluster[1].forwarded == 0


async def test_visitors_play_by_forms_at_daemons_that_own_nothing_of_theirs() -> None:
    async with http_cluster(3) as cluster, browsing(cluster[1]) as white, browsing(cluster[2]) as black:  # type: ignore[arg-type]
        form = play_form(await white.get("/"), "standard")
        page = await white.submit(form, opponent="link", variant="standard", color="white")
        path = page.path
        game_id = int(path.removeprefix("/games/"))
        assert cluster.owner_of(game_id) is cluster[0]
        page = await black.get(path)
        await black.submit(page.form(f"{path}/join"), seat="black")
        for ply, move in enumerate(["e4", "e5", "Nf3", "Nc6", "Bb5"]):
            await act((white, black)[ply % 2], "move", path, move=move)
            await hand_over(cluster, game_id, cluster[ply % 3])
        page = await act(black, "resign", path)
        assert "White won by resignation" in (await white.get(path)).text
        assert min(cluster[1].forwarded, cluster[2].forwarded) > 0


async def test_a_visitor_who_signs_in_anywhere_is_known_everywhere() -> None:
    async with http_cluster(2) as cluster, browsing(cluster[1]) as browser:  # type: ignore[arg-type]
        await cluster[0].ask("register", name="ann", password=PASSWORD)
        page = await browser.get("/sign-in")
        page = await browser.submit(page.form("/sign-in"), name="ann", password=PASSWORD)
        assert "Signed in as" in page.text
        game_id = await made(cluster[0], None, 2)
        cookie = browser.client.cookies[COOKIE]
        for member in cluster.members:
            async with client_of(member) as client:
                shown = await client.get(f"/games/{game_id}", headers={"cookie": f"{COOKIE}={cookie}"})
                assert "Signed in as" in shown.text


# --- Who asks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 1])
async def test_a_client_cannot_say_what_only_daemons_say(at: int) -> None:
    async with http_cluster(2) as cluster, browsing(cluster[at]) as browser:  # type: ignore[arg-type]
        await cluster[0].ask("register", name="ann", password=PASSWORD)
        headers = {HEADER.decode(): "https 0.000000 192.0.2.1 1"}
        fields = browser_fields(await browser.get("/sign-in"), name="ann", password=PASSWORD)
        answer = await browser.post("/sign-in", fields, **headers)
        assert "secure" not in answer.history[0].headers["set-cookie"].lower()


def browser_fields(page: object, **fields: str) -> dict[str, str]:
    return {**page.form("/sign-in").fields, **fields}  # type: ignore[attr-defined]


@pytest.mark.parametrize("forges", [False, True])
async def test_failed_attempts_at_any_daemon_count_for_the_clients_address(forges: bool) -> None:
    async with http_cluster(2, max_failures_per_minute=3) as cluster:
        statuses = []
        for number, member in enumerate((1, 1, 0, 1, 0)):
            headers = {HEADER.decode(): f"http 0.000000 192.0.2.{number} 1"} if forges else {}
            async with client_of(cluster[member]) as client:
                answer = await client.post("/api/users/me", auth=("ann", "wrong"), headers=headers)
                statuses.append(answer.status_code)
        assert statuses == [401, 401, 401, 503, 503]


async def test_a_connection_between_daemons_needs_an_origin_in_each_request() -> None:
    async with http_cluster(2) as cluster:
        game_id = await made(cluster[1])
        for path in (f"/games/{game_id}", f"/api/games/{game_id}/color"):
            stream = await cluster[0].member.links.open(cluster[1].member.id, ROLE)
            async with stream:
                await stream.send_all(b"GET %b HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n" % path.encode())
                assert (await read_to_end(stream)).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("at", [0, 1])
async def test_a_visitor_who_comes_by_https_gets_a_cookie_for_https_alone(at: int, certificates: Certificates) -> None:
    certificate = certificate_of(str(certificates.cert), str(certificates.key))
    async with http_cluster(2, certificate) as cluster:
        await cluster[0].ask("register", name="ann", password=PASSWORD)
        url = f"https://127.0.0.1:{cluster[at].http_port}"
        async with httpx.AsyncClient(base_url=url, verify=False, trust_env=False, timeout=PATIENCE_SECONDS) as client:
            fields = {"name": "ann", "password": PASSWORD, "csrf": "", "next": "/"}
            answer = await client.post("/sign-in", data=fields, headers={"origin": url})
            assert answer.status_code == 303
            assert "secure" in answer.headers["set-cookie"].lower()


# --- reconchess -------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.seconds(15)
async def test_bots_of_reconchess_play_at_daemons_that_do_not_own_the_game() -> None:
    random.seed(4)
    async with http_cluster(3) as cluster:
        white, black = [await cluster[0].ask_as_operator("register", name=name) for name in ("white", "black")]
        game_id = await rbc_game(cluster[0], white["player"], black["player"], max_turns=15)
        ends = []

        async def play(player: dict[str, str], bot: type[Player], member: HttpMember) -> None:
            url = f"http://127.0.0.1:{member.http_port}"
            auth = (player["name"], player["key"])
            ends.append(await in_thread(play_remote_game, url, game_id, auth, bot()))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(play, white, RandomBot, cluster[1])
            nursery.start_soon(play, black, AttackerBot, cluster[2])
        assert ends[0][:2] == ends[1][:2]
        assert cluster[1].forwarded > 50
        assert cluster[2].forwarded > 50


async def rbc_game(member: HttpMember, white: int, black: int, **options: object) -> int:
    seats = {"player": white, "player_white": white, "player_black": black, "variant": "rbc"}
    game_id: int = (await member.ask_as_operator("new_game", **seats, **options))["game_id"]
    await member.ask_as_operator("join", player=black, game_id=game_id)
    return game_id


async def test_a_plain_request_gets_the_same_bytes_at_the_owner_and_elsewhere() -> None:
    async with http_cluster(2) as cluster:
        white, black = [await cluster[0].ask_as_operator("register", name=name) for name in ("white", "black")]
        game_id = await rbc_game(cluster[0], white["player"], black["player"])
        auth = (white["name"], white["key"])
        async with client_of(cluster[1]) as entry, client_of(cluster[0]) as owner:
            for what in ("color", "is_my_turn", "sense_actions", "move_actions", "game_status", "winner_color"):
                for query in ("", "?x=1"):  # the second is not plain
                    path = f"/api/games/{game_id}/{what}{query}"
                    assert shown(await entry.get(path, auth=auth)) == shown(await owner.get(path, auth=auth))
            wrong = await entry.get(f"/api/games/{game_id}/color", auth=("white", "wrong"))
            assert wrong.status_code == 401
            assert shown(wrong) == shown(await owner.get(f"/api/games/{game_id}/color", auth=("white", "wrong")))


# --- Owners that change or go away ------------------------------------------------------------------------------------


async def test_a_request_waits_for_the_new_owner_while_a_game_is_handed_over() -> None:
    async with http_cluster(3) as cluster, client_of(cluster[0]) as client:
        game_id = await made(cluster[1])
        shard = shard_of(game_id)
        cluster[1].member.directory.leaving.add(shard)
        answers: list[httpx.Response] = []

        async def get() -> None:
            answers.append(await client.get(f"/games/{game_id}"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(get)
            while not cluster[0].others.proxy.retried:
                await wait_all_tasks_blocked()
            assert answers == []
            await hand_over(cluster, game_id, cluster[2])
        assert answers[0].status_code == 200


async def test_an_owner_without_a_valid_lease_answers_nothing_until_it_is_renewed() -> None:
    async with http_cluster(2) as cluster:
        game_id = await made(cluster[1])
        cluster[1].member.directory.suspend()
        answers: list[httpx.Response] = []

        async def get(member: HttpMember) -> None:
            async with client_of(member) as client:
                answers.append(await client.get(f"/games/{game_id}"))

        async with trio.open_nursery() as nursery:
            for member in cluster.members:
                nursery.start_soon(get, member)
            while not cluster[0].forwarded:
                await wait_all_tasks_blocked()
            await wait_all_tasks_blocked(0.01)
            assert answers == []
            cluster[1].member.directory.renew()
        assert [answer.status_code for answer in answers] == [200, 200]


async def test_a_page_whose_owner_dies_is_answered_by_its_heir_and_a_form_is_not_sent_twice() -> None:
    async with http_cluster(3) as cluster, browsing(cluster[0]) as browser:  # type: ignore[arg-type]
        game_id = await made(cluster[1], None, 2)
        page = await browser.get(f"/games/{game_id}")
        cluster[1].member.directory.suspend()
        before = cluster[0].forwarded
        pages, posts = [], []

        async def get() -> None:
            pages.append(await browser.get(f"/games/{game_id}"))

        async def post() -> None:
            posts.append(await browser.submit(page.form(f"/games/{game_id}/join"), seat="white"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(get)
            nursery.start_soon(post)
            while cluster[0].forwarded < before + 2:
                await wait_all_tasks_blocked()
            await cluster.games.kill(cluster[1].member, cluster[2].member)
        assert pages[0].status == 200
        assert posts[0].status == 503
        assert posts[0].response.headers["retry-after"] == "1"
        assert "nobody knows whether this was done; look before you try again" in posts[0].text


async def test_a_plain_request_whose_owner_dies_is_refused_so_that_reconchess_tries_again() -> None:
    async with http_cluster(2) as cluster, client_of(cluster[1]) as client:
        game_id = await made(cluster[0])
        cluster[0].member.directory.suspend()
        answers = []

        async def post() -> None:
            answers.append(await client.post(f"/api/games/{game_id}/sense", content=b"{}", auth=("ann", "key")))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(post)
            while not cluster[1].forwarded:
                await wait_all_tasks_blocked()
            await cluster.cut(cluster[0])
        assert answers[0].status_code == 503
        assert answers[0].json()["code"] == Moved.code
        assert answers[0].headers["retry-after"] == "1"


async def test_connections_are_kept_and_opened_again_after_they_were_cut() -> None:
    async with http_cluster(2) as cluster, client_of(cluster[1]) as client:
        game_id = await made(cluster[0])
        for _ in range(3):
            for _ in range(3):
                assert (await client.get(f"/games/{game_id}.json")).status_code == 200
            assert cluster[0].others.server.connections == 1
            await cluster.cut(cluster[0])
        assert cluster[1].others.proxy.retried == 0


async def test_a_form_at_an_owner_whose_lease_is_renewed_late_is_carried_out_once() -> None:
    async with http_cluster(2) as cluster, browsing(cluster[1]) as browser:  # type: ignore[arg-type]
        game_id = await made(cluster[1], None, 2)
        page = await browser.get(f"/games/{game_id}")
        cluster[1].member.directory.suspend()
        posts = []

        async def post() -> None:
            posts.append(await browser.submit(page.form(f"/games/{game_id}/join"), seat="white"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(post)
            await wait_all_tasks_blocked(0.01)
            assert posts == []
            cluster[1].member.directory.renew()
        assert "Your turn to move." in posts[0].text


async def test_a_request_for_a_daemon_without_http_is_refused_at_once() -> None:
    async with http_cluster(2) as cluster, client_of(cluster[0]) as client:
        game_id = await made(cluster[1])
        peers = cluster.games.map.peers
        peers[cluster[1].member.id] = peers[cluster[1].member.id]._replace(http=None)
        answer = await client.get(f"/games/{game_id}.json")
        assert answer.status_code == 503
        assert answer.json()["error"] == "the server that has this does not serve HTTP; its operator can turn it on"


async def test_a_daemon_that_stops_ends_the_connections_that_others_keep() -> None:
    async with http_cluster(2) as cluster, client_of(cluster[0]) as client:
        game_id = await made(cluster[1])
        assert (await client.get(f"/games/{game_id}.json")).status_code == 200
        assert cluster[1].others.server.connections == 1
        with trio.fail_after(PATIENCE_SECONDS):
            await cluster[1].http.stop(PATIENCE_SECONDS)
        assert cluster[1].others.server.connections == 0


async def test_a_head_as_long_as_a_client_may_send_is_passed_on() -> None:
    async with http_cluster(2) as cluster:
        game_id = await made(cluster[1])
        for length in (15_000, 16_000, 16_300, 17_000):
            statuses = []
            for member in cluster.members:
                async with client_of(member) as client:
                    answer = await client.get(f"/games/{game_id}.json", headers={"x-long": "x" * length})
                    statuses.append(answer.status_code)
            assert statuses[0] == statuses[1], length


async def test_a_kept_answer_is_confirmed_by_its_owner() -> None:
    async with http_cluster(2) as cluster, client_of(cluster[0]) as entry, client_of(cluster[1]) as owner:
        game_id = await made(cluster[1])
        await cluster[1].ask("end_game", game_id=game_id, player=1, termination="resignation_white")
        path = f"/games/{game_id}.svg"
        tag = (await entry.get(path)).headers["etag"]
        kept = [await client.get(path, headers={"if-none-match": tag}) for client in (entry, owner)]
        assert shown(kept[0]) == shown(kept[1])
        assert kept[0].status_code == 304
        assert (await entry.get(path)).status_code == 200  # over the same connection


async def test_players_invite_each_other_by_reconchess_api_at_different_daemons() -> None:
    async with http_cluster(3) as cluster, client_of(cluster[1]) as one, client_of(cluster[2]) as other:
        ann, bob = [
            (each["name"], each["key"])
            for each in [await cluster[0].ask_as_operator("register", name=name) for name in ("ann", "bob")]
        ]
        for client, auth in ((one, ann), (other, bob)):
            assert (await client.post("/api/users/me", auth=auth)).status_code == 200
        assert (await one.get("/api/users/", auth=ann)).json() == {"usernames": ["ann", "bob"]}
        sent = await one.post("/api/invitations/", json={"opponent": "bob", "color": True}, auth=ann)
        game_id = sent.json()["game_id"]
        assert (await other.get("/api/invitations/", auth=bob)).json() == {"invitations": [game_id]}
        assert (await other.post(f"/api/invitations/{game_id}", auth=bob)).json() == {"game_id": game_id}
        for client, auth, color in ((one, ann, True), (other, bob, False)):
            assert (await client.get(f"/api/games/{game_id}/color", auth=auth)).json() == {"color": color}
            assert (await client.post(f"/api/games/{game_id}/ready", auth=auth)).status_code == 200
        assert (await one.post(f"/api/games/{game_id}/sense", json={"square": 12}, auth=ann)).status_code == 200


async def test_an_invitation_to_a_game_that_the_lobby_does_not_own_is_accepted_and_finished() -> None:
    async with http_cluster(3) as cluster, client_of(cluster[1]) as client:
        ann, bob = [await cluster[0].ask_as_operator("register", name=name) for name in ("ann", "bob")]
        seats = {"player_white": ann["player"], "player_black": bob["player"], "variant": "rbc"}
        game_id = (await cluster[0].ask_as_operator("new_game", player=ann["player"], **seats))["game_id"]
        await hand_over(cluster, game_id, cluster[2])
        for what in ("", "/finish"):
            answer = await client.post(f"/api/invitations/{game_id}{what}", auth=("bob", bob["key"]))
            assert answer.status_code == 200, answer.text


async def test_game_made_by_hand_is_taken_up_by_its_makers_program_after_it_has_moved() -> None:
    async with http_cluster(3, start_timeout=0.2) as cluster, client_of(cluster[1]) as client:
        ann, bob = [await cluster[0].ask_as_operator("register", name=name) for name in ("ann", "bob")]
        for name, account in (("ann", ann), ("bob", bob)):
            assert (await client.post("/api/users/me", auth=(name, account["key"]))).status_code == 200
        auth = ("ann", ann["key"])
        made = await client.post("/api/invitations/", json={"opponent": "bob", "color": True}, auth=auth)
        game_id = made.json()["game_id"]
        await hand_over(cluster, game_id, cluster[2])
        with trio.fail_after(PATIENCE_SECONDS):
            while (await client.get("/api/invitations/", auth=auth)).json() == {"invitations": []}:
                pass
        answer = await client.post(f"/api/invitations/{game_id}", auth=auth)
        assert answer.status_code == 200, answer.text
        async with client_of(cluster[0]) as other:  # another program of the player
            answer = await other.post(f"/api/invitations/{game_id}", auth=auth)
            assert answer.status_code == 401, answer.text
