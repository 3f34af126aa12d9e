# Everything sets itself up in .venv: a Python of 3.11 or later and make are all that is needed.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python -m

.PHONY: test demo bench lint format clean

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) pip install --quiet --upgrade "pip>=25.1"
	$(RUN) pip install --quiet --editable ".[plot]" --group test
	touch $@

test: lint
	$(RUN) pytest

lint: $(VENV)/ready
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(VENV)/bin/lint-imports --no-cache

demo: $(VENV)/ready
	$(VENV)/bin/python examples/sms_spam.py --plot sms_spam.png

bench: $(VENV)/ready
	$(RUN) pip install --quiet --group bench
	$(VENV)/bin/python bench/speed.py
	$(VENV)/bin/python bench/second_order.py
	$(VENV)/bin/python bench/maps.py

format: $(VENV)/ready
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

# numba's cache looks at the file of a loop only: after a change to what it calls in another file, clean.
clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
