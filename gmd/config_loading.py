"""The configuration out of the command line, the environment and a file."""

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

#: Variables of that prefix that are no settings: where the file is, and two of this project's own tests.
OTHER_VARIABLES = frozenset({"GMD_CONFIG", "GMD_PROOF", "GMD_REQUIRE_ALL"})

#: Settings whose value nothing may print.
SECRETS = frozenset({"metrics_token", "spectator_key"})

#: How msgspec says that a text is not of a setting's type, and what people call such a type.
_NOT_TEXT = re.compile(r"Expected `(?P<type>int|float|bool)(?: \| null)?`, got `str`")
_TYPES = {"int": "a whole number", "float": "a number", "bool": "true or false"}


def load_config(flags: Mapping[str, object], environment: Mapping[str, str], file: Path | None = None) -> Config:
    """The configuration: a flag wins over the environment, that over the file, that over the default.

    :param flags: settings given on the command line.
    :param environment: of it, variables named ``GMD_`` and a setting's name in capitals.
    :param file: a TOML file of settings.
    :raises ConfigError: a setting is unknown or its value unusable.
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
    """The variables that look like settings and are none, each with the one it may have been meant for."""
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
    """The end of a sentence about a setting that there is not."""
    meant = get_close_matches(name, Config.__struct_fields__, n=1)
    return f"; did you mean {meant[0]}?" if meant else "; `gmd serve --help` lists the settings"


def _checked(settings: Mapping[str, object], source: str, *, strict: bool = True) -> dict[str, Any]:
    """The settings with their types converted, each known to be valid."""
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
    """The end of the sentence about a variable, all of which are texts: what it is not, or what msgspec says."""
    of_type = _NOT_TEXT.fullmatch(what)
    return f"is not {_TYPES[of_type['type']]}" if of_type else f"cannot be used: {what}"
