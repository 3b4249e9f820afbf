"""The values that a process holds once for all clients: those of modules and classes, and which of them may grow."""

from __future__ import annotations

import ast
import inspect
import pkgutil
from collections.abc import Iterator
from enum import Enum
from functools import cache
from importlib import import_module
from types import FunctionType, ModuleType, NoneType
from typing import Any

import chess

import gm_protocol
import gm_recon
import gmd

#: The packages whose modules are examined; of others only the modules that games compute with.
OURS = (gmd, gm_protocol, gm_recon)
_OUR_NAMES = {package.__name__ for package in OURS}
OTHERS = ("chess", "chess.variant")

_CONTAINERS = (dict, list, set, bytearray)
#: Types of values that neither change nor have parts. Most values are of these.
_LEAVES = {str, bytes, int, bool, float, NoneType, chess.Move, chess.Piece}
_NEVER_CHANGE = (type, FunctionType, str, bytes, int, chess.Move, chess.Piece, NoneType)

#: Names that look like caches and are none: loggers, a NamedTuple's defaults, python-chess's names of variants.
_NO_CACHES = {"logger", "_field_defaults", "aliases"}


def modules() -> list[ModuleType]:
    """Return every module of the server, loaded."""
    names = [
        found.name
        for package in OURS
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not found.name.endswith("__main__") and ".migrations." not in found.name
    ]
    return [*OURS, *map(import_module, names), *map(import_module, OTHERS)]


def caches() -> set[str]:
    """Return the full names of the values that may grow while the server runs.

    These are :mod:`functools` caches; containers with ``__missing__``; containers whose name is not in capitals, as a
    table's is; and objects of classes of ours that are not frozen.
    """
    return {name for name, value in _values() if _may_grow(name.rpartition(".")[2], value)}


def sizes() -> dict[tuple[str, ...], int]:
    """Return how much each value that can grow or shrink holds, by its full name and the path to it."""
    found: dict[tuple[str, ...], int] = {}
    seen: set[int] = set()
    values: list[tuple[tuple[str, ...], Any]] = [((name,), value) for name, value in _values()]
    while values:
        path, value = values.pop()
        if (info := getattr(value, "cache_info", None)) is not None:
            found[path] = info().currsize
        elif id(value) not in seen and not isinstance(value, _NEVER_CHANGE):
            seen.add(id(value))
            if isinstance(value, _CONTAINERS):
                found[path] = len(value)
            values += [((*path, str(step)), inner) for step, inner in _inside(value) if type(inner) not in _LEAVES]
    return found


def _values() -> Iterator[tuple[str, Any]]:
    """Yield the values of all modules and their classes, by their full names, each in the module that defines it."""
    for module in modules():
        imported = _imported(module)
        for name, value in vars(module).copy().items():
            if name.startswith("__") or name in imported or isinstance(value, ModuleType):
                continue
            yield f"{module.__name__}.{name}", value
            if isinstance(value, type) and value.__module__ == module.__name__ and not issubclass(value, Enum):
                for inner, of_class in vars(value).copy().items():
                    if not inner.startswith("__"):
                        yield f"{module.__name__}.{name}.{inner}", of_class


@cache
def _imported(module: ModuleType) -> set[str]:
    """Return the names that a module imports from others."""
    return {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def _may_grow(name: str, value: Any) -> bool:
    if hasattr(value, "cache_info"):
        return True
    if name in _NO_CACHES or isinstance(value, type | FunctionType | Enum):
        return False
    if isinstance(value, _CONTAINERS):
        return not name.isupper() or _makes_missing(value)
    return type(value).__module__.partition(".")[0] in _OUR_NAMES and not _is_frozen(value)


def _makes_missing(value: Any) -> bool:
    """Return whether a value is, or contains, dictionaries that fill up as they are asked."""
    if isinstance(value, list | tuple):
        return any(map(_makes_missing, value))
    return hasattr(value, "__missing__")


def _is_frozen(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    params = getattr(value, "__dataclass_params__", None) or getattr(value, "__struct_config__", None)
    return isinstance(value, tuple) or (params is not None and params.frozen)


def _inside(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the parts of a value, each with its place in it."""
    if isinstance(value, dict):
        yield from list(value.items())
    elif isinstance(value, list | tuple):
        yield from enumerate(list(value))
    elif type(value).__module__.partition(".")[0] in _OUR_NAMES:
        slots = [slot for base in type(value).__mro__ for slot in getattr(base, "__slots__", ())]
        names = [*getattr(value, "__dict__", ()), *slots]
        yield from ((name, getattr(value, name)) for name in names if hasattr(value, name))
