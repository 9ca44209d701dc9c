# Everything runs in a virtual environment that these targets make and keep up to date themselves.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
# One way to call an installed tool, whatever the shell has on its path.
PY := $(BIN)/python

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/made:
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade pip
	touch $@

$(VENV)/test: $(VENV)/made pyproject.toml
	$(PY) -m pip install --quiet 'maturin>=1.9,<2'
	touch $@

.PHONY: build
build: $(VENV)/test ## Compile in release mode and install into the virtual environment
	. $(BIN)/activate && maturin develop --release --quiet
