"""Loading of the configuration from the command line, the environment and a file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from gm_protocol.choices import with_choices

from .config import SERVED, Config, ConfigError

#: Prefix of the environment variables: ``GMD_PORT`` sets ``port``.
ENVIRONMENT_PREFIX = "GMD_"

#: Variables with that prefix that are not settings: the path of the file, and one that this project's tests read.
OTHER_VARIABLES = frozenset({"GMD_CONFIG", "GMD_REQUIRE_ALL"})

#: Settings whose values must never be printed.
SECRETS = frozenset({"database", "metrics_token", "spectator_key"})

#: What msgspec says of a text that is not of a setting's type; and plain names of these types.
_NOT_TEXT = re.compile(r"Expected `(?P<type>int|float|bool)(?: \| null)?`, got `str`")
_TYPES = {"int": "a whole number", "float": "a number", "bool": "true or false"}


def load_config(flags: Mapping[str, object], environment: Mapping[str, str], file: Path | None = None) -> Config:
    """Load the configuration. A flag wins over the environment, the environment over the file, the file over defaults.

    :param flags: the settings on the command line.
    :param environment: environment variables, of which those named ``GMD_`` and a setting's name in capitals are read.
    :param file: a TOML file of settings.
    :raises ConfigError: a setting is unknown, or its value cannot be used.
    """
    settings = structs.asdict(SERVED)
    if file is not None:
        settings |= _checked(_read_toml(file), f"file {file}")
    names = {ENVIRONMENT_PREFIX + name.upper(): name for name in Config.__struct_fields__}
    set_there = {name: environment[variable] for variable, name in names.items() if variable in environment}
    settings |= _checked(set_there, "environment", strict=False)
    settings |= _checked(flags, "command line")
    return msgspec.convert(settings, Config)


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables that have the prefix but are not settings, each with the setting that may be meant."""
    settings = [name.upper() for name in Config.__struct_fields__]
    named = {name.removeprefix(ENVIRONMENT_PREFIX) for name in environment if name.startswith(ENVIRONMENT_PREFIX)}
    unknown = named.difference(settings, (name.removeprefix(ENVIRONMENT_PREFIX) for name in OTHER_VARIABLES))
    meant = {name: get_close_matches(name, settings, n=1) for name in sorted(unknown)}
    return {
        ENVIRONMENT_PREFIX + name: ENVIRONMENT_PREFIX + close[0] if close else None for name, close in meant.items()
    }


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"config: {file} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"config: {file} is not TOML: {error}") from error


def _hint(name: str) -> str:
    """Return the end of the sentence about an unknown setting."""
    meant = get_close_matches(name, Config.__struct_fields__, n=1)
    return f"; did you mean {meant[0]}?" if meant else "; `gmd serve --help` lists the settings"


def _checked(settings: Mapping[str, object], source: str, *, strict: bool = True) -> dict[str, Any]:
    """Return the settings, validated and converted to their types.

    :param strict: whether values must have their types; otherwise they are texts, as in environment variables.
    """
    checked: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in Config.__struct_fields__:
            raise ConfigError(f"{name}: the {source} has this setting, and gmd has none of that name{_hint(name)}")
        try:
            checked[name] = getattr(msgspec.convert({name: value}, Config, strict=strict), name)
        except msgspec.ValidationError as error:
            what = with_choices(error, Config).split(" - at ")[0]
            shown = "the value" if name in SECRETS else repr(value)
            if not strict:
                raise ConfigError(f"{ENVIRONMENT_PREFIX}{name.upper()}: {shown} {_wrong_text(what)}") from None
            raise ConfigError(f"{name}: {shown} from the {source} cannot be used: {what}") from None
    return checked


def _wrong_text(what: str) -> str:
    """Return the end of the sentence about a variable whose text cannot be used, from what msgspec says."""
    of_type = _NOT_TEXT.fullmatch(what)
    return f"is not {_TYPES[of_type['type']]}" if of_type else f"cannot be used: {what}"
