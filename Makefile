# Everything runs inside .venv, which is made here from the locked requirements.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
LOWEST := build/lowest
LOCKED := install --require-hashes --only-binary :all:

# Commands and tests start hundreds of processes: each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-lowest test-slow test-faults test-faults-quick test-browser r-page quick quick-mutants test-spark test-spark-contract test-spark-smoke test-slow-core test-browser-smoke nightly called touched mutants audit check style types layers lints environment docs schemas pictures paper
.PHONY: bench bench-small bench-spark bench-noise bench-households bench-foreign bench-release bench-explorer bench-site bench-compare
.PHONY: lock check-wheels bill outlines audit-dependencies readme dist test-install test-sdist release release-ready clean help

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

demo: $(VENV)/.runtime ## the whole tour on synthetic people: site, explorer, report; OPEN=1 opens a browser
	$(BIN)/safetab demo build/demo --overwrite $(if $(OPEN),--open)
	@echo "Two other censuses: $(BIN)/safetab demo build/nz --census nz, and $(BIN)/safetab demo build/ons --census ons"

# How many tests run at once, and whether a suite is run whole or as by day.
WORKERS ?= 2
ALL ?=
PYTEST := -m pytest -n $(WORKERS) --dist loadfile -q

test: $(VENV)/.dev ## the default test suite; ORDER=N in a random order
	$(BIN)/python $(PYTEST) $(if $(ORDER),--order $(ORDER))

# What other versions of NumPy, Arrow and numba can change.
LOWEST_TESTS := tests/engines tests/property $(patsubst %,tests/unit/test_%.py,arrays compiled loops mechanisms noise_distributions \
	outputs parquet_batches text_batches text_columns text_tables weighted_sums) $(patsubst %,tests/system/test_%.py, \
	numbers_of_a_key release release_folder runs_without_noise stored_formats)
ROOMS := tests/unit tests/engines tests/property $(patsubst %,tests/system/test_%.py,command_line data_users households \
	numbers_of_a_key release runs_without_noise terminal words_of_a_product)
test-lowest: $(LOWEST)/.ready ## tests with the lowest versions that pyproject.toml allows, in a venv of their own; ALL=1 for more
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/numba $(LOWEST)/bin/python $(PYTEST) \
		$(if $(ALL),$(ROOMS) --ignore tests/unit/comparison,$(LOWEST_TESTS))

# build/called: which functions each file of tests calls.
called: $(VENV)/.dev ## the map from tests to the program, for `make touched` and `make mutants`; half an hour
	rm -rf build/called
	$(BIN)/python $(PYTEST) -p tools.called

quick: $(VENV)/.dev ## the tests of tests/quick.txt, which find most faults of the core: a minute
	$(BIN)/python $(PYTEST) @tests/quick.txt

touched: $(VENV)/.dev ## the tests that call what was changed since SINCE=COMMIT, the last one if not given; needs `make called`
	$(BIN)/python $(PYTEST) $$($(BIN)/python -m tools.touched $(SINCE))

mutants: $(VENV)/.dev ## small faults in the core, COUNT=N of them chosen by SEED=N: which do the tests see? needs `make called`
	$(BIN)/python -m tools.mutate --count $(or $(COUNT),300) --seed $(or $(SEED),1)

quick-mutants: $(VENV)/.dev ## whether `make quick` still finds nine in ten of tools/mutate/fixed.txt
	$(BIN)/python -m tools.mutate --list tools/mutate/fixed.txt --tests @tests/quick.txt --least 0.9

test-slow: $(VENV)/.dev ## what takes seconds a test: accuracy, CEF, same bytes, planted bugs, a thousand million draws
	$(BIN)/python $(PYTEST) -m slow tests

# By day, of what guards privacy and accounts: 8 cases of each test, spread over all.
SLOW_CORE := tests/engines tests/exhaustive $(patsubst %,tests/system/test_%.py,accounts_during_a_run coterminous exit_codes \
	hardening households killed_runs numbers_of_a_key planted_bugs planted_bugs_of_numbers release_rules repeated_runs rerelease \
	runs_without_noise same_bytes small_runs verify what_was_spent)
test-slow-core: $(VENV)/.dev ## the core of test-slow: planted bugs of each kind, same bytes, killed runs, what was spent
	$(BIN)/python $(PYTEST) -m slow --cases 8 $(SLOW_CORE)

test-browser: $(VENV)/.dev ## the pages in headless Chromium: wide, narrow, dark, printed, and their numbers; the workbook
	$(BIN)/python $(PYTEST) -m browser tests/browser

# Each page opens, has no fault of axe, and shows Python's numbers.
BROWSER_SMOKE := axe or pythons or loads_from_a_file or open_release or unknown_table or without_eyes or read_on_every_screen \
	or names_of_a_release or libreoffice_computes or how_tos
test-browser-smoke: $(VENV)/.dev ## of test-browser, two cases of what shows that each page works
	$(BIN)/python $(PYTEST) -m browser --cases 2 -k "$(BROWSER_SMOKE)" tests/browser

r-page: $(VENV)/.dev ## the code of docs/how-to/in-r.md, where R is installed (Debian: r-base-core)
	$(BIN)/python -m pytest -q -m browser tests/browser/test_page_in_r.py

test-faults: $(VENV)/.dev ## kills, errors, mutated inputs, damaged releases, want of memory, races: half an hour; SEED=N, WORKERS=N
	$(BIN)/python -m tests.faults $(if $(SEED),--seed $(SEED)) --workers $(WORKERS)

test-faults-quick: $(VENV)/.dev ## a slice of them, the same each time: a minute
	$(BIN)/python -m tests.faults --seed 1 --share 0.01 --workers $(WORKERS)

test-spark: $(VENV)/.spark ## the Spark engine, also on a cluster of three processes; brings its own Java
	$(BIN)/python $(PYTEST) -m spark tests/engines tests/system tests/unit

test-spark-contract: $(VENV)/.spark ## of test-spark, what every engine must do, and a whole run
	$(BIN)/python $(PYTEST) -m spark --cases 8 tests/engines $(SPARK_SMOKE)

SPARK_SMOKE := tests/system/test_spark_runs.py::test_a_local_run_writes_the_same_bytes_and_leaves_nothing
test-spark-smoke: $(VENV)/.spark ## of test-spark, one whole run
	$(BIN)/python -m pytest -q -m spark $(SPARK_SMOKE)

audit: $(VENV)/.runtime ## try to break the program's own claims; some minutes, QUICK=1 for one
	$(BIN)/safetab audit $(if $(QUICK),--quick)

nightly: export NIGHT := $(or $(NIGHT),$(shell date +%s))
nightly: export ALL := 1
nightly: ## everything, with new random worlds; NIGHT=N repeats those of another night; hours
	@echo "The worlds of this night: make nightly NIGHT=$$NIGHT"
	$(MAKE) check docs
	$(MAKE) test ORDER=$$NIGHT
	$(MAKE) test-slow test-lowest test-install test-sdist
	$(MAKE) test-faults SEED=$$NIGHT
	$(MAKE) called
	$(MAKE) mutants SEED=$$NIGHT
	$(MAKE) quick-mutants
	$(MAKE) audit
	$(MAKE) test-browser
	$(MAKE) test-spark

docs: $(VENV)/.docs ## the documentation as one site that needs no internet: build/docs/index.html
	$(BIN)/python -m docs.site

schemas: $(VENV)/.dev ## docs/specification.md and the JSON Schemas, from the declared keys
	$(BIN)/python -m docs.generated

pictures: demo $(VENV)/.dev ## the pictures of the README and the how-tos, from the demos; needs chromium and jq
	$(BIN)/safetab demo build/nz --census nz --overwrite
	$(BIN)/safetab compare build/demo/parameters build/demo/data build/compare --runs 2 --overwrite
	$(BIN)/python -m docs.pictures

check: style types layers lints ## format, lint, types, layers, and the tests of the texts in the source tree

style: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

lints: $(VENV)/.dev
	$(BIN)/python -m pytest -q tests/lint

environment: $(VENV)/.dev $(VENV)/.docs ## .venv with all that checks, tests and documentation need, so that nothing is installed while tests run

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock requirements-build.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) $(LOCKED) -r requirements.lock -r requirements-build.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	$(PIP) $(LOCKED) -r requirements-dev.lock
	touch $@

$(LOWEST)/.ready: requirements-lowest.lock pyproject.toml
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip --disable-pip-version-check -q $(LOCKED) -r requirements-lowest.lock
	$(LOWEST)/bin/python -m pip --disable-pip-version-check -q install --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.spark: requirements-spark.lock $(VENV)/.dev
	$(PIP) $(LOCKED) --no-binary pyspark -r requirements-spark.lock
	touch $@

$(VENV)/.docs: requirements-docs.lock $(VENV)/.runtime
	$(PIP) $(LOCKED) -r requirements-docs.lock
	touch $@

bench: $(VENV)/.dev ## how cost grows: writes docs/benchmarks.md; half an hour, BENCH_FULL=1 for the whole nation
	$(BIN)/python -m benchmarks.growth
	$(BIN)/python -m benchmarks.households

bench-small: $(VENV)/.dev ## a hundred thousand and a million people beside plain reading and plain SQL; minutes
	$(BIN)/python -m benchmarks.small

bench-households: $(VENV)/.dev ## households beside the people they fit; BENCH_PEOPLE=N
	$(BIN)/python -m benchmarks.households

bench-foreign: $(VENV)/.dev ## a census of texts beside a U.S. one of as many people, areas and groups
	$(BIN)/python -m benchmarks.foreign

bench-noise: $(VENV)/.dev ## draws a second beside OpenDP, in one run
	$(BIN)/python -m benchmarks.noise

bench-release: $(VENV)/.dev ## rows a second and memory of a release of national size
	$(BIN)/python -m benchmarks.release

bench-explorer: $(VENV)/.dev ## how long the explorer's page takes to answer; needs chromium
	$(BIN)/python -m benchmarks.explorer

bench-site: $(VENV)/.dev ## the web site of a release of national size: time, memory, files
	$(BIN)/python -m benchmarks.site

bench-compare: $(VENV)/.dev ## a comparison of a nation beside its accuracy, and of a county under attack; PEOPLE=N
	$(BIN)/python -m benchmarks.comparison $(PEOPLE)

paper: $(VENV)/.dev ## the paper's tables and figures: writes docs/the-paper-reproduced.md
	$(BIN)/python -m reproduction

bench-spark: $(VENV)/.spark ## Spark beside the local engine on the same files: the last section of docs/benchmarks.md
	$(BIN)/python -m benchmarks.spark

COMPILE := uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url
lock: ## renew the lock files; needs uv, which the project itself doesn't
	$(COMPILE) pyproject.toml -o requirements.lock
	$(COMPILE) --group build -o requirements-build.lock
	$(COMPILE) pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock
	$(COMPILE) --group spark -c requirements-dev.lock -o requirements-spark.lock
	$(COMPILE) --group docs -c requirements-dev.lock -o requirements-docs.lock
	mkdir -p build
	$(COMPILE) --resolution lowest-direct pyproject.toml -o build/lowest-bounds.txt
	cp requirements-dev.lock requirements-lowest.lock # tests and checks in their locked versions, where these fit
	$(COMPILE) pyproject.toml --group dev -c build/lowest-bounds.txt -o requirements-lowest.lock

check-wheels: $(VENV)/.dev ## every locked package has a wheel for each Python and processor; needs uv
	$(BIN)/python -m supply_chain.wheels

bill: $(VENV)/.dev ## the licences of all locked packages, and the bill of materials that the wheel carries
	$(BIN)/python -m supply_chain.licences
	$(BIN)/python -m supply_chain.bill

outlines: $(VENV)/.dev ## the outlines for maps that the program carries; US_ATLAS=the unpacked npm package us-atlas
	$(BIN)/python -m supply_chain.outlines $(US_ATLAS)

audit-dependencies: $(VENV)/.dev ## known faults of the locked versions; without internet, OSV_ZIP=a copy of the database
	$(BIN)/python -m supply_chain.faults

dist: $(VENV)/.dev ## wheel and source archive of the last commit in build/dist, built twice and compared
	$(BIN)/python -m supply_chain.archives

readme: $(VENV)/.dev ## the page of a package index, from README.md
	$(BIN)/python -m supply_chain.readme

test-install: dist ## the wheel in an empty venv: installed offline, tried, uninstalled without a trace; ALL=1 for each Python here
	$(BIN)/python -m supply_chain.installation $(if $(ALL),--all)

# One test or two of each room, on what the archive's wheel installs.
SDIST_TESTS := tests/unit/test_public_functions.py $(patsubst %,tests/system/test_%.py,numbers_of_a_key stored_formats words_of_a_product)
test-sdist: dist ## the unpacked source archive makes the same wheel, has all tests, and passes some of them; ALL=1 for more
	$(BIN)/python -m supply_chain.source_archive $(if $(ALL),$(ROOMS) tests/lint,$(SDIST_TESTS))

release: export ALL := 1
release-ready: $(VENV)/.dev
	$(BIN)/python -m supply_chain.release --ready

release: release-ready check test test-install test-sdist ## all that comes before an upload: build/release, and what is left to do by hand
	$(BIN)/python -m supply_chain.release

clean:
	rm -rf $(VENV) $(LOWEST)
