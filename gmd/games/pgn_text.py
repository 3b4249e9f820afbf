"""The one reader of PGN: of a text with one game, and of files with many.

It lies with the rules because all that take a PGN may import them: the wire, ``gmd import``, the openings of matches
and ``gmd replay``. It is strict: a word that is no move is a move that no game accepts, and what is no PGN is refused
with its line; nothing of the main line is passed over.

Reading is a generator that yields now and then, so that its caller can do other work in between: a text of one
mebibyte may hold a quarter of a million plies.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, get_args

from gm_protocol.endings import Result
from gm_protocol.errors import BadPgn, quote
from gmd.games.events import MAX_KEPT_TAG

#: Characters read between two yields, some hundred microseconds of work; each token counts as so many more.
CHARS_A_STEP = 16_384
CHARS_A_TOKEN = 64

#: Longest word, number or sign, in characters. No game has a longer one, and the cost grows with the length.
MAX_WORD = 255
#: Longest tag pair, in characters. The escapes in a tag pair of one mebibyte blocked the event loop for 0.15 s.
MAX_TAG = 8_192
#: Longest text of one game in a file, in characters: many times the longest with a comment at every move.
MAX_GAME_CHARS = 8 * 2**20
#: Characters of a file that are read at once.
BLOCK_CHARS = 2**16

#: The tags without which a game may be another one: where one cannot be read, neither can its game.
NEEDED_TAGS = ("FEN", "Variant")

#: Signs that nobody sees, and what they are read as: byte-order marks (of files that were joined) and other signs
#: without a width, NUL, and the end-of-file sign of DOS.
_INVISIBLE = {
    **dict.fromkeys("\ufeff\u200b\u200c\u200d\u200e\u200f\u2060\xad", ""),
    **dict.fromkeys("\0\x1a", " "),
}

#: Signs for assessments, arrows and the like: mathematical and technical ones, and geometric shapes.
_GLYPHS = r"±Δ‼⁇⁈⁉`\u2190-\u23ff\u25a0-\u25ff\u2660-\u2667\u27c0-\u2bff"
_DASH = r"[-\u2010-\u2015\u2212]"
_TOKEN = re.compile(
    rf"""\s{{0,2048}}(?:
    (?P<san>     (?: [NBRQK][a-h]?[1-8]?x?[a-h][1-8] | [a-h](?:x[a-h])?[1-8](?:=[NBRQ])? | O-O(?:-O)? ) [+\#]?
                 (?= [\s{{}}()\[;$!?] | \Z ) )
  | (?P<first>   1\. (?!\s{{0,16}}[.…]) )
  | (?P<number>  \d{{1,{MAX_WORD}}}[.…]{{1,{MAX_WORD}}} | (?!0000)\d{{1,{MAX_WORD}}}(?!\S) | [.…]{{1,{MAX_WORD + 1}}} )
  | (?P<comment> [{{;] | (?:(?<=\n)|\A)% )
  | (?P<open>    \( )
  | (?P<close>   \) )
  | (?P<tag>     \[ )
  | (?P<result>  (?: 1{_DASH}0 | 0{_DASH}1 | 1/2(?:{_DASH}1/2)? | ½(?:{_DASH}½)? | \* )(?![\w/-]) )
  | (?P<sign>    \$\d{{1,{MAX_WORD}}} | [ND](?=[\s{{}}()\[;$!?]|\Z)
                 | (?: \+/?(?:{_DASH}|=) | {_DASH}/?\+ | =/?\+? | [+\#!?{_GLYPHS}] ){{1,{MAX_WORD + 1}}} )
  | (?P<blank>   e\.p\.[+\#]? | \s | \Z )
  | (?P<word>    [A-Za-z0-9@-](?:(?!e\.p\.)[A-Za-z0-9@=+\#:-]){{0,{MAX_WORD}}} )
    )""",
    re.VERBOSE,
)
_TAG = re.compile(r'\[\s*([A-Za-z0-9][\w+#=:-]*)\s+"([^"\\\r\n]*(?:\\.[^"\\\r\n]*)*)"\s*\]')
#: A tag with unescaped quotes, as some programs write it: the value ends with the line's last quote.
_LOOSE_TAG = re.compile(r'\[\s*([A-Za-z0-9][\w+#=:-]*)\s+"([^\r\n]*)"[ \t]*\][ \t]*$', re.MULTILINE)
#: A tag that cannot be read: to a bracket behind which comes another tag or the line's end; to the line's last bracket;
#: to its first one; to the end of a value that takes several lines; or else to the line's end.
_UNREAD_TAG = re.compile(
    r"""\[[^\]\n]*\](?=\s*\[|[ \t]*(?:\n|\Z)) | \[[^\n]*\](?=[ \t]*(?:\n|\Z)) | \[[^\]\n]*\]
      | \[[^\[\]"]*"[^\[\]"]*"\s*\](?=[ \t]*(?:\n|\Z)) | \[[^\]\n]*(?=\n|\Z)""",
    re.VERBOSE,
)
#: What moves begin with.
_MOVES = re.compile(r"\s*(?:[^\w\s]|\d|[NBRQK]?[a-h]?[1-8]?x?[a-h][1-8]|O-O)")
_EMPTY_LINE = re.compile(r"\n[^\S\n]*\n")
_SPACE = re.compile(r"\s*")
_TAG_NAME = re.compile(r"\W*(\w*)")
_NEEDED_TAG = re.compile(rf"\b(?:{'|'.join(NEEDED_TAGS)})\b")
_BRACE = re.compile(r"[{}]")
#: The most braces in a comment that holds some in pairs, so that a comment's cost does not grow with the text.
MAX_BRACES = 16
#: The place where a game ends at the latest, even in a comment or a variation that is not closed.
_BOUNDARY = re.compile(r"\n[^\S\n]*\n(?=\[Event )")
#: A move with signs behind it that decide nothing.
_SIGNED_MOVE = re.compile(
    r"""P?( [NBRQK][a-h]?[1-8]?[-x]?[a-h][1-8]
          | (?:[a-h][1-8]?[-x]?)?[a-h](?:[2-7]|[18](?:=?[NBRQKnbrqk])?)
          | [PNBRQK]?@[a-h][1-8] | O-O(?:-O)? | 0-0(?:-0)? | -- | Z0 | 0000 | @@@@ )
        ([+\#]?)[+\#]*(?: \+/?[-=] | -/?\+ | =/?\+? | [ND] )*""",
    re.VERBOSE,
)
_RESULTS: frozenset[Result] = frozenset(get_args(Result))


class PgnText(NamedTuple):
    """One game as written in PGN; nothing is checked against the rules yet."""

    #: The tags except Result, each value cut to :data:`MAX_KEPT_TAG`.
    headers: dict[str, str]
    #: The main line as written, up to the number of moves asked for, without assessments.
    moves: list[str]
    #: The result: the Result tag's, or if that is missing or says nothing, the one after the moves.
    result: Result | None
    #: The comments in braces of the main line, by the number of moves before them.
    comments: dict[int, str]


class PgnGame(NamedTuple):
    """A game of a file: its text, and the reading of it or the reason why there is none."""

    text: str
    reading: PgnText | BadPgn

    def read(self) -> PgnText:
        """Return the reading.

        :raises BadPgn: there is none.
        """
        if isinstance(self.reading, BadPgn):
            raise self.reading
        return self.reading


def read_pgn(text: str, max_moves: int) -> Generator[None, None, PgnText]:
    """Read the only game of a PGN text, yielding now and then. An empty text is a game without moves.

    :param max_moves: moves of the main line to keep; the rest is read for its form only.
    :raises BadPgn: the text is not PGN, holds an unclosed comment or variation, or more than one game.
    """
    first, games = PgnText({}, [], None, {}), 0
    for found in _Reader(_plain(text), max_moves, stops=True).games():
        if found is None:
            yield
            continue
        games += 1
        if games == 1:
            first = found.read()
    if games > 1:
        raise BadPgn(f"pgn: holds {games} games; send one game at a time")
    return first


def pgn_games(lines: Iterable[str], max_moves: int) -> Iterator[PgnGame]:
    """Yield each game of a file, as :func:`read_pgn` would read its text; in little memory, however long the file is.

    An unclosed comment or variation ends with its game: before an Event tag at the start of a line that follows an
    empty line. A game above :data:`MAX_GAME_CHARS` cannot be read, and ends before the next such line with any tag.

    :param lines: with their line ends; the reader counts them from 1 in what it says.
    """
    file = _File(max_moves)
    for line in lines:
        yield from file.feed(line)
    yield from file.end()


#: The first bytes of files that are no text, and what to do about them.
_OTHER_FILES = {
    rb"\xff\xfe|\xfe\xff|[^\0]\0[^\0]\0|\0[^\0]\0[^\0]": "is UTF-16: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
    rb"\x1f\x8b": "is compressed: unpack it with gunzip",
    rb"\x28\xb5\x2f\xfd": "is compressed: unpack it with unzstd",
    rb"PK\x03\x04": "is a ZIP archive: unpack it",
}


def check_is_text(start: bytes) -> None:
    """Check by the first bytes of a file that it may be text in UTF-8.

    :raises BadPgn: it is something else.
    """
    for sign, advice in _OTHER_FILES.items():
        if re.match(sign, start):
            raise BadPgn(f"pgn: the file {advice}")


class _File:
    """The lines of a file that were not read yet; those of its last game are read again with the next ones."""

    def __init__(self, max_moves: int) -> None:
        self._max_moves = max_moves
        self._waiting: list[str] = []
        self._size = 0
        self._enough = BLOCK_CHARS
        self._first_line = 1
        #: Whether the rest of a game that is too long is passed over, and whether the last line of it was empty.
        self._skips = self._after_empty_line = False

    def feed(self, line: str) -> Iterator[PgnGame]:
        """Yield the games that are complete."""
        if self._skips and not (self._after_empty_line and line.startswith("[")):
            self._after_empty_line = not line.strip()
            self._first_line += 1
            return
        self._skips = False
        self._waiting.append(line)
        self._size += len(line)
        if self._size >= self._enough:
            yield from self._read()

    def end(self) -> Iterator[PgnGame]:
        """Yield the last games."""
        yield from self._games(self._text())

    def _read(self) -> Iterator[PgnGame]:
        text = self._text()
        complete = list(self._games(text))[:-1]
        yield from complete
        done = sum(len(game.text) for game in complete)
        self._first_line += text.count("\n", 0, done)
        self._waiting = [text[done:]]
        self._size = len(text) - done
        self._enough = max(BLOCK_CHARS, 2 * self._size)
        if self._size > MAX_GAME_CHARS:
            yield PgnGame(text[done:], BadPgn(f"pgn: the game has more than {MAX_GAME_CHARS} characters"))
            self._first_line += text.count("\n", done)
            self._waiting, self._size, self._enough = [], 0, BLOCK_CHARS
            self._skips, self._after_empty_line = True, not text.rpartition("\n")[0].rpartition("\n")[2].strip()

    def _text(self) -> str:
        return _plain("".join(self._waiting))

    def _games(self, text: str) -> Iterator[PgnGame]:
        return filter(None, _Reader(text, self._max_moves, first_line=self._first_line).games())


def _plain(text: str) -> str:
    """Return the text with ``\\n`` as the only line end and without signs that nobody sees."""
    for sign, read_as in _INVISIBLE.items():
        if sign in text:
            text = text.replace(sign, read_as)
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _Reader:
    """A reader of a text with any number of games.

    :ivar at: the place of the next token.
    """

    def __init__(self, text: str, max_moves: int, *, first_line: int = 1, stops: bool = False) -> None:
        """:param first_line: the number of the text's first line.
        :param stops: whether the error of a game is raised at its end, rather than kept as its reading.
        """
        self._text = text
        self._max_moves = max_moves
        self._first_line = first_line
        self._stops = stops
        self._finished: list[PgnGame] = []
        self.at = 0
        self._begin(0)

    def _begin(self, start: int) -> None:
        """Begin a game."""
        self._start = self._section_start = start
        #: The tags, those before the last empty line apart; None for one that cannot be read.
        self._earlier_tags: dict[str, str | None] = {}
        self._tags: dict[str, str | None] = {}
        #: The places of the tags that cannot be read.
        self._unread: dict[str, int] = {}
        self._moves: list[str] = []
        #: The comments of the main line, by the number of moves before them.
        self._comments: dict[int, list[str]] = {}
        self._depth = 0
        self._tags_end = start
        #: Whether the game has had a move, or anything else that is not a tag, and a result.
        self._begun = self._ended = False
        #: Whether it has had a word that may be a move, in the main line.
        self._moved = False
        self._behind_moves = ""
        self._error: BadPgn | None = None

    def games(self) -> Iterator[PgnGame | None]:
        """Yield the games, and None at regular amounts of work, so that no text blocks the caller for long."""
        worked = 0
        size = len(self._text)
        while self.at < size:
            begun_at = self.at
            self._read_token()
            if self._finished:
                yield from self._finished
                self._finished.clear()
            worked += self.at - begun_at + CHARS_A_TOKEN
            if worked >= CHARS_A_STEP:
                yield None
                worked = 0
        self._finish(size)
        yield from self._finished

    def _read_token(self) -> None:
        before = self.at
        match = _TOKEN.match(self._text, before)
        if match is None:
            self._fail_at(_SPACE.match(self._text, before).end())  # type: ignore[union-attr]  # it always matches
            return
        kind = str(match.lastgroup)
        start, self.at = match.span(kind)
        if self.at - start > MAX_WORD and kind != "blank":
            self._fail_at(start)
        elif kind == "san":
            self._add_move(_shared(match[kind]), start, is_move=True)
        elif kind not in ("blank", "sign"):  # a method for each: a table of methods would be a cycle, and keep the text
            getattr(self, f"_read_{kind}")(match[kind], start, before)

    def _add_move(self, text: str, start: int, *, is_move: bool) -> None:
        if self._depth:
            return
        if self._ended:
            self._finish(start)
        self._begun = True
        self._moved = self._moved or is_move
        if len(self._moves) < self._max_moves:
            self._moves.append(text)

    def _read_word(self, text: str, start: int, _before: int) -> None:
        move = None if self._depth else _without_signs(text)
        self._add_move(move or text, start, is_move=move is not None)

    def _read_number(self, _text: str, start: int, _before: int) -> None:
        if self._ended and not self._depth:
            self._finish(start)

    def _read_first(self, _text: str, start: int, before: int) -> None:
        """Read the number of White's first move: at the start of a line, behind moves, it begins another game."""
        if not self._depth and (self._ended or (self._moved and "\n" in self._text[before:start])):
            self._finish(start)

    def _read_result(self, text: str, _start: int, _before: int) -> None:
        if not self._depth:
            self._behind_moves = self._behind_moves or text
            self._ended = True

    def _read_open(self, _text: str, _start: int, _before: int) -> None:
        self._depth += 1

    def _read_close(self, _text: str, _start: int, _before: int) -> None:
        if self._depth:
            self._depth -= 1
        else:
            self._fail(BadPgn("pgn: a ')' closes no variation"))

    def _read_comment(self, sign: str, start: int, _before: int) -> None:
        text = self._text
        if sign != "{":
            end = text.find("\n", start)
            self.at = len(text) if end < 0 else end
            return
        end = text.find("}", start)
        boundary = self._boundary(start, len(text) if end < 0 else end)
        if end < 0 or boundary is not None:
            line = self._line_at(start)
            self.at, self._depth = len(text) if boundary is None else boundary, 0
            self._fail(BadPgn(f"pgn: the comment that begins in line {line} is not closed: a '}}' is missing"))
            return
        self.at = end + 1 if text.find("{", start + 1, end) < 0 else self._outer_end(start, end + 1)
        if not self._depth:
            self._comments.setdefault(len(self._moves), []).append(text[start + 1 : self.at - 1].strip())

    def _outer_end(self, start: int, inner: int) -> int:
        """Return the end of a comment with braces in it: where all are closed, or else where the first one is."""
        depth = 0
        for brace in islice(_BRACE.finditer(self._text, start), MAX_BRACES):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                return brace.end() if self._boundary(inner, brace.end()) is None else inner
        return inner

    def _boundary(self, start: int, end: int) -> int | None:
        """Return the place between two others where a game ends in any case, if there is one."""
        if self._text.find("[Event ", start, end) < 0:
            return None
        found = _BOUNDARY.search(self._text, start, end)
        return None if found is None else found.end()

    # --- Tags ---------------------------------------------------------------------------------------------------

    def _read_tag(self, _text: str, start: int, before: int) -> None:
        text, limit = self._text, start + MAX_TAG
        after_empty_line = text.count("\n", before, start) > 1
        if self._depth and after_empty_line and text.startswith("[Event ", start):
            self._finish(start)
        found = _TAG.match(text, start, limit) or _LOOSE_TAG.match(text, start, limit)
        value = None if found is None else found[2]
        if found is None and not self._depth and self._may_begin_tags(start, after_empty_line):
            found = _UNREAD_TAG.match(text, start, limit)
        if found is None or found.end() == limit < len(text):
            self._fail_at(start)
            return
        self.at = found.end()
        if not self._depth:
            self._put_tag(found, value, after_empty_line)

    def _may_begin_tags(self, start: int, after_empty_line: bool) -> bool:
        """Return whether a bracket begins a tag, or a text that should have been one."""
        if self._begun or self._ended:
            return (self._ended or after_empty_line) and self._is_at_line_start(start)
        return not self._text[self._tags_end : start].strip() or self._is_at_line_start(start)

    def _is_at_line_start(self, place: int) -> bool:
        return not self._text[self._text.rfind("\n", 0, place) + 1 : place].strip()

    def _put_tag(self, found: re.Match[str], value: str | None, after_empty_line: bool) -> None:
        start = found.start()
        name = found[1] if value is not None else _TAG_NAME.match(found[0])[1]  # type: ignore[index]  # it matches
        if self._is_among_tags(name, start):
            self._drop_lines(start)
        elif self._begun or self._ended:
            self._finish(start)
        elif after_empty_line:
            self._earlier_tags |= self._tags
            self._tags, self._section_start = {}, start
        if name and name in self._earlier_tags:
            self._finish_earlier()
        self._tags_end = found.end()
        if value is None:
            self._unread.setdefault(name, start)
            self._tags.setdefault(name, None)
        else:
            self._tags[name] = value

    def _is_among_tags(self, name: str, start: int) -> bool:
        """Return whether what lies between the last tag and the one at a place are lines of the same tags.

        They are if there is no empty line, more than a result, and first of all no move, and the tag is not there
        already.
        """
        if not self._begun or not self._tags or name in self._tags:
            return False
        if self._moved and _MOVES.match(self._text, self._tags_end) is not None:
            return False
        return _EMPTY_LINE.search(self._text, self._tags_end, start) is None

    def _drop_lines(self, end: int) -> None:
        """Forget the lines between the last tag and a place; a needed tag that they name counts as unread."""
        self._moves, self._behind_moves, self._error = [], "", None
        self._begun = self._ended = self._moved = False
        for named in _NEEDED_TAG.finditer(self._text, self._tags_end, end):
            self._unread.setdefault(named[0], named.start())

    def _finish_earlier(self) -> None:
        """Finish the game of the tags before the last empty line; those after it are another game's."""
        tags, unread, start = self._tags, self._unread, self._section_start
        self._tags = {}
        self._unread = {name: place for name, place in unread.items() if place < start}
        self._finish(start)
        self._tags = tags
        self._unread = {name: place for name, place in unread.items() if place >= start}

    # --- The end of a game --------------------------------------------------------------------------------------

    def _finish(self, end: int) -> None:
        """Finish a game, if one is begun, and begin the next."""
        tags = self._earlier_tags | self._tags
        if tags or self._begun or self._ended or self._depth:
            reading = self._found_error(tags) or self._reading(tags)
            if self._stops and isinstance(reading, BadPgn):
                raise reading
            self._finished.append(PgnGame(self._text[self._start : end], reading))
            self._begin(end)

    def _reading(self, tags: dict[str, str | None]) -> PgnText:
        headers = {name: _unescape(value) for name, value in tags.items() if value is not None}
        result = _result(headers.pop("Result", "*"), self._behind_moves)
        comments = {ply: " ".join(filter(None, said)) for ply, said in self._comments.items()}
        return PgnText(headers, self._moves, result, comments)

    def _found_error(self, tags: dict[str, str | None]) -> BadPgn | None:
        if self._error is not None:
            return self._error
        if self._depth:
            are = "variations are" if self._depth > 1 else "variation is"
            return BadPgn(f"pgn: {self._depth} {are} not closed: a ')' is missing")
        missing = [name for name in NEEDED_TAGS if name in self._unread and tags.get(name) is None]
        if missing or (self._unread and not self._begun and all(value is None for value in tags.values())):
            place = self._unread[missing[0]] if missing else min(self._unread.values())
            return self._unreadable(place)
        return None

    def _fail_at(self, start: int) -> None:
        """Note that what begins at a place cannot be read, and go on behind its line."""
        end = self._text.find("\n", start)
        self.at = len(self._text) if end < 0 else end
        self._fail(self._error or self._unreadable(start))

    def _fail(self, error: BadPgn) -> None:
        self._error = self._error or error
        self._begun = True

    def _unreadable(self, at: int) -> BadPgn:
        shown = self._text[at : at + 40].splitlines()[0]
        what = 'no tag pair such as [White "name"]' if shown[0] == "[" else "neither a move nor anything else of PGN"
        return BadPgn(f"pgn: line {self._line_at(at)}: {quote(shown)} is {what}")

    def _line_at(self, at: int) -> int:
        return self._first_line + self._text.count("\n", 0, at)


#: Returns the string that an equal one was before: the games of a file have few moves, many times.
_shared = lru_cache(4_096)(str)


@lru_cache(4_096)
def _without_signs(word: str) -> str | None:
    """Return a move without a pawn's letter and signs behind it that decide nothing; None for any other word."""
    found = _SIGNED_MOVE.fullmatch(word)
    return None if found is None else found[1] + found[2]


def _result(tag: str, behind_moves: str) -> Result | None:
    """Return the result of a game by its Result tag, unless only the token after its moves (also "1/2") gives one.

    :param behind_moves: that token; empty if there is none.
    """
    if tag in _RESULTS and (tag != "*" or not behind_moves):
        return tag
    if behind_moves.startswith(("1/2", "½")):
        return "1/2-1/2"
    said = re.sub(_DASH, "-", behind_moves)
    return said if said in _RESULTS else None


def _unescape(value: str) -> str:
    """Return a tag's value without escapes, cut to :data:`MAX_KEPT_TAG`, because escapes are slow to undo."""
    return re.sub(r'\\(["\\])', r"\1", value[:MAX_KEPT_TAG])
