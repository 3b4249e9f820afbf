"""Reading and writing of PGN: of one game, and of files with many.

Reading is a generator that yields now and then, so that its caller can do other work in between: a text of one
mebibyte may hold a quarter of a million plies.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar, get_args

from msgspec import UNSET

from gm_protocol.endings import Ending, Result
from gm_protocol.errors import BadPgn, quote
from gm_protocol.messages import ClockOption

_T = TypeVar("_T")

#: Characters read between two yields, some hundred microseconds of work; each token counts as so many more.
CHARS_A_STEP = 16_384
CHARS_A_TOKEN = 32

#: Longest word, number or sign, in characters. No game has a longer one, and the cost grows with the length.
MAX_WORD = 256
#: Longest tag pair, in characters. The escapes in a tag pair of one mebibyte blocked the event loop for 0.15 s.
MAX_TAG = 8_192

#: The tags that determine the game; only the form of the others is checked.
READ_TAGS = frozenset({"FEN", "Variant", "Result", "White", "Black", "GmdWhite", "GmdBlack"})
#: Characters read of a tag's value: a FEN has at most about a hundred.
MAX_TAG_VALUE = 200

#: Lines wrapped between two yields: some hundred microseconds. (textwrap would take ten times as long.)
LINES_A_STEP = 50

#: Width of PGN's export format.
PGN_COLUMNS = 80

_TAG = re.compile(r'\[\s*([A-Za-z0-9][\w+#=:-]*)\s+"([^"\\\r\n]*(?:\\.[^"\\\r\n]*)*)"\s*\]')
#: A tag with unescaped quotes, as some programs write it: the value ends with the line's last quote.
_LOOSE_TAG = re.compile(r'\[\s*([A-Za-z0-9][\w+#=:-]*)\s+"([^\r\n]*)"[ \t]*\][ \t]*$', re.MULTILINE)
#: The text that fits in one line. It never ends within a command such as [%sense e7], or some readers would miss that.
_LINE = re.compile(rf"\S.{{0,{PGN_COLUMNS - 2}}}(?=\s(?!\S*\])|$)")
_RESULTS: frozenset[Result] = frozenset(get_args(Result))
_TOKEN = re.compile(
    r"""
    (?P<space>  \s+ | e\.p\.[+\#]? )
  | (?P<tag>    \[ )
  | (?P<comment> \{[^}]*\} | ;[^\n]* | (?:(?<=\n)|\A)%[^\n]* )
  | (?P<open>   \( )
  | (?P<close>  \) )
  | (?P<nag>    \$\d+ | [!?]+ | \+/?[-=] | -/?\+ | =/?\+? | [±∓⩲⩱∞□] )
  | (?P<result> (?:1-0|0-1|1/2(?:-1/2)?|½(?:-½)?|\*)(?![\w/-]) )
  | (?P<number> \d+\.+ | (?!0000)\d+(?!\S) | \.+ )
  | (?P<move>   [A-Za-z0-9@-](?:(?!e\.p\.)[A-Za-z0-9@=+\#:-])* )
    """,
    re.VERBOSE,
)


class PgnText(NamedTuple):
    """One game as written in PGN; nothing is checked against the rules yet."""

    #: The tags that are in :data:`READ_TAGS`.
    headers: dict[str, str]
    #: The main line as written, up to the number of moves asked for.
    moves: list[str]
    #: The result: the Result tag's, or if that is missing or says nothing, the one after the moves.
    result: Result | None


def read_pgn(text: str, max_moves: int) -> Generator[None, None, PgnText]:
    """Read the only game of a PGN text, yielding now and then.

    :param max_moves: moves of the main line to keep; the rest is read for its form only.
    :raises BadPgn: the text is not PGN, holds an unclosed comment or variation, or more than one game.
    """
    games = 1
    depth = 0
    begun = ended = False  # moves, or a result, of the game being read
    headers: dict[str, str] = {}
    moves: list[str] = []
    behind_moves = ""
    for kind, value, tag in _tokens(_plain(text)):
        if kind == "pause":
            yield
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
            if depth < 0:
                raise BadPgn("pgn: a ')' closes no variation")
        elif depth:
            continue
        elif kind == "result":
            ended = True
            if games == 1:
                behind_moves = behind_moves or value
        elif (kind == "tag" and (begun or ended)) or (kind == "move" and ended):
            games += 1
            begun, ended = kind == "move", False
        elif kind == "tag" and games == 1:
            if value in READ_TAGS:
                headers[value] = _unescape(tag)
        elif kind == "move":
            begun = True
            if games == 1 and len(moves) < max_moves:
                moves.append(value)
    if depth:
        raise BadPgn(f"pgn: {depth} variation{'s are' if depth > 1 else ' is'} not closed: a ')' is missing")
    if games > 1:
        raise BadPgn(f"pgn: holds {games} games; send one game at a time")
    return PgnText(headers, moves, _result(headers.pop("Result", "*"), behind_moves))


def _result(tag: str, behind_moves: str) -> Result | None:
    """Return the result of a game by its Result tag, unless only the token after its moves (also "1/2") gives one.

    :param behind_moves: that token; empty if there is none.
    """
    if tag in _RESULTS and (tag != "*" or not behind_moves):
        return tag
    if behind_moves.startswith(("1/2", "½")):
        return "1/2-1/2"
    return behind_moves if behind_moves in _RESULTS else None


def _plain(text: str) -> str:
    """Return the text without a byte-order mark and with ``\\n`` as the only line end."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _tokens(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, value, tag's value with its escapes) of every token except spaces and comments.

    Tokens of the kind "pause" come in between at regular amounts of work, so that no text blocks the caller for long.
    """
    at = worked = 0
    while at < len(text):
        kind, match = _token_at(text, at)
        if match is None:
            raise _unreadable(text, at)
        if kind == "tag":
            yield kind, match[1], match[2]
        elif kind not in ("space", "comment"):
            yield kind, match[0], ""
        worked += match.end() - at + CHARS_A_TOKEN
        at = match.end()
        if worked >= CHARS_A_STEP:
            yield "pause", "", ""
            worked = 0


def _token_at(text: str, at: int) -> tuple[str, re.Match[str] | None]:
    """Return the kind of the token at an offset, and its match; None if there is no token, or it is too long.

    A comment may have any length, because finding its end is quick.
    """
    if text[at] in "{;%":
        match = _TOKEN.match(text, at)
        return str(match and match.lastgroup), match
    match = _TOKEN.match(text, at, at + MAX_WORD)
    kind = str(match and match.lastgroup)
    longest = at + MAX_WORD
    if kind == "tag":
        longest = at + MAX_TAG
        match = _TAG.match(text, at, longest) or _LOOSE_TAG.match(text, at, longest)
    endless = match is not None and match.end() == longest < len(text) and kind != "space"
    return kind, None if endless else match


def match_token(line: str, at: int) -> tuple[str, int] | None:
    """Return the kind of the token at an offset in a line, and its end; None if there is no token or only a part."""
    match = _TOKEN.match(line, at)
    if match is None:
        return None
    kind = str(match.lastgroup)
    if kind == "tag":
        match = _TAG.match(line, at) or _LOOSE_TAG.match(line, at)
    return None if match is None else (kind, match.end())


def _unescape(value: str) -> str:
    """Return a tag's value without escapes, cut to :data:`MAX_TAG_VALUE`, because escapes are slow to undo."""
    return re.sub(r"\\(.)", r"\1", value[:MAX_TAG_VALUE])


def _unreadable(text: str, at: int) -> BadPgn:
    line = text.count("\n", 0, at) + 1
    if text[at] == "{":
        return BadPgn(f"pgn: the comment that begins in line {line} is not closed: a '}}' is missing")
    what = 'no tag pair such as [White "name"]' if text[at] == "[" else "neither a move nor anything else of PGN"
    return BadPgn(f"pgn: line {line}: {quote(text[at : at + 40].splitlines()[0])} is {what}")


def write_pgn_steps(headers: Mapping[str, str], movetext: str, result: str) -> Generator[None, None, str]:
    """Write PGN in export format: one tag a line, an empty line, the moves and the result wrapped at 80 columns.

    It yields after every few lines.
    """
    tags = "".join(f'[{name} "{_escape(value)}"]\n' for name, value in headers.items())
    moves = movetext.replace(".", ". ").replace(". . . ", "... ")
    lines: list[str] = []
    for number, line in enumerate(_LINE.finditer(f"{moves} {result}".strip()), 1):
        lines.append(line[0].rstrip())
        if number % LINES_A_STEP == 0:
            yield
    wrapped = "\n".join(lines)
    return f"{tags}\n{wrapped}\n"


def run_through(steps: Generator[None, None, _T]) -> _T:
    """Run a generator to its end in one go, and return its value."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: _T = stop.value
            return result


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def pgn_termination(ending: Ending | None) -> str:
    """Return the value of PGN's Termination tag (9.8.1 of its standard); ``ending`` is None for a game in progress."""
    return "unterminated" if ending is None else ending.cause.value.pgn


def time_control(clock: ClockOption) -> str:
    """Return a time control as PGN writes it (9.6.1 of its standard), in seconds; decimals go beyond the standard."""
    if clock.initial is not UNSET:
        increment = clock.increment or 0
        return _decimal(clock.initial) + (f"+{_decimal(increment)}" if increment else "")
    assert clock.first_move is not UNSET
    assert clock.per_move is not UNSET
    return f"1/{_decimal(clock.first_move)}:1/{_decimal(clock.per_move)}"  # the first move, then each further move


def _decimal(seconds: float) -> str:
    return f"{seconds:.9f}".rstrip("0").rstrip(".")


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
