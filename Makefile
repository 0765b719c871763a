# Everything runs inside .venv, which is made here from the locked requirements.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
LOWEST := build/lowest
LOCKED := install --require-hashes --only-binary :all:

# Commands and tests start hundreds of processes: each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-lowest test-slow test-faults test-faults-quick test-browser r-page test-spark audit check style types layers lints environment docs schemas pictures paper
.PHONY: bench bench-small bench-spark bench-noise bench-households bench-foreign bench-release bench-explorer bench-site bench-compare
.PHONY: lock check-wheels bill outlines audit-dependencies readme dist test-install test-sdist release release-ready clean help

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

demo: $(VENV)/.runtime ## the whole tour on synthetic people: site, explorer, report; OPEN=1 opens a browser
	$(BIN)/safetab demo build/demo --overwrite $(if $(OPEN),--open)
	@echo "Two other censuses: $(BIN)/safetab demo build/nz --census nz, and $(BIN)/safetab demo build/ons --census ons"

test: $(VENV)/.dev ## the default test suite
	$(BIN)/python -m pytest -n 2 -q

QUICK_TESTS := tests/unit tests/engines tests/property $(patsubst %,tests/system/test_%.py,command_line data_users \
	households numbers_of_a_key release runs_without_noise terminal words_of_a_product)
test-lowest: $(LOWEST)/.ready ## the quick tests with the lowest versions that pyproject.toml allows, in a venv of their own
	$(LOWEST)/bin/python -m pytest -n 2 -q $(QUICK_TESTS) --ignore tests/unit/comparison

test-slow: $(VENV)/.dev ## what takes seconds a test: accuracy, CEF, same bytes, planted bugs, a thousand million draws
	$(BIN)/python -m pytest -n 2 -q -m slow tests

test-browser: $(VENV)/.dev ## the pages in headless Chromium: wide, narrow, dark, printed, and their numbers; the workbook
	$(BIN)/python -m pytest -n 2 -q -m browser tests/browser

r-page: $(VENV)/.dev ## the code of docs/how-to/in-r.md, where R is installed (Debian: r-base-core)
	$(BIN)/python -m pytest -q -m browser tests/browser/test_page_in_r.py

test-faults: $(VENV)/.dev ## kills, errors, mutated inputs, damaged releases, want of memory, races: half an hour; SEED=N, WORKERS=N
	$(BIN)/python -m tests.faults $(if $(SEED),--seed $(SEED)) --workers $(or $(WORKERS),2)

test-faults-quick: $(VENV)/.dev ## a slice of them, the same each time: 3 minutes
	$(BIN)/python -m tests.faults --seed 1 --share 0.03

test-spark: $(VENV)/.spark ## the Spark engine, also on a cluster of three processes; brings its own Java
	$(BIN)/python -m pytest -n 2 --dist loadscope -q -m spark tests/engines tests/system tests/unit

audit: $(VENV)/.runtime ## try to break the program's own claims; some minutes, QUICK=1 for one
	$(BIN)/safetab audit $(if $(QUICK),--quick)

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

test-install: dist ## the wheel in an empty venv of each Python here: installed offline, tried, uninstalled without a trace
	$(BIN)/python -m supply_chain.installation

test-sdist: dist ## the quick tests of the unpacked source archive, on the wheel that it makes
	$(BIN)/python -m supply_chain.source_archive $(QUICK_TESTS)

release-ready: $(VENV)/.dev
	$(BIN)/python -m supply_chain.release --ready

release: release-ready check test test-install test-sdist ## all that comes before an upload: build/release, and what is left to do by hand
	$(BIN)/python -m supply_chain.release

clean:
	rm -rf $(VENV) $(LOWEST)
