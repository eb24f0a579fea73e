# Needs python3 (3.11 or newer) with pip, and make. Nothing else is asked of the machine.
#
#   make test PYTHON=python3.13            another interpreter: .venv is made anew for it
#   make test ARGS='-k merge -x'           arguments for the tool behind the target
#   make test VENV=.venv-3.13 PYTHON=...   beside the one you have

PYTHON ?= python3
VENV ?= .venv
ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check --no-input

# Version and home of the interpreter, so that a venv made by another one is not taken for ours.
TAG := $(or $(shell $(PYTHON) -c 'import sys, zlib; sys.version_info < (3, 11) and sys.exit(1); \
	print("%d.%d.%d-%08x" % (sys.version_info[:3] + (zlib.crc32(sys.base_prefix.encode()),)))' 2>/dev/null),none)

MADE := $(VENV)/made-by-$(TAG)
RUN := $(VENV)/ready-to-run
DEV := $(VENV)/ready-to-test
BENCH := $(VENV)/ready-to-bench
RELEASE := $(VENV)/ready-to-release
FRAMEWORKS := $(VENV)-frameworks/ready

# Without .pyc files an interpreter starts up to three times slower, and no timing is honest.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test lint torture frameworks clients packaged-clients coverage bench house docs packages pictures lock release-check release clean
.DELETE_ON_ERROR:

help:
	@echo "make run       set up, and watch a plan being worked off"
	@echo "make test      set up, and run the tests"
	@echo "make lint      ruff, and mypy --strict"
	@echo "make torture   the long survival suites, and every property on all its examples"
	@echo "make clients   real agents, installed with npm, against a scripted model"
	@echo "make frameworks  the adapters, each in the framework it is for, with that framework's own fake model"
	@echo "make coverage  the tests again, with the lines that none of them reached"
	@echo "make bench     what a step costs: a table here, JSON in build/bench.json"
	@echo "make house     the state of the code against its goals: a table"
	@echo "make docs      write the generated parts of docs/ again, and draw the pictures"
	@echo "make packages  write packages/ again: what agents install with their own commands"
	@echo "make lock      resolve the development requirements again"
	@echo "make release   with VERSION=1.2.3: cut the changelog, and set the version"
	@echo "make release-check   the archives of the last commit: built, checked, installed, used"
	@echo "make clean     remove everything that make made"

run: $(RUN)
	@$(BIN)/punchlist demo $(ARGS)

test: $(DEV)
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

torture: $(DEV)
	EXAMPLES=$${EXAMPLES:-1} $(BIN)/python -m pytest -n auto --dist worksteal -m "torture or (hypothesis and not clients)" $(ARGS)

# The agents take more than a gigabyte: they stay where they are once they are there.
CLIENTS ?= $(or $(PUNCHLIST_TEST_CLIENTS),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/punchlist/clients)

clients: $(DEV)
	@$(BIN)/python -m tests.clients.fetch $(CLIENTS)
	PUNCHLIST_TEST_CLIENTS=$(abspath $(CLIENTS)) $(BIN)/python -m pytest -n auto --dist worksteal -m clients tests/clients $(ARGS)

# The same, attached with the packages and the agents' own commands.
packaged-clients: $(DEV)
	@$(BIN)/python -m tests.clients.fetch $(CLIENTS)
	PUNCHLIST_TEST_VIA=package PUNCHLIST_TEST_CLIENTS=$(abspath $(CLIENTS)) \
		$(BIN)/python -m pytest -n auto --dist worksteal -m "clients and not settings" tests/clients $(ARGS)

# A framework that cannot be installed here is named, and its tests are left out. What needs Claude Code itself uses that
# of `make clients`, if it is there.
frameworks: $(FRAMEWORKS)
	$(dir $<)bin/mypy --strict --config-file tests/frameworks/mypy.ini src/punchlist/adapters tests/frameworks examples \
		bench/frameworks
	PUNCHLIST_TEST_FRAMEWORKS=1 PUNCHLIST_TEST_CLIENTS=$(abspath $(wildcard $(CLIENTS))) \
		$(dir $<)bin/python -m pytest -o filterwarnings=default -n auto --dist worksteal \
		tests/frameworks $(ARGS)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src tests bench release

coverage: $(DEV)
	@rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/coverage run -m pytest -n auto -q $(ARGS)
	@$(BIN)/coverage combine -q && $(BIN)/coverage report

# All parts if ARGS names none. Only that of the adapters needs the frameworks.
bench: $(BENCH) $(if $(findstring frameworks,$(or $(ARGS),frameworks)),$(FRAMEWORKS))
	@$(BIN)/python -m bench --json build/bench.json $(ARGS)

house: $(DEV)
	@$(BIN)/python -m bench.house $(ARGS)

docs: pictures
	$(BIN)/python docs/reference.py --write

packages: $(DEV)
	@$(BIN)/python -c 'from punchlist.install.packages import write_all; write_all(".")'

pictures: $(DEV)
	$(BIN)/python docs/pictures.py

lock:
	@$(PYTHON) -m venv build/uv && build/uv/bin/python -m pip install -qq --disable-pip-version-check uv
	build/uv/bin/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make lock" requirements-dev.in -o requirements-dev.txt
	build/uv/bin/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-deps \
		--custom-compile-command "make lock" requirements-bench.in -o requirements-bench.txt
	build/uv/bin/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes -c requirements-dev.txt \
		--custom-compile-command "make lock" requirements-release.in -o requirements-release.txt
	build/uv/bin/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make lock" requirements-frameworks.in -o requirements-frameworks.txt

release-check: $(RELEASE)
	@$(BIN)/python -m release check

release:
	@$(PYTHON) -m release cut '$(VERSION)'

clean:
	rm -rf .venv .venv-* build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests bench release -name __pycache__ -prune -exec rm -rf {} +

$(MADE):
	@test "$(TAG)" != none || { \
		echo "punchlist needs Python 3.11 or newer, and $(PYTHON) is not: $$($(PYTHON) -V 2>&1 | head -n 1)" >&2; \
		echo "name one that you have: make run PYTHON=python3.13" >&2; exit 1; }
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "$(PYTHON) cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@touch $@

# A command for people, and a shell for paths with blanks in them.
define COMMAND
#!/bin/sh
'''exec' '$(subst ','\'',$(abspath $(BIN)))/python' "$$0" "$$@"
' '''
import sys
from punchlist.cli import main
sys.exit(main())
endef
export COMMAND

# The package as it is in src: no network, and nothing to build. A venv set up for tests has it already.
$(RUN): $(MADE)
	@test -e $(DEV) || { \
		$(BIN)/python -c 'import os, sysconfig; os.chdir("src"); \
			open(sysconfig.get_path("purelib") + "/punchlist-src.pth", "w").write(os.getcwd() + "\n")' && \
		printf '%s\n' "$$COMMAND" > $(BIN)/punchlist && chmod +x $(BIN)/punchlist && \
		$(BIN)/python -m compileall -q src; }
	@touch $@

$(DEV): $(MADE) pyproject.toml requirements-dev.txt
	@$(PIP) install --require-hashes -r requirements-dev.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

$(BENCH): $(DEV) requirements-bench.txt
	@$(PIP) install --no-deps --no-compile --require-hashes -r requirements-bench.txt
	@touch $@

# The frameworks do not agree with the tools of the other tests on every version.
$(FRAMEWORKS): requirements-frameworks.txt | $(MADE)
	@rm -rf $(dir $@) && $(BIN)/python -m venv $(dir $@)
	@$(dir $@)bin/python tests/frameworks/fetch.py requirements-frameworks.txt
	@$(dir $@)bin/python -m pip -qq --disable-pip-version-check install --no-deps --no-build-isolation -e .
	@touch $@

$(RELEASE): $(DEV) requirements-release.txt
	@$(PIP) install --require-hashes -r requirements-release.txt
	@touch $@
