"""What may stand where a word is none of those that are known: for errors, which show the choices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import Struct, structs

_WRONG_WORD = re.compile(r"Invalid enum value (?P<value>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)
#: What ``Union[int, str]`` is made of, and what ``int | str`` is.
_UNIONS = (Union, get_origin(int | str))
_STEP = re.compile(r"\.(?P<field>[^.\[\]]+)|(?P<item>\[[^\]]*\])")


def with_choices(error: Exception, hint: object) -> str:
    """Return what an error of msgspec's says; of a word that is none of several, which these are.

    :param hint: the type that was to be read.
    """
    message = str(error)
    match = _WRONG_WORD.fullmatch(message)
    choices = [] if match is None else choices_at(hint, match["path"] or "")
    if match is None or not choices:
        return message
    where = f" - at `${match['path']}`" if match["path"] else ""
    return f"{match['value']} is none of {', '.join(choices)}{where}"


def choices_at(hint: object, path: str) -> list[str]:
    """Return the words that may stand at a path of a type, such as ``.options.variant``; none if it takes none."""
    found = list(_flat(hint))
    for step in _STEP.finditer(path):
        found = [inner for each in found for inner in _into(each, step["field"])]
    words = [word for each in found if get_origin(each) is Literal for word in get_args(each)]
    return list(dict.fromkeys(map(str, words)))


def _into(outer: Any, field: str | None) -> Iterator[Any]:
    """The types of a field, or of an item."""
    if field is None and get_args(outer):
        yield from _flat(get_args(outer)[-1])  # of a list its one, of a dict that of its values
    elif field is not None and isinstance(outer, type) and issubclass(outer, Struct):
        for each in structs.fields(outer):
            if each.encode_name == field:
                yield from _flat(each.type)


def _flat(hint: Any) -> Iterator[Any]:
    """A type, or those that a union is of."""
    if get_origin(hint) is Annotated:
        yield from _flat(get_args(hint)[0])
    elif get_origin(hint) in _UNIONS:
        for each in get_args(hint):
            yield from _flat(each)
    else:
        yield hint
