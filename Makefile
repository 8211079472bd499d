# Everything here works from a fresh checkout: what a target needs is set up first, in .venv.
PYTHON ?= python3
WORKERS ?= 2
PYTEST_ARGS ?=

BIN := .venv/bin
RUN_TIME := .venv/run-time.stamp
DEVELOPMENT := .venv/development.stamp

.PHONY: help demo dashboard test coverage check format bench system clean

help:
	@echo "make demo       record a ResNet-50's freeze and write its report, in demo/"
	@echo "make dashboard  open the dashboard in the browser"
	@echo "make test       run every test (WORKERS=2 PYTEST_ARGS=...)"
	@echo "make coverage   run the tests of the engine and the views, and hold their coverage against its floor"
	@echo "make check      linter, formatter and type checker"
	@echo "make format     let the formatter and the linter change what they can"
	@echo "make bench      print the benchmark"
	@echo "make system     install Chromium, Graphviz and bubblewrap, where they are missing"
	@echo "make clean      remove all that was made here, except .venv"

demo: $(RUN_TIME)
	mkdir -p demo
	$(BIN)/freezer-ui record example:resnet50 --input 1x3x224x224 -o demo/resnet50.fztrace
	$(BIN)/freezer-ui report demo/resnet50.fztrace -o demo/resnet50.html
	@echo "Open $(CURDIR)/demo/resnet50.html in a browser."

dashboard: $(RUN_TIME)
	$(BIN)/freezer-ui

# One torch thread for each worker, or the workers would fight for the cores. The tests of a file stay together, so that
# the recordings, servers and pages that they share are made once, and not once in each worker.
test: $(DEVELOPMENT) system
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --max-worker-restart 1 $(PYTEST_ARGS)

# Apart from `make test`, which it would slow down to less than half its pace.
coverage: $(DEVELOPMENT) system
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --cov --cov-report=term:skip-covered \
		tests/unit tests/torch $(PYTEST_ARGS)

check: $(DEVELOPMENT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEVELOPMENT)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(RUN_TIME)
	$(BIN)/python -m benchmarks

# Debian's packages, only where something is missing and this may install it; the tests say what they lack.
system:
	@missing=""; \
	command -v chromium > /dev/null || missing="$$missing chromium"; \
	command -v dot > /dev/null || missing="$$missing graphviz"; \
	command -v bwrap > /dev/null || missing="$$missing bubblewrap"; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing; \
	else \
		echo "Missing:$$missing. Install it as your system does; on Debian: sudo apt-get install$$missing" >&2; \
	fi

clean:
	rm -rf demo build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv .venv

$(RUN_TIME): $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing into .venv. torch is a large download: this can take some minutes."
	$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	touch $@

$(DEVELOPMENT): $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[test,dev,notebook]"
	touch $@
