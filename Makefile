# Each target sets up all it needs: a virtual environment, the compiled core, the packages.
VENV ?= .venv
PYTHON ?= python3
PY := $(VENV)/bin/python
CARGO ?= cargo
LOWEST := $(VENV)/lowest
PEERS := $(VENV)/peers
# All of them but spark, which is large and which only its own tests need.
EXTRAS := obo,rdf,icd,polars,report,tables,cli
comma := ,

.DEFAULT_GOAL := help
.PHONY: help build demo test test-lowest lint format bench study docs wheel coverage fuzz clean

help: ## Show what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade pip 'maturin>=1.9,<2'
	touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	$(PY) -m pip install --quiet --group test --group spark --group lint --group docs
	touch $@

# The lowest versions that pyproject.toml allows, and that this Python can install without compiling them.
$(LOWEST)/.made: $(VENV)/.made pyproject.toml
	$(PY) -m pip install --quiet uv
	$(VENV)/bin/uv venv --quiet --clear --python $(PY) $(LOWEST)
	$(VENV)/bin/uv pip compile --quiet --python $(LOWEST)/bin/python --resolution lowest-direct --only-binary :all: \
		$(foreach extra,$(subst $(comma), ,$(EXTRAS)),--extra $(extra)) --group test --output-file $(LOWEST)/versions.txt pyproject.toml
	$(VENV)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --requirement $(LOWEST)/versions.txt
	touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml
	$(PY) -m pip install --quiet --group test --group bench
	touch $@

$(VENV)/.wheel: $(VENV)/.made pyproject.toml
	$(PY) -m pip install --quiet --group wheel
	touch $@

# Other tools, which studies compare with; their needs are not ours.
$(PEERS)/.made:
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet pycanon microagg1d
	touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml
	$(PY) -m pip install --quiet --group docs
	touch $@

build: $(VENV)/.made ## Compile in release mode and install into the virtual environment
	VIRTUAL_ENV=$(abspath $(VENV)) $(VENV)/bin/maturin develop --release --quiet --extras $(EXTRAS)

demo: build ## Protect synthetic discharges and baskets, audit both, and write a report
	$(PY) -m nominym demo --out out/demo --overwrite

test: build $(VENV)/.test lint test-lowest ## Run every check and every test
	$(CARGO) test --quiet --package nominym-core
	$(PY) -m pytest --numprocesses logical --dist loadgroup

test-lowest: build $(LOWEST)/.made ## Run the tests of tables, files and reports with the lowest versions allowed
	PYTHONPATH=$(abspath python) $(LOWEST)/bin/python -m pytest --quiet --numprocesses logical \
		tests/table tests/meaning tests/noise/test_noise.py tests/swap/test_kept_columns.py \
		tests/itemsets --ignore tests/itemsets/test_recode.py --ignore tests/itemsets/test_concepts.py \
		tests/release/test_tables.py tests/release/test_publish.py tests/report tests/cli/test_release_commands.py

lint: build $(VENV)/.test ## Check style and types
	$(CARGO) fmt --check
	$(CARGO) clippy --quiet --all-targets -- --deny warnings
	$(PY) -m ruff check --quiet
	$(PY) -m ruff format --check --quiet
	$(PY) -m mypy
	$(PY) -m mypy.stubtest nominym._core

format: $(VENV)/.test ## Bring all code into shape
	$(CARGO) fmt
	$(PY) -m ruff check --fix --quiet
	$(PY) -m ruff format --quiet

bench: build $(VENV)/.bench ## Run the benchmarks and write docs/benchmarks.md
	$(PY) -m pytest benches --benchmark-only --benchmark-json=out/benchmarks.json
	$(PY) benches/report.py out/benchmarks.json docs
	$(PY) benches/instructions.py

study: build $(VENV)/.bench $(PEERS)/.made ## Repeat published tables and mask real diagnoses; writes docs/*-study.md, docs/reproduction.md and the tables of docs/guarantees.md; RESUME=1 goes on
	NOMINYM_PEERS=$(abspath $(PEERS)/bin/python) $(PY) benches/study.py docs $(if $(RESUME),--resume)

wheel: $(VENV)/.wheel ## Build sdist and wheel for Linux into out/dist, check them, and run the quick start in a fresh environment
	rm -rf out/dist
	PATH="$(abspath $(VENV))/bin:$$PATH" $(VENV)/bin/maturin build --release --locked --zig --compatibility manylinux_2_28 --out out/dist
	$(VENV)/bin/maturin sdist --out out/dist
	$(VENV)/bin/twine check --strict out/dist/*
	NOMINYM_WHEEL="$$(ls $(CURDIR)/out/dist/*.whl)" $(PY) -m pytest --quiet --noconftest --override-ini filterwarnings= tests/test_wheel.py

coverage: build $(VENV)/.test ## Show which lines of the Python package the tests run
	$(PY) -m pip install --quiet 'pytest-cov>=6'
	$(PY) -m pytest --quiet --numprocesses logical tests --cov=nominym --cov-report=term --cov-report=html:out/coverage

fuzz: build $(VENV)/.test ## Feed damaged files to every reader, for SECONDS (60)
	$(PY) benches/fuzz.py $(or $(SECONDS),60)

docs: build $(VENV)/.docs ## Build the documentation into out/site; a warning fails
	$(PY) -m mkdocs build --quiet --strict

clean: ## Remove everything that was made
	rm -rf $(VENV) target out
	find python -name '*.so' -delete
