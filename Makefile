# Everything runs inside .venv, which is made here from the locked requirements. Programs for one purpose: tools/README.md.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
LOWEST := build/lowest
LOCKED := install --require-hashes --only-binary :all:

# How many tests run at once, and whether a suite is run whole or as by day. Which tests are in a part: tests/PART.txt.
WORKERS ?= 2
ALL ?=
export WORKERS
PYTEST := -m pytest -n $(WORKERS) --dist loadfile -q

# Commands and tests start hundreds of processes: each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo environment check quick touched test test-slow test-faults test-browser test-spark audit docs dist release nightly
.PHONY: style types layers lints test-slow-core test-faults-quick test-browser-smoke test-spark-smoke test-spark-contract
.PHONY: test-lowest test-install test-sdist clean

help:
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

demo: $(VENV)/.runtime ## the whole tour on synthetic people: site, explorer, report; OPEN=1 opens a browser
	$(BIN)/safetab demo build/demo --overwrite $(if $(OPEN),--open)
	@echo "Two other censuses: $(BIN)/safetab demo build/nz --census nz, and $(BIN)/safetab demo build/ons --census ons"

environment: $(VENV)/.dev $(VENV)/.docs ## .venv with all that checks, tests and documentation need

check: style types layers lints ## format, lint, types, layers, and the tests of the texts in the source tree; 2 minutes

style: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

lints: $(VENV)/.dev
	$(BIN)/python -m pytest -q tests/lint

quick: $(VENV)/.dev ## the tests of tests/quick.txt, which find most faults of the core; a minute
	$(BIN)/python $(PYTEST) @tests/quick.txt

touched: $(VENV)/.dev ## the tests that call what was changed since SINCE=COMMIT; without the map of tools.called, all
	$(BIN)/python $(PYTEST) $$($(BIN)/python -m tools.touched $(SINCE))

test: $(VENV)/.dev ## the default test suite, ORDER=N in a random order; 3 minutes
	$(BIN)/python $(PYTEST) $(if $(ORDER),--order $(ORDER))

test-slow: $(VENV)/.dev ## accuracy, CEF, same bytes, planted bugs, a thousand million draws; 15 minutes
	$(BIN)/python $(PYTEST) -m "slow and not spark" tests

test-slow-core: $(VENV)/.dev # of what guards privacy and accounts, 8 cases of each test, spread over all
	$(BIN)/python $(PYTEST) -m "slow and not spark" --cases 8 @tests/slow-core.txt

test-faults: $(VENV)/.dev ## kills, errors, mutated inputs, damaged releases, races, SEED=N; half an hour
	$(BIN)/python -m tests.faults $(if $(SEED),--seed $(SEED)) --workers $(WORKERS)

test-faults-quick: $(VENV)/.dev # a slice of them, the same each time
	$(BIN)/python -m tests.faults --seed 1 --share 0.01 --workers $(WORKERS)

test-browser: $(VENV)/.dev ## the pages in headless Chromium, and the workbook in LibreOffice; 12 minutes
	$(BIN)/python $(PYTEST) -m browser tests/browser

test-browser-smoke: $(VENV)/.dev # each page opens, has no fault of axe, and shows Python's numbers
	$(BIN)/python $(PYTEST) -m browser --cases 2 @tests/browser-smoke.txt

test-spark: $(VENV)/.spark ## the Spark engine, also on a cluster of three processes; brings its own Java; 13 minutes
	$(BIN)/python $(PYTEST) -m spark tests/engines tests/system tests/unit

SPARK_SMOKE := tests/system/runs/test_spark_runs.py::test_a_local_run_writes_the_same_bytes_and_leaves_nothing
test-spark-contract: $(VENV)/.spark # what every engine must do, and a whole run
	$(BIN)/python $(PYTEST) -m spark --cases 8 tests/engines $(SPARK_SMOKE)

test-spark-smoke: $(VENV)/.spark
	$(BIN)/python -m pytest -q -m spark $(SPARK_SMOKE)

# What other versions of NumPy, Arrow and numba can change.
test-lowest: $(LOWEST)/.ready
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/numba $(LOWEST)/bin/python $(PYTEST) \
		$(if $(ALL),@tests/rooms.txt --ignore tests/unit/apps/compare,@tests/lowest.txt)

audit: $(VENV)/.runtime ## try to break the program's own claims; 7 minutes, QUICK=1 for one
	$(BIN)/safetab audit $(if $(QUICK),--quick)

docs: $(VENV)/.docs ## the documentation as one site that needs no internet: build/docs/index.html; a minute
	$(BIN)/python -m tools.docs.site

dist: $(VENV)/.dev ## wheel and source archive of the last commit in build/dist, built twice and compared
	$(BIN)/python -m tools.supply_chain.archives

test-install: dist # the wheel in an empty environment
	$(BIN)/python -m tools.supply_chain.installation $(if $(ALL),--all)

test-sdist: dist
	$(BIN)/python -m tools.supply_chain.source_archive $(if $(ALL),@tests/rooms.txt tests/lint,@tests/sdist.txt)

release: $(VENV)/.dev ## all that comes before an upload: build/release, and what is left to do by hand
	$(BIN)/python -m tools.supply_chain.release --ready
	$(MAKE) check test test-install test-sdist ALL=1
	$(BIN)/python -m tools.supply_chain.release

nightly: export NIGHT := $(or $(NIGHT),$(shell date +%s))
nightly: ## everything, with new random worlds; NIGHT=N repeats those of another night; hours
	@echo "The worlds of this night: make nightly NIGHT=$$NIGHT"
	$(MAKE) check docs
	$(MAKE) test ORDER=$$NIGHT
	$(MAKE) test-slow test-lowest test-install test-sdist ALL=1
	$(MAKE) test-faults SEED=$$NIGHT
	$(BIN)/python -m tools.called
	$(BIN)/python -m tools.mutate --seed $$NIGHT
	$(BIN)/python -m tools.mutate --list tools/mutate/fixed.txt --tests @tests/quick.txt --least 0.9
	$(MAKE) audit
	$(MAKE) test-browser
	$(MAKE) test-spark

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock requirements-build.lock pyproject.toml | $(BIN)/python
	$(PIP) $(LOCKED) -r requirements.lock -r requirements-build.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	$(PIP) $(LOCKED) -r requirements-dev.lock
	touch $@

$(VENV)/.docs: requirements-docs.lock $(VENV)/.runtime
	$(PIP) $(LOCKED) -r requirements-docs.lock
	touch $@

$(VENV)/.spark: requirements-spark.lock $(VENV)/.dev
	$(PIP) $(LOCKED) --no-binary pyspark -r requirements-spark.lock
	touch $@

$(LOWEST)/.ready: requirements-lowest.lock pyproject.toml
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip --disable-pip-version-check -q $(LOCKED) -r requirements-lowest.lock
	$(LOWEST)/bin/python -m pip --disable-pip-version-check -q install --no-deps --no-build-isolation -e .
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST)
