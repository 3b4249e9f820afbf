# The ways into this project. Everything is installed into .venv beside this file and nowhere else.
# Targets in .venv are stamps: made last, so that a step that failed or was interrupted is done again.

PYTHON ?= python3
ARGS ?=
# One process for each processor. A container may have fewer than it shows, so four at the most.
WORKERS := -n auto --maxprocesses 4 --dist worksteal

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --editable
# Before the client was a distribution of its own, gmcat was a file of the daemon's: pip would write the new one, and then
# remove the old one, which has the same name.
UNINSTALL := $(PIP) uninstall --quiet --quiet --yes grandmasterd grandmasterd-client

# pip shows nothing of what the build says.
BOARD = test -e gmd/http/pages/static/chessground/LICENSE || \
  echo 'The moving board of the pages could not be downloaded: they show still ones. To try again: make board'

# The types of the pages' scripts, by TypeScript's compiler, which is no package of Python's.
SCRIPTS = if command -v tsc >/dev/null; then tsc --project gmd/http/pages; \
  elif [ "$$GMD_REQUIRE_ALL" = 1 ]; then echo 'tsc is not installed, and GMD_REQUIRE_ALL=1 lets nothing be left out' >&2; exit 1; \
  else echo "tsc is not installed, so the pages' scripts are not checked. On Debian and Ubuntu: sudo apt install node-typescript"; fi

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help serve env train test test-all lint docs dist proof bench board screenshots clean

help:
	@echo 'make serve        run the daemon on 127.0.0.1:7100'
	@echo 'make env          install the environment for research: gm_env, numba, Gymnasium, PettingZoo'
	@echo 'make train        install what gmd train and the bot recon-zero need: PyTorch, which may be gigabytes'
	@echo 'make test         run the tests, which takes about three minutes'
	@echo 'make test-all     run the slow tests, too'
	@echo 'make proof        run all tests and proofs at full size, which takes a night'
	@echo 'make lint         check style, types and imports'
	@echo 'make docs         build the manual as a website, in build/docs'
	@echo 'make dist         build what a release consists of, in dist'
	@echo 'make bench        run the benchmarks'
	@echo 'make board        download the moving board of the pages, if the installation could not'
	@echo 'make screenshots  take pictures of the pages, in build/screenshots, with the Chromium of this machine'
	@echo 'make clean        remove what these make'
	@echo
	@echo 'ARGS adds arguments, as in: make serve ARGS="--port 7200", make test ARGS="-k clock"'
	@echo 'PYTHON names the Python that .venv is made with, as in: make test PYTHON=python3.12'
	@echo 'VENV names another folder than .venv'

serve: $(VENV)/.installed
	@$(BIN)/gmd serve $(ARGS)

env train: %: $(VENV)/.installed-%
	@echo 'Installed into $(VENV)'

test: $(VENV)/.installed-test
	@$(BIN)/pytest $(WORKERS) -m 'not slow and not nightly' $(ARGS)

test-all: $(VENV)/.installed-test
	@$(BIN)/pytest $(WORKERS) $(ARGS)

proof: $(VENV)/.installed-test
	@$(BIN)/pytest $(WORKERS) -m '' --hypothesis-profile=nightly $(ARGS)

lint: $(VENV)/.installed-lint
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(SCRIPTS)

docs: $(VENV)/.installed-docs
	@$(BIN)/sphinx-build -W --keep-going -q docs build/docs
	@echo "The manual is in build/docs/index.html"

# Source distributions, and wheels that are built from them: those name the client by its version. A wheel built straight
# from this folder names the folder.
dist: $(VENV)/.made
	@$(PIP) install --quiet 'build>=1.2'
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist clients/python
	@$(BIN)/python -m build --outdir dist .

bench: $(VENV)/.installed-bench
	@$(BIN)/python -m bench $(ARGS)

board: $(VENV)/.made
	@$(PIP) install --quiet hatchling
	@$(BIN)/python deploy/packaging/board.py

screenshots: $(VENV)/.installed-browser
	@$(BIN)/python -m tests.browser.screenshots $(ARGS)

clean:
	rm -rf gmd/http/pages/static/chessground $(VENV) .venv-all build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.installed: pyproject.toml $(VENV)/.made
	@echo 'Installing gmd into $(VENV)'
	@$(UNINSTALL)
	@$(INSTALL) .
	@$(BOARD)
	@touch $@

# .installed-test has the extra "test", and so on.
$(VENV)/.installed-%: pyproject.toml $(VENV)/.made
	@echo 'Installing gmd and what "make $*" needs into $(VENV)'
	@$(UNINSTALL)
	@$(INSTALL) '.[$*]'
	@$(BOARD)
	@touch $@

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'gmd needs Python 3.11 or newer, and "$(PYTHON)" is not that.' >&2; \
	  echo 'Name one that is: make PYTHON=python3.12 ...' >&2; \
	  exit 1; }
	@echo 'Making $(VENV)'
	@$(PYTHON) -m venv $(VENV) || { \
	  rm -rf $(VENV); \
	  echo 'Python could not make a virtual environment.' >&2; \
	  echo 'On Debian and Ubuntu it needs the package python3-venv: sudo apt install python3-venv' >&2; \
	  exit 1; }
	@touch $@
