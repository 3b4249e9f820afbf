"""The allowed words at a path of a type, for errors about an unknown word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import Struct, structs

_WRONG_WORD = re.compile(r"Invalid enum value (?P<value>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)
#: The origins of ``Union[int, str]`` and of ``int | str``.
_UNIONS = (Union, get_origin(int | str))
_STEP = re.compile(r"\.(?P<field>[^.\[\]]+)|(?P<item>\[[^\]]*\])")


def with_choices(error: Exception, hint: object) -> str:
    """Return the message of an msgspec error; if it is about an unknown word, with the allowed ones.

    :param hint: the type that was decoded.
    """
    message = str(error)
    match = _WRONG_WORD.fullmatch(message)
    choices = [] if match is None else choices_at(hint, match["path"] or "")
    if match is None or not choices:
        return message
    where = f" - at `${match['path']}`" if match["path"] else ""
    return f"{match['value']} is none of {', '.join(choices)}{where}"


def choices_at(hint: object, path: str) -> list[str]:
    """Return the allowed words at a path of a type, such as ``.options.variant``; empty if it takes no words."""
    found = list(_flat(hint))
    for step in _STEP.finditer(path):
        found = [inner for each in found for inner in _into(each, step["field"])]
    words = [word for each in found if get_origin(each) is Literal for word in get_args(each)]
    return list(dict.fromkeys(map(str, words)))


def _into(outer: Any, field: str | None) -> Iterator[Any]:
    """Yield the types of a field, or of an item if the field is None."""
    if field is None and get_args(outer):
        yield from _flat(get_args(outer)[-1])  # a list's items, a dict's values
    elif field is not None and isinstance(outer, type) and issubclass(outer, Struct):
        for each in structs.fields(outer):
            if each.encode_name == field:
                yield from _flat(each.type)


def _flat(hint: Any) -> Iterator[Any]:
    """Yield a type, or the members of a union."""
    if get_origin(hint) is Annotated:
        yield from _flat(get_args(hint)[0])
    elif get_origin(hint) in _UNIONS:
        for each in get_args(hint):
            yield from _flat(each)
    else:
        yield hint
