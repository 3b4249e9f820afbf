"""The games of a PGN file, one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .notation import match_token

#: Longest text of one game, in characters: many times the longest with a comment at every move.
MAX_GAME_CHARS = 8 * 2**20


def split_pgn(lines: Iterable[str]) -> Iterator[str]:
    """Yield the text of each game, as :func:`~gmd.games.notation.read_pgn` takes one.

    A game ends where ``read_pgn`` would find the next one. An unclosed comment or variation ends with its game: before
    an Event tag at the start of a line that follows an empty line. A game above :data:`MAX_GAME_CHARS` is cut, but its
    text stays longer than that.

    :param lines: with their line ends.
    """
    splitter = _Splitter()
    for line in lines:
        yield from splitter.feed(line)
    yield from splitter.end()


class _Splitter:
    def __init__(self) -> None:
        self._after_empty_line = False
        self._begin()

    def _begin(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._depth = 0
        self._in_comment = False
        #: Whether the game has had a tag, a move, a result.
        self._tagged = self._moved = self._ended = False

    def feed(self, line: str) -> Iterator[str]:
        """Yield the games that end in this line."""
        if self._after_empty_line and line.startswith("[Event ") and self._is_past_tags():
            yield from self.end()
        self._after_empty_line = not line.strip()
        kept = at = 0
        while at < len(line):
            kind, end = self._next(line, at)
            if not self._depth and (
                (kind == "tag" and (self._moved or self._ended)) or (kind == "move" and self._ended)
            ):
                self._keep(line[kept:at])
                kept = at
                yield from self.end()
            self._note(kind)
            at = end
        self._keep(line[kept:])

    def end(self) -> Iterator[str]:
        """Yield the collected game, if there is one."""
        if self._tagged or self._moved or self._ended:
            yield "".join(self._parts)
        self._begin()

    def _is_past_tags(self) -> bool:
        return bool(self._moved or self._ended or self._depth or self._in_comment)

    def _next(self, line: str, at: int) -> tuple[str, int]:
        """Return the kind of the token at an offset in a line, and its end."""
        if self._in_comment:
            end = line.find("}", at)
            self._in_comment = end < 0
            return "comment", len(line) if end < 0 else end + 1
        found = match_token(line, at)
        if found is not None:
            return found
        self._in_comment = line[at] == "{"
        # read_pgn will refuse any other text, and say why.
        return "comment" if self._in_comment else "unreadable", len(line)

    def _note(self, kind: str) -> None:
        if kind == "open":
            self._depth += 1
        elif kind == "close":
            self._depth = max(0, self._depth - 1)
        elif not self._depth:
            self._tagged |= kind == "tag"
            self._moved |= kind in ("move", "unreadable")
            self._ended |= kind == "result"

    def _keep(self, text: str) -> None:
        if self._size <= MAX_GAME_CHARS:
            self._parts.append(text)
            self._size += len(text)
