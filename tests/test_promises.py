"""The promises, tests of what somebody relies on, are there, and in the ordinary run, however long they take."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

#: The tests of each module that are promises.
PROMISES = {
    # The rules are the oracle's.
    "games/test_random_games.py": ["test_every_field_of_every_state_matches_the_oracle"],
    "games/test_positions.py": [
        "test_legal_moves_are_played_and_written_as_by_python_chess",
        "test_facts_equal_those_of_python_chess",
        "test_keys_are_equal_exactly_when_positions_repeat",
    ],
    "games/test_move_texts.py": ["test_any_text_is_read_as_by_python_chess"],
    "games/test_start_positions.py": ["test_any_text_as_fen_makes_a_game_or_is_a_bad_position"],
    "games/test_recon_side_by_side.py": ["test_games_from_every_start_position_equal_those_of_reconchess"],
    "games/test_recon_positions.py": ["test_every_move_action_has_the_result_of_reconchess"],
    "test_recon_over_a_socket.py": ["test_games_over_a_socket_match_reconchess"],
    "http/test_reconchess_client.py": ["test_remote_game_behaves_like_local_game"],
    # These, and that nothing hidden leaks.
    "env/test_promises.py": [
        "test_random_games_equal_those_of_reconchess",
        "test_games_that_a_player_cannot_tell_apart_look_the_same",
    ],
    # Nothing hidden leaks.
    "secrecy/test_noninterference.py": [
        "test_player_gets_same_bytes_in_games_that_look_the_same",
        "test_planted_leak_is_found",
    ],
    "secrecy/test_lines.py": ["test_server_runs_the_same_lines_in_games_that_look_the_same"],
    "secrecy/test_seats.py": ["test_no_reply_shows_more_than_the_requests_seat_may_see"],
    "http/test_rbc_noninterference.py": ["test_short_games_that_look_the_same_are_answered_the_same"],
    "http/test_event_noninterference.py": ["test_games_that_look_the_same_send_the_same_bytes_at_the_same_moments"],
    "games/test_blind_views.py": ["test_every_viewer_sees_exactly_its_own_view"],
    "http/pages/test_replay_views.py": ["test_views_of_a_finished_dark_game_are_those_that_its_players_had"],
    "clients/test_tracker.py": ["test_tracker_contains_the_true_position_in_a_live_game"],
    "test_authentication.py": ["test_every_impostor_gets_the_same_refusal_at_the_same_cost"],
    # Nothing acknowledged is lost.
    "test_crash.py": ["test_every_acknowledged_move_survives_every_kill"],
    "event_log/test_sync.py": ["test_log_is_synced_between_any_two_acknowledgements"],
    "event_log/test_group_commit.py": ["test_no_reply_shows_what_is_not_durable"],
    "event_log/test_faults.py": ["test_full_database_refuses_moves_and_keeps_acknowledged_ones"],
    "event_log/test_lost_connections.py": ["test_commit_whose_answer_is_lost_is_found_and_not_repeated"],
    "standby/test_lease.py": ["test_nothing_is_written_under_an_older_term"],
    "archive/test_whole_log.py": ["test_log_is_the_same_row_by_row_there_and_back"],
    "archive/test_damaged_logs.py": ["test_undamaged_log_is_carried_over_row_by_row"],
    "players/test_interleavings.py": ["test_many_concurrent_operations_leave_the_account_as_sequential_ones_would"],
    "http/pages/test_visitors.py": ["test_restart_ends_no_session"],
    # Old clients go on, and one client costs the others nothing.
    "tcp/test_pipelining.py": ["test_every_message_gets_exactly_one_reply_in_order_however_the_session_is_split"],
    "tcp/test_unacknowledged_results.py": ["test_version_1_session_acknowledges_the_end_by_closing_its_connection"],
    "http/test_plain_routes.py": ["test_both_ways_answer_the_same_in_every_state_of_a_game"],
    "clients/test_reconnecting.py": ["test_repeatable_request_is_sent_again_after_a_break_before_or_inside_its_reply"],
    "clients/test_lost_replies.py": ["test_player_registers_rekeys_joins_and_plays_once"],
    "daemon_bots/test_daemon_bots.py": ["test_killed_process_loses_its_game_and_the_next_game_has_another"],
    "players/test_password_queue.py": [
        "test_right_password_is_accepted_despite_a_hundred_addresses_with_wrong_ones_over_tcp"
    ],
    "tcp/test_memory.py": ["test_unread_replies_of_one_client_are_bounded_however_much_it_asks"],
    "handlers/test_expensive.py": ["test_address_without_budget_gets_no_history_and_no_pgn_but_plays_on"],
    "docs/test_manual.py": ["test_front_page_s_bots_play_to_the_end"],
}


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in PROMISES.items() for name in names])
def test_promise_is_an_ordinary_test(module: str, name: str) -> None:
    tree = ast.parse((TESTS / module).read_text())
    tests = [node for node in tree.body if getattr(node, "name", None) == name]
    marks = [ast.unparse(mark) for test in tests for mark in test.decorator_list]  # type: ignore[attr-defined]
    marks += [ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign)]
    assert len(tests) == 1
    assert [mark for mark in marks if re.match(r"(pytestmark = .*)?pytest\.mark\.(slow|nightly)", mark)] == []
