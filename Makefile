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
	$(VENV)/bin/tauten compare sms_spam -l perceptron,pa1:C=0.1,arow-diag:r=4,scw1-diag --plot sms_compare.png
	$(VENV)/bin/tauten ask sms_spam -l paa1,rpa1,pea -p C=0.1 --plot sms_asking.png
	@echo "Pictures: sms_compare.png (error so far), sms_asking.png (F1 against the share of labels asked)"

bench: $(VENV)/ready
	$(RUN) pip install --quiet --group bench
	$(VENV)/bin/python bench/speed.py
	$(VENV)/bin/python bench/second_order.py
	$(VENV)/bin/python bench/maxout.py
	$(VENV)/bin/python bench/asking.py
	$(VENV)/bin/python bench/files.py
	$(VENV)/bin/python bench/metric.py
	$(VENV)/bin/python bench/budget.py
	$(VENV)/bin/python bench/maps.py

format: $(VENV)/ready
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

# numba's cache looks at the file of a loop only: after a change to what it calls in another file, clean.
clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
