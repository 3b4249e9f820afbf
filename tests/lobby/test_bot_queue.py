"""The order in which waiting games get a place with the daemon's bots: addresses take turns, and their players do."""

from __future__ import annotations

from gmd.lobby.bot_queue import BotGame, BotQueue

BOT = 1


def waiting(*games: tuple[str, int, int]) -> BotQueue:
    """Return a queue of games, each given by its address, its player and its id, in the order of their arrival."""
    queue = BotQueue()
    for source, opponent, game_id in games:
        queue.add(BotGame(BOT, game_id, opponent, source))
    return queue


def order(queue: BotQueue) -> list[int]:
    return [game.game_id for game in queue.order()]


def start(queue: BotQueue, game_id: int) -> BotGame:
    """Give a waiting game a place."""
    game = next(game for game in queue.order() if game.game_id == game_id)
    queue.start(game)
    return game


def test_addresses_take_turns_however_many_games_and_players_one_has() -> None:
    many = [("a", 100 + number, number) for number in range(50)]
    queue = waiting(*many, ("b", 7, 50), ("c", 8, 51))
    assert order(queue)[:4] == [0, 50, 51, 1]
    assert [queue.ahead(BOT, game_id) for game_id in (0, 50, 51, 1, 99)] == [0, 1, 2, 3, 52]


def test_players_of_an_address_take_turns() -> None:
    queue = waiting(("a", 1, 10), ("a", 1, 11), ("a", 1, 12), ("a", 2, 13), ("a", 3, 14))
    assert order(queue) == [10, 13, 14, 11, 12]


def test_address_with_a_place_comes_after_one_without() -> None:
    queue = waiting(("a", 1, 10), ("a", 1, 11), ("b", 2, 12))
    start(queue, 10)
    assert order(queue) == [12, 11]


def test_address_whose_game_has_ended_comes_after_one_that_has_waited_since() -> None:
    queue = waiting(("a", 1, 10), ("a", 1, 11), ("b", 2, 12))
    queue.end(start(queue, 10))
    assert order(queue) == [12, 11]


def test_games_of_unknown_addresses_count_for_their_players() -> None:
    queue = waiting(("", 1, 10), ("", 1, 11), ("", 2, 12))
    assert order(queue) == [10, 12, 11]


def test_only_an_address_or_player_with_more_than_its_share_is_to_yield() -> None:
    queue = waiting(("a", 1, 10), ("a", 1, 11), ("b", 2, 12), ("b", 3, 13), ("a", 4, 14), ("a", 1, 15))
    first, second = start(queue, 10), start(queue, 11)
    by_id = {game.game_id: game for game in queue.order()}
    assert [queue.should_yield(second, by_id[game_id]) for game_id in (12, 14, 15)] == [True, True, False]
    queue.end(first)
    start(queue, 12)
    assert not queue.should_yield(second, by_id[13])


def test_games_that_wait_no_longer_are_left_out() -> None:
    queue = waiting(("a", 1, 10), ("a", 1, 11), ("b", 2, 12))
    queue.keep(BOT, {10, 11})
    queue.keep(BOT + 1, ())
    assert order(queue) == [10, 11]
    assert ((BOT, 10) in queue, (BOT, 12) in queue, len(queue)) == (True, False, 2)
