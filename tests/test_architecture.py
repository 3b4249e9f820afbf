"""The structure that ``docs/ARCHITECTURE.md`` describes."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import grimp
import pytest

import gmd
from gm_protocol.messages import REQUESTS
from gmd.handlers.dispatch import HANDLERS

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "gmd": ROOT / "gmd",
    "gm_protocol": ROOT / "protocol",
    "gm_client": ROOT / "clients" / "python",
    "gm_recon": ROOT / "clients" / "python",
    "gm_arena": ROOT / "clients" / "arena",
    "gm_bots": ROOT / "clients" / "bots",
    "gm_env": ROOT / "clients" / "env",
}

#: What gm_env needs to find and copy the cache of its compiled kernels.
CACHING = {"contextlib", "pathlib", "platformdirs", "shutil", "tempfile"}

#: Modules of the standard library that only compute: a game or a message needs no others.
PURE = {
    "__future__",
    "abc",
    "array",
    "bisect",
    "collections",
    "dataclasses",
    "enum",
    "functools",
    "hashlib",
    "heapq",
    "itertools",
    "json",
    "math",
    "operator",
    "re",
    "struct",
    "typing",
}

#: Modules that are run by hand and read sources. Nothing imports them.
TOOLS = {"gm_protocol.schema"}

#: The module of the rules that plays whole games: it reads a clock, and knows whether reconchess is loaded.
WITH_A_CLOCK = {"gm_recon.player"}
#: The module that says on standard error which kernels it compiles.
WITH_PROGRESS = {"gm_env.kernels.jit"}

#: What the environment for research may import in addition.
FOR_RESEARCH = {"PIL", "gymnasium", "io", "llvmlite", "numba", "numpy", "pettingzoo", "resvg_py"}
#: What its opponents written for reconchess need, which have clocks and may fail.
FOR_OPPONENTS = {"time", "warnings"}

#: msgspec, and the packages that it loads where they are installed.
MSGSPEC = {"msgspec", "typing_extensions"}


#: trio, and the packages that it loads.
TRIO = {"trio", "attr", "attrs", "outcome", "sniffio", "sortedcontainers", "idna"}


@cache
def graph() -> grimp.ImportGraph:
    """Return the graph of all our imports."""
    return grimp.build_graph(*PACKAGES, include_external_packages=True, cache_dir=None)


def imported_by(package: str) -> dict[str, set[str]]:
    """Return what the modules of a package import directly, grouped by top-level package."""
    found: dict[str, set[str]] = {}
    for module in {package} | graph().find_descendants(package):
        for imported in graph().find_modules_directly_imported_by(module):
            found.setdefault(imported.split(".")[0], set()).add(module)
    return found


def packages_of(package: str) -> set[str]:
    """Return a package and all packages in it."""
    return {module for module in {package} | graph().find_descendants(package) if graph().find_children(module)}


@pytest.mark.slow
def test_import_contracts_hold() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache"]
    linted = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stdout


def test_no_modules_import_each_other_in_a_cycle() -> None:
    ours = {module for package in PACKAGES for module in {package} | graph().find_descendants(package)}
    TopologicalSorter({module: graph().find_modules_directly_imported_by(module) & ours for module in ours}).prepare()


def test_no_parts_of_a_package_import_each_other_in_a_cycle() -> None:
    """A part is a package or a module; imports for types alone count, too."""
    for package in packages_of("gmd"):
        parts = graph().find_children(package)
        imports = {
            part: {
                other
                for module in {part} | graph().find_descendants(part)
                for imported in graph().find_modules_directly_imported_by(module)
                for other in parts - {part}
                if imported == other or imported.startswith(f"{other}.")
            }
            for part in parts
        }
        TopologicalSorter(imports).prepare()


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        ("gm_protocol", PURE | {"gm_protocol", "msgspec", "difflib"}),
        ("gm_recon", PURE | {"gm_recon", "chess"}),
        (
            "gm_env",
            PURE | FOR_RESEARCH | FOR_OPPONENTS | CACHING | {"gm_env", "gm_recon", "chess", "copy", "threading"},
        ),
        ("gmd.tcp.conversation", PURE | {"gm_protocol", "gmd", "msgspec"}),
        ("gmd.tcp.outbox", PURE | {"gm_protocol", "gmd"}),
        ("gmd.games", PURE | {"gm_protocol", "gm_recon", "gmd", "msgspec", "chess", "hashlib"}),
    ],
)
def test_pure_packages_import_nothing_that_does_io(package: str, allowed: set[str]) -> None:
    imported = {name: modules - TOOLS for name, modules in imported_by(package).items()}
    for name in ("sys", "time"):
        imported.get(name, set()).difference_update(WITH_A_CLOCK | WITH_PROGRESS)
    assert {name: modules for name, modules in imported.items() if modules and name not in allowed} == {}


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_tool_is_imported_by_no_module(tool: str) -> None:
    assert graph().find_modules_that_directly_import(tool) == set()


def test_games_import_no_other_package_of_the_daemon() -> None:
    modules = {"gmd.games"} | graph().find_descendants("gmd.games")
    ours = {name for module in modules for name in graph().find_modules_directly_imported_by(module)}
    assert {name for name in ours if name.startswith("gmd.")} <= modules


def test_loggers_come_from_one_module() -> None:
    importers = graph().find_modules_that_directly_import("structlog")
    assert importers == {"gmd.logger", "gmd.cli.logs"}, "structlog's own print to the host's output"


def loaded_by(statement: str) -> set[str]:
    """Return the packages that a statement loads in a new interpreter."""
    code = f"import sys; before = set(sys.modules)\n{statement}\nprint(*set(sys.modules) - before)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in run.stdout.splitlines()[-1].split()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        ("import gmd", {"gmd"}),
        ("import pytest; before = set(sys.modules); import gmd.pytest_plugin", {"gmd"}),
        ("import gmd.cli", {"gmd", "click"}),
        ("import gm_client", {"gm_client"}),
        ("import gm_client.gmcat", {"gm_client"}),
        ("from gm_client import connect", {"gm_client", "chess"}),
        ("import gm_client.blocking", {"gm_client"}),
        ("import gm_client.trio_client", {"gm_client", "chess"} | TRIO),
        ("import gm_client.rbc", {"gm_client", "gm_recon", "chess"}),
        ("import gm_client.tracker", {"gm_client", "gm_recon", "chess"}),
        ("from gm_client import run", {"gm_client", "gm_recon", "chess"}),
        ("import gm_arena", {"gm_arena"}),
        ("import gm_arena.codingame", {"gm_arena", "chess"}),
        ("import gm_bots.minimax; dir(gm_bots.minimax)", {"gm_bots"}),
        ("import gm_bots.recon_zero; dir(gm_bots.recon_zero)", {"gm_bots"}),
        ("import gm_bots.expectation; dir(gm_bots.expectation)", {"gm_bots"}),
        ("import gm_bots.minimax.uci", {"gm_bots", "chess"}),
        ("import gm_arena.schedule, gm_arena.crosstable", {"gm_arena"}),
        ("import gm_protocol", {"gm_protocol"}),
        ("import gm_protocol.codec", {"gm_protocol"} | MSGSPEC),
        ("import gmd.games.chess", {"gmd", "gm_protocol", "gm_recon", "chess"} | MSGSPEC),
        ("import gmd.tcp.conversation", {"gmd", "gm_protocol"} | MSGSPEC),
        ("import gm_recon", {"gm_recon", "chess"}),
        ("import gmd.config", {"gmd", "gm_protocol", "platformdirs"} | MSGSPEC),
    ],
)
def test_import_loads_only_the_packages_it_needs(statement: str, allowed: set[str]) -> None:
    assert loaded_by(statement) - sys.stdlib_module_names <= allowed


def test_every_public_name_of_gmd_exists_and_is_typed() -> None:
    hints = {
        alias.name: node.module
        for node in ast.walk(ast.parse((ROOT / "gmd" / "__init__.py").read_text()))
        if isinstance(node, ast.ImportFrom) and node.module not in ("__future__", "typing", "importlib", "gmd.version")
        for alias in node.names
    }
    assert {*hints, "__version__"} == set(gmd.__all__) <= set(dir(gmd))
    assert all(getattr(gmd, name) is getattr(import_module(home), name) for name, home in hints.items())
    with pytest.raises(AttributeError, match="module 'gmd' has no attribute 'opendaemon'"):
        getattr(gmd, "opendaemon")  # noqa: B009 - mypy knows that it is not there


@pytest.mark.slow
def test_help_imports_no_command() -> None:
    loaded = loaded_by('from gmd.cli import main; main(["--help"], standalone_mode=False)')
    assert {"trio", "msgspec", "chess", "sqlalchemy", "structlog", "rich"} & loaded == set()


@pytest.mark.parametrize("kind", REQUESTS)
def test_handler_of_a_kind_takes_its_request(kind: str) -> None:
    handler = HANDLERS[REQUESTS[kind]]
    taken = get_type_hints(handler, vars(sys.modules[handler.__module__]))["request"]
    assert issubclass(REQUESTS[kind], taken)


def test_no_handler_imports_another_handler() -> None:
    handlers = {handler.__module__ for handler in HANDLERS.values()}
    assert {one for one in handlers for other in graph().find_modules_directly_imported_by(one) & handlers} == set()
