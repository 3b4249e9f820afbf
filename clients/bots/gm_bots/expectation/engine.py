"""Stockfish in a process of its own, asked for the scores of all moves of a position.

It speaks UCI over blocking pipes. ``chess.engine`` would do the same through an event loop in a thread of its own: for
searches as short as these that takes four times as long.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import TypeVar

from gm_arena.bot import BotFailed
from gm_arena.uci import go, milliseconds, read_words, set_option

#: More moves than any position has: Stockfish then scores each.
EVERY_MOVE = 256
#: The size of its hash table: enough for the shallow searches of one turn.
HASH_MEBIBYTES = 16
#: The score of a mate in 0 moves, in hundredths of a pawn; each move that it takes longer is worth one less.
MATE = 100_000

T = TypeVar("T")
Item = TypeVar("Item")

#: Scores in hundredths of a pawn for the side to move, by moves in UCI.
Scores = dict[str, int]


class Stockfish:
    """The process. Its calls block, and belong to one thread at a time; :meth:`close` may come from any thread.

    A search to a depth, in one thread, repeats as long as the same searches came before since :meth:`new_game`. If the
    process has ended, a new one makes the search.
    """

    def __init__(self, path: str) -> None:
        """Start the program.

        :raises BotFailed: it cannot be started, or is not a UCI engine.
        """
        self._path, self._closed = path, False
        self._start()

    def _start(self) -> None:
        pipe = subprocess.PIPE
        try:
            # In a session of its own a terminal's Ctrl-C does not reach it.
            self._process = subprocess.Popen(
                [self._path], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True
            )
        except OSError as error:
            raise BotFailed(f"Stockfish at {self._path!r} cannot be started: {error.strerror}") from None
        self._lines = 1  # the value of MultiPV
        try:
            self._ask("uci", "uciok")
            self._send(set_option("Threads", "1"))
            self._send(set_option("Hash", str(HASH_MEBIBYTES)))
            self._forget()
        except BotFailed:
            self._end()
            raise

    def _restart(self) -> None:
        if self._closed:
            raise BotFailed("Stockfish has ended")
        self._end()
        self._start()

    def _forget(self) -> None:
        self._send("ucinewgame")
        self._ask("isready", "readyok")

    def new_game(self) -> None:
        """Forget all earlier searches."""
        try:
            self._forget()
        except BotFailed:
            self._restart()

    def scores(self, fen: str, depth: int, moves: Collection[str] = (), seconds: float | None = None) -> Scores:
        """Return the score of each legal move, or of some; none if there is no legal move.

        :param fen: a position in which the side that is not to move is not in check. Others crash Stockfish.
        :param moves: legal moves, in UCI, to search only these; empty for all.
        :param seconds: the most that the search takes; None for no limit.
        :raises BotFailed: the process has ended, and another one as well.
        """
        return {words[0]: score for score, words in self._search(fen, depth, EVERY_MOVE, moves, seconds)}

    def score(self, fen: str, depth: int) -> int:
        """Return the score of a position for its side to move, as :meth:`scores`."""
        return next(score for score, _ in self._search(fen, depth, 1))

    def close(self) -> None:
        """End the process, whatever it does."""
        self._closed = True
        self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError, ValueError):  # another thread may be using it
                pipe.close()

    def _search(
        self, fen: str, depth: int, lines: int, moves: Collection[str] = (), seconds: float | None = None
    ) -> list[tuple[int, list[str]]]:
        """Return the scores of the last iteration with their lines of moves, the worst first."""
        only = f" searchmoves {' '.join(moves)}" if moves else ""
        limits = go(depth=depth, movetime=None if seconds is None else milliseconds(seconds))
        question = f"position fen {fen}\n{limits}{only}"
        try:
            said = self._searched(question, lines)
        except BotFailed:
            self._restart()
            said = self._searched(question, lines)
        found: list[tuple[int, list[str]]] = []
        for line in reversed(said):
            words = line.split()
            if "score" not in words:
                continue
            if "pv" in words:
                found.append((_score(words), words[words.index("pv") + 1 :]))
            elif not found:
                return [(_score(words), [])] if lines == 1 else []  # the game is over in this position
            if "multipv" not in words or words[words.index("multipv") + 1] == "1":
                break
        return found

    def _searched(self, question: str, lines: int) -> list[str]:
        if lines != self._lines:
            self._send(set_option("MultiPV", str(lines)))
            self._lines = lines
        return self._ask(question, "bestmove")

    def _ask(self, question: str, answer: str) -> list[str]:
        """Return the lines up to one with an answer.

        :raises BotFailed: the process has ended.
        """
        self._send(question)
        said: list[str] = []
        assert self._process.stdout is not None
        try:
            for line in iter(self._process.stdout.readline, b""):
                said.append(line.decode("utf-8", "replace"))
                if read_words(said[-1])[:1] == [answer]:
                    return said
        except (OSError, ValueError):  # it was closed
            pass
        raise BotFailed("Stockfish has ended")

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise BotFailed("Stockfish has ended") from None


class Stockfishes:
    """Several processes, for as many searches at a time.

    :ivar size: their number.
    """

    def __init__(self, path: str, size: int) -> None:
        """Start the programs.

        :raises BotFailed: they cannot be started, or are no UCI engines.
        """
        self.size = size
        self._all: list[Stockfish] = []
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="stockfish")
        try:
            self._all += (Stockfish(path) for _ in range(size))
        except BotFailed:
            self.close()
            raise
        self._free: SimpleQueue[Stockfish] = SimpleQueue()
        for each in self._all:
            self._free.put(each)

    def new_game(self) -> None:
        """Forget all earlier searches."""
        for each in self._all:
            each.new_game()

    def scores(self, fen: str, depth: int, moves: Collection[str] = (), seconds: float | None = None) -> Scores:
        """Do :meth:`Stockfish.scores` in one of them."""
        return self._by_one(lambda one: one.scores(fen, depth, moves, seconds))

    def score(self, fen: str, depth: int) -> int:
        """Do :meth:`Stockfish.score` in one of them."""
        return self._by_one(lambda one: one.score(fen, depth))

    def map(self, function: Callable[[Item], T], items: Sequence[Item]) -> list[T]:
        """Return what a function, which asks them, returns for each of some items."""
        return [function(items[0])] if len(items) == 1 else list(self._threads.map(function, items))

    def close(self) -> None:
        """End the processes, whatever they do."""
        for each in self._all:
            each.close()
        self._threads.shutdown(wait=False)

    def _by_one(self, search: Callable[[Stockfish], T]) -> T:
        one = self._free.get()
        try:
            return search(one)
        finally:
            self._free.put(one)


def _score(words: list[str]) -> int:
    """Return the score in the words of an ``info`` line."""
    at = words.index("score")
    number = int(words[at + 2])
    if words[at + 1] == "cp":
        return number
    return MATE - number if number > 0 else -MATE - number
