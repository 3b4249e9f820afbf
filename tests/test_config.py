"""Settings from flags, environment and file: their precedence, and the errors for wrong ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs

from gmd.config import SERVED, Config, ConfigError, load_config, unknown_variables

#: A valid value of every setting that is not its default, as written in a flag or a file.
OTHER: dict[str, object] = {
    "bots": "random",
    "bot_games": 3,
    "bot_move_timeout": 5.0,
    "bot_idle_timeout": 2.5,
    "standby": False,
    "lease": 5.0,
    "host": "0.0.0.0",
    "port": 7200,
    "tls_cert": "cert.pem",
    "tls_key": "key.pem",
    "data": "elsewhere",
    "max_message": 4096,
    "max_plies": 500,
    "max_pgn": 2048,
    "max_work_per_minute": 700,
    "max_connections": 5,
    "max_connections_per_address": 6,
    "max_memory": 1 << 21,
    "max_memory_per_address": 1 << 17,
    "min_read_rate": 1_000,
    "idle_timeout": 60.5,
    "frame_timeout": 5.0,
    "max_wait": 0.0,
    "start_timeout": 12.0,
    "idle_games": 30.0,
    "require_registration": True,
    "max_failures_per_minute": 5,
    "max_waiting_passwords": 6,
    "max_waiting_passwords_per_address": 3,
    "max_registrations_per_hour": 0,
    "max_players": 7,
    "invitation_timeout": 45.0,
    "max_invitations": 3,
    "max_invitations_per_minute": 12,
    "kept_seat_timeout": 9.5,
    "max_invitations_received": 14,
    "max_invitations_from_address": 15,
    "max_games_per_hour": 16,
    "max_unfinished_games": 17,
    "max_registrations_per_day": 18,
    "invite": "spring term",
    "max_rekeys_per_hour": 19,
    "presence_timeout": 20.0,
    "keep_finished": 30.5,
    "trust_clock": True,
    "database": "postgresql://someone@elsewhere/games",
    "allow_unsafe_database": True,
    "database_timeout": 7.5,
    "http": False,
    "http_host": "0.0.0.0",
    "http_port": 7280,
    "pages": False,
    "http_tls": False,
    "http_tls_cert": "http-cert.pem",
    "http_tls_key": "http-key.pem",
    "health_host": "::1",
    "health_port": 9,
    "http_max_connections": 7,
    "http_max_connections_per_address": 8,
    "anchors": "random-bot=1000",
    "proxy_protocol": True,
    "public_host": "gmd.example.org",
    "trusted_proxies": "127.0.0.1, 10.0.0.0/8",
    "metrics_token": "only me",
    "log_format": "json",
    "log_level": "debug",
    "spectate": "live",
    "spectator_key": "let me see",
    "stop_timeout": 1.5,
}


def toml(path: Path, settings: dict[str, object]) -> Path:
    file = path / "gmd.toml"
    lines = (
        f"{name} = {value if isinstance(value, float) else json.dumps(value)}\n" for name, value in settings.items()
    )
    file.write_text("".join(lines), "utf-8")
    return file


def test_every_setting_has_a_default() -> None:
    assert load_config({}, {}) == SERVED == structs.replace(Config(), http=True, bots="all")
    assert set(OTHER) == set(Config.__struct_fields__)


@pytest.mark.parametrize("name", OTHER)
def test_setting_comes_from_a_flag_the_environment_or_a_file(name: str, tmp_path: Path) -> None:
    value = OTHER[name]
    expected = structs.replace(SERVED, **{name: value})
    assert load_config({name: value}, {}) == expected
    assert load_config({}, {f"GMD_{name.upper()}": str(value)}) == expected
    assert load_config({}, {}, toml(tmp_path, {name: value})) == expected


def test_flag_overrides_the_environment_which_overrides_the_file(tmp_path: Path) -> None:
    file = toml(tmp_path, {"port": 1, "host": "file", "max_wait": 1.0})
    environment = {"GMD_PORT": "2", "GMD_HOST": "environment", "HOME": "/nowhere", "GMD": "x", "gmd_port": "9"}
    config = load_config({"port": 3}, environment, file)
    assert (config.port, config.host, config.max_wait) == (3, "environment", 1.0)


def test_unknown_variable_is_found_with_the_setting_that_was_probably_meant() -> None:
    settings = {f"GMD_{name.upper()}": "1" for name in OTHER}
    others = {"GMD_CONFIG": "x", "HOME": "/", "gmd_portt": "1"}
    assert unknown_variables({**settings, **others}) == {}
    found = unknown_variables({"GMD_PORTT": "1", "GMD_": "", "GMD_MAXWAIT": "3", "GMD_SOMETHING_ELSE": "x"})
    assert found == {"GMD_": None, "GMD_MAXWAIT": "GMD_MAX_WAIT", "GMD_PORTT": "GMD_PORT", "GMD_SOMETHING_ELSE": None}


def test_whole_numbers_are_accepted_for_seconds(tmp_path: Path) -> None:
    assert load_config({}, {}, toml(tmp_path, {"max_wait": 5})).max_wait == 5.0
    assert load_config({}, {"GMD_MAX_WAIT": "5"}).max_wait == 5.0


WRONG: list[tuple[str, object, str]] = [
    ("port", 70_000, "Expected `int` <= 65535"),
    ("port", -1, "Expected `int` >= 0"),
    ("host", "", "Expected `str` of length >= 1"),
    ("max_message", 10, "Expected `int` >= 1024"),
    ("max_message", 2**31, "Expected `int` <= 1073741824"),
    ("idle_timeout", 0.0, "Expected `float` > 0.0"),
    ("max_wait", -0.5, "Expected `float` >= 0.0"),
    ("max_wait", float("nan"), "Expected `float` >= 0.0"),
    ("max_wait", float("inf"), "Expected `float` <= 10000000.0"),
    ("idle_timeout", 1e300, "Expected `float` <= 10000000.0"),
]


@pytest.mark.parametrize(("name", "value", "what"), WRONG)
def test_wrong_value_is_named_with_its_source(name: str, value: object, what: str, tmp_path: Path) -> None:
    file = toml(tmp_path, {name: value})
    variable = {f"GMD_{name.upper()}": str(value)}
    for source, load in (
        ("command line", lambda: load_config({name: value}, {})),
        (f"file {file}", lambda: load_config({}, {}, file)),
    ):
        with pytest.raises(ConfigError) as caught:
            load()
        assert str(caught.value) == f"{name}: {value!r} from the {source} cannot be used: {what}"
    with pytest.raises(ConfigError) as caught:
        load_config({}, variable)
    assert str(caught.value) == f"GMD_{name.upper()}: '{value}' cannot be used: {what}"


@pytest.mark.parametrize(
    ("name", "text", "type_"),
    [
        ("port", "foo", "a whole number"),
        ("port", "1.5", "a whole number"),
        ("max_wait", "soon", "a number"),
        ("keep_finished", "", "a number"),
        ("http", "maybe", "true or false"),
    ],
)
def test_variable_of_a_wrong_type_is_named_with_the_expected_type(name: str, text: str, type_: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config({}, {f"GMD_{name.upper()}": text})
    assert str(caught.value) == f"GMD_{name.upper()}: {text!r} is not {type_}"


def test_wrong_value_is_refused_even_when_another_source_overrides_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^port: 70000 from the file "):
        load_config({"port": 5}, {"GMD_PORT": "6"}, toml(tmp_path, {"port": 70_000}))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "prot = 5",
            "prot: the file {file} has this setting, and gmd has none of that name; did you mean port?",
        ),
        ('port = "5"', "port: '5' from the file {file} cannot be used: Expected `int`, got `str`"),
        (
            "[serve]\nport = 5",
            "serve: the file {file} has this setting, and gmd has none of that name; "
            "`gmd serve --help` lists the settings",
        ),
        ("port =", "config: {file} is not TOML: "),
        ("port = 5\nport = 6", "config: {file} is not TOML: "),
    ],
)
def test_file_must_be_toml_with_settings_alone(text: str, error: str, tmp_path: Path) -> None:
    file = tmp_path / "gmd.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config({}, {}, file)
    assert str(caught.value).startswith(error.format(file=file))


def test_file_must_be_utf8(tmp_path: Path) -> None:
    file = tmp_path / "gmd.toml"
    file.write_bytes(b'host = "\xff"')
    with pytest.raises(ConfigError, match="is not TOML: "):
        load_config({}, {}, file)


def test_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config({}, {}, tmp_path / "none.toml")
    assert str(caught.value) == f"config: {tmp_path}/none.toml cannot be read: No such file or directory"
    with pytest.raises(ConfigError, match=r": Is a directory$"):
        load_config({}, {}, tmp_path)


def test_no_error_prints_a_secret(tmp_path: Path) -> None:
    file = tmp_path / "gmd.toml"
    file.write_text("spectator_key = 5150\n", "utf-8")
    with pytest.raises(ConfigError) as refused:
        load_config({}, {}, file)
    assert str(refused.value) == (
        f"spectator_key: the value from the file {file} cannot be used: Expected `str | null`, got `int`"
    )
