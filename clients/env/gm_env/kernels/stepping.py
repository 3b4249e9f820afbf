"""Kernels that step a batch: each checks all actions first, so that a refused call has changed nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import kernel
from .layout import (
    CAPTURE_BIT,
    COLOR,
    DRAWS,
    EN_PASSANT,
    EPISODE,
    FULLMOVES,
    HALFMOVES,
    MOVES,
    NONE,
    NUMBERS,
    OFF_BOARD,
    OVER,
    PASS,
    PHASE,
    PLY,
    REASON,
    REQUESTED_BIT,
    RESTING,
    SEED,
    SENSE_PASS,
    SENSED,
    SKIP,
    STATE,
    TAKEN_BIT,
    TO_MOVE,
    TO_SENSE,
    UNSEEN,
    WINNER,
)
from .rules import ONE, Numbers, U, Words, clear_moves, list_moves, push, resolve, see

#: Values of ``gm_recon.WinReason``.
KING_CAPTURE, TURN_LIMIT, MOVE_LIMIT = 1, 4, 5

Actions = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel("void(uint64[:, ::1], int32[:, ::1], uint64[:, ::1])")
def list_all(state: Words, numbers: Numbers, planes: Words) -> None:
    """Write the legal moves of every game; a finished game has none."""
    for game in range(state.shape[0]):
        if numbers[game, PHASE] == OVER:
            clear_moves(game, planes)
        else:
            list_moves(state, game, planes)


@kernel()
def _is_sense(action: int) -> bool:
    return 0 <= action <= SENSE_PASS


@kernel()
def _is_listed(game: int, action: int, planes: Words) -> bool:
    """Return whether an action is a game's legal move or a pass."""
    if action < 0 or action > PASS:
        return False
    return action == PASS or (planes[game, action >> 6] >> U(action & 63) & ONE) != U(0)


@kernel("boolean(int64[::1], boolean[::1], int32[:, ::1], uint64[:, ::1], boolean[::1])")
def mark_illegal(actions: Actions, games: Flags, numbers: Numbers, planes: Words, illegal: Flags) -> bool:
    """Write which of these games are in progress and do not allow their action (:mod:`gm_env.turns`); say if any."""
    found = False
    for game in range(actions.size):
        action, phase = actions[game], numbers[game, PHASE]
        illegal[game] = games[game] and (
            (phase == TO_SENSE and not _is_sense(action - MOVES))
            or (phase == TO_MOVE and not _is_listed(game, action, planes))
        )
        found |= illegal[game]
    return found


@kernel()
def _check_senses(actions: Actions, numbers: Numbers) -> int:
    """Return the first game whose action is not a sense that it may make now; -1 if there is none."""
    for game in range(actions.size):
        action, phase = actions[game], numbers[game, PHASE]
        if action != SKIP and phase != OVER and (phase != TO_SENSE or not _is_sense(action)):
            return game
    return -1


@kernel()
def _check_moves(actions: Actions, numbers: Numbers, planes: Words) -> int:
    """Return the first game whose action is not a move that it may request now; -1 if there is none."""
    for game in range(actions.size):
        action, phase = actions[game], numbers[game, PHASE]
        if action == SKIP or phase in (OVER, RESTING):
            continue
        if phase != TO_MOVE or not _is_listed(game, action, planes):
            return game
    return -1


@kernel()
def _begin_anew(
    game: int,
    state: Words,
    numbers: Numbers,
    planes: Words,
    first_state: Words,
    first_numbers: Numbers,
    results: NDArray[np.int32],
) -> None:
    draws, seed, episode = state[game, DRAWS], state[game, SEED], numbers[game, EPISODE]
    for column in range(STATE):  # numba compiles assignments of slices for seconds
        state[game, column] = first_state[game, column]
    for column in range(NUMBERS):
        numbers[game, column] = first_numbers[game, column]
    results[game, 0], results[game, 1], results[game, 2] = PASS, PASS, NONE
    state[game, DRAWS], state[game, SEED], numbers[game, EPISODE] = draws, seed, episode + 1
    list_moves(state, game, planes)


@kernel()
def _clear_window(game: int, windows: NDArray[np.uint8]) -> None:
    for cell in range(9):
        windows[game, cell] = OFF_BOARD


@kernel()
def _sense(
    game: int,
    action: int,
    state: Words,
    numbers: Numbers,
    records: NDArray[np.uint64],
    windows: NDArray[np.uint8],
) -> None:
    seen = UNSEEN if action == SENSE_PASS else see(state, game, action)
    numbers[game, SENSED] = action
    numbers[game, PHASE] = TO_MOVE
    records[game, numbers[game, PLY], 1] = seen
    for cell in range(9):
        windows[game, cell] = seen >> U(4 * cell) & U(15)


@kernel(
    "int64(int64[::1], uint64[:, ::1], int32[:, ::1], uint64[:, :, ::1], uint64[:, ::1], uint64[:, ::1], int32[:, ::1],"
    " uint8[:, ::1], int32[:, ::1], float32[:, ::1], boolean[::1], boolean)"
)
def sense_all(
    actions: Actions,
    state: Words,
    numbers: Numbers,
    records: NDArray[np.uint64],
    planes: Words,
    first_state: Words,
    first_numbers: Numbers,
    windows: NDArray[np.uint8],
    results: NDArray[np.int32],
    rewards: NDArray[np.float32],
    ended: Flags,
    may_reset: bool,
) -> int:
    """Sense in every game; begin those anew that are over, if they may be.

    :returns: the first game whose action is not allowed, for which nothing has changed; -1 if there is none.
    """
    bad = _check_senses(actions, numbers)
    if bad >= 0:
        return bad
    for game in range(actions.size):
        action = actions[game]
        rewards[game, 0] = rewards[game, 1] = 0
        ended[game] = False
        if action == SKIP:
            continue
        if numbers[game, PHASE] != OVER:
            _sense(game, action, state, numbers, records, windows)
            continue
        if may_reset:
            _begin_anew(game, state, numbers, planes, first_state, first_numbers, results)
            numbers[game, PHASE] = RESTING
        _clear_window(game, windows)
    return -1


@kernel(
    "void(boolean[::1], uint64[:, ::1], int32[:, ::1], uint64[:, ::1], uint64[:, ::1], int32[:, ::1], uint8[:, ::1],"
    " int32[:, ::1], float32[:, ::1], boolean[::1])"
)
def begin_all(
    games: Flags,
    state: Words,
    numbers: Numbers,
    planes: Words,
    first_state: Words,
    first_numbers: Numbers,
    windows: NDArray[np.uint8],
    results: NDArray[np.int32],
    rewards: NDArray[np.float32],
    ended: Flags,
) -> None:
    """Begin these games anew."""
    for game in range(games.size):
        if games[game]:
            _begin_anew(game, state, numbers, planes, first_state, first_numbers, results)
            _clear_window(game, windows)
            rewards[game, 0] = rewards[game, 1] = 0
            ended[game] = False


@kernel()
def _move(
    game: int,
    action: int,
    state: Words,
    numbers: Numbers,
    records: NDArray[np.uint64],
    planes: Words,
    results: NDArray[np.int32],
    rewards: NDArray[np.float32],
    ended: Flags,
    reversible_moves: int,
    max_turns: int,
) -> None:
    taken, target, capture = PASS, 0, NONE
    if action != PASS:
        taken, target, capture = resolve(state, game, numbers[game, EN_PASSANT], action)
    shown = 64 if capture == NONE else capture
    records[game, numbers[game, PLY], 0] = (
        U(numbers[game, SENSED]) | U(shown) << U(CAPTURE_BIT) | U(action) << U(REQUESTED_BIT) | U(taken) << U(TAKEN_BIT)
    )
    results[game, 0], results[game, 1], results[game, 2] = action, taken, capture
    mover = numbers[game, COLOR]
    if push(state, numbers, game, taken, target, capture):
        numbers[game, REASON], numbers[game, WINNER] = KING_CAPTURE, mover
        rewards[game, mover], rewards[game, 1 - mover] = 1, -1
    elif numbers[game, FULLMOVES] > max_turns:
        numbers[game, REASON] = TURN_LIMIT
    elif numbers[game, HALFMOVES] >= reversible_moves:
        numbers[game, REASON] = MOVE_LIMIT
    numbers[game, SENSED] = NONE
    if numbers[game, REASON]:
        numbers[game, PHASE] = OVER
        ended[game] = True
        clear_moves(game, planes)
    else:
        numbers[game, PHASE] = TO_SENSE
        list_moves(state, game, planes)


@kernel(
    "int64(int64[::1], uint64[:, ::1], int32[:, ::1], uint64[:, :, ::1], uint64[:, ::1], uint8[:, ::1], int32[:, ::1],"
    " float32[:, ::1], boolean[::1], int64, int64)"
)
def move_all(
    actions: Actions,
    state: Words,
    numbers: Numbers,
    records: NDArray[np.uint64],
    planes: Words,
    windows: NDArray[np.uint8],
    results: NDArray[np.int32],
    rewards: NDArray[np.float32],
    ended: Flags,
    reversible_moves: int,
    max_turns: int,
) -> int:
    """Move in every game.

    :returns: the most turns that a game has had; or -1 - the first game whose action is not allowed, for which nothing
        has changed.
    """
    bad = _check_moves(actions, numbers, planes)
    if bad >= 0:
        return -1 - bad
    longest = 0
    for game in range(actions.size):
        action, phase = actions[game], numbers[game, PHASE]
        rewards[game, 0] = rewards[game, 1] = 0
        ended[game] = False
        if phase == TO_MOVE and action != SKIP:
            _clear_window(game, windows)  # the opponent, whose turn comes, does not observe it
            _move(game, action, state, numbers, records, planes, results, rewards, ended, reversible_moves, max_turns)
        elif phase == RESTING and action != SKIP:
            numbers[game, PHASE] = TO_SENSE
        longest = max(longest, numbers[game, PLY])
    return longest


@kernel(
    "int64(int64[::1], boolean[::1], uint64[:, ::1], int32[:, ::1], uint64[:, :, ::1], uint64[:, ::1], uint8[:, ::1],"
    " int32[:, ::1], float32[:, ::1], boolean[::1], int64, int64)"
)
def act_all(
    actions: Actions,
    games: Flags,
    state: Words,
    numbers: Numbers,
    records: NDArray[np.uint64],
    planes: Words,
    windows: NDArray[np.uint8],
    results: NDArray[np.int32],
    rewards: NDArray[np.float32],
    ended: Flags,
    reversible_moves: int,
    max_turns: int,
) -> int:
    """Take an action in each of these games, a sense or a move as its phase is; none where it is over.

    :param actions: numbered by :mod:`gm_env.turns`; :func:`mark_illegal` has found them legal.
    :returns: the most turns that a game has had.
    """
    longest = 0
    for game in range(actions.size):
        rewards[game, 0] = rewards[game, 1] = 0
        ended[game] = False
        action, phase = actions[game], numbers[game, PHASE] if games[game] else OVER
        if phase == TO_SENSE:
            _sense(game, action - MOVES, state, numbers, records, windows)
        elif phase == TO_MOVE:
            _clear_window(game, windows)
            _move(game, action, state, numbers, records, planes, results, rewards, ended, reversible_moves, max_turns)
        longest = max(longest, numbers[game, PLY])
    return longest


@kernel("int64(int32[:, ::1], boolean[::1], int64[::1], int64, boolean[::1])")
def mark_waiting(numbers: Numbers, seats: Flags, given: NDArray[np.int64], phase: int, waiting: Flags) -> int:
    """Write which games are in a phase, wait for the opponent, and are not lost by it; return how many."""
    count = 0
    for game in range(seats.size):
        is_waiting = numbers[game, PHASE] == phase and numbers[game, COLOR] != seats[game] and given[game] == 0
        waiting[game] = is_waiting
        count += is_waiting
    return count


@kernel(
    "void(int32[:, ::1], boolean[::1], int64[::1], boolean[::1], boolean[::1], boolean[::1], int64[::1], int32[::1],"
    " float64[::1])"
)
def settle_all(
    numbers: Numbers,
    seats: Flags,
    given: NDArray[np.int64],
    forfeited: Flags,
    closed: Flags,
    over: Flags,
    winners: NDArray[np.int64],
    reasons: NDArray[np.int32],
    rewards: NDArray[np.float64],
) -> None:
    """Write how games stand for their learners.

    :param over: which were over before; which are over now. One that was has begun anew.
    :param closed: which are over, and not in the batch: forfeited, or given up by the opponent.
    """
    for game in range(seats.size):
        is_given = given[game] != 0
        closed[game] = forfeited[game] or is_given
        # An opponent may give a game up before the learner's first action, with which it ends then.
        over[game] = forfeited[game] or numbers[game, PHASE] == OVER or (is_given and not over[game])
        winners[game], reasons[game] = numbers[game, WINNER], numbers[game, REASON]
        if forfeited[game]:
            winners[game] = 1 - seats[game]
        if is_given and over[game]:
            winners[game], reasons[game] = seats[game], given[game]
        rewards[game] = 0
        if over[game] and winners[game] != NONE:
            rewards[game] = 1 if winners[game] == seats[game] else -1
