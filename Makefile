# Gapless: `make demo` shows what it does, `make test` proves that it works. Both install what they need into .venv of
# this folder and nothing else of yours; the second time they need no network. `make clean` undoes them.
#
#   make PYTHON=python3.12 test     another Python (3.10 to 3.14); without it .venv stays with the one it has
#   make test PYTEST="-k conf -x"   arguments for pytest

PYTHON ?=
PYTEST ?=
BIN := .venv/bin
export PYTHON

.DEFAULT_GOAL := help
.PHONY: help demo test test-releases test-virtual bench fuzz build lint format golden stub wheel clean ready-to-run ready-to-test

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|' 2>/dev/null || cat Makefile

demo: ready-to-run ## Explain a real out-of-memory recording and prove the fix, no GPU needed
	@$(BIN)/python examples/demo.py

test: lint ## Lint, then every test
	@$(BIN)/python -m tests.differential.build --newest || true
	@$(BIN)/python -m tests.virtual.environments || true
	@$(BIN)/python -m pytest $(PYTEST)

test-releases: ready-to-test ## Our allocator against the real one of every release (10 GB the first time)
	@$(BIN)/python -m tests.differential.run_all

test-virtual: ready-to-test ## The virtual GPU with every release of PyTorch that it serves (7 GB of downloads)
	@$(BIN)/python -m tests.virtual.run_all

bench: ready-to-test ## Speed against peers, ratios in one run
	@$(BIN)/python -m benchmarks

fuzz: ready-to-run ## Fuzz decoder and replay: make fuzz RUNS=1000000 NAME=snapshot (needs clang)
	@scripts/fuzz.sh $(NAME)

build: ready-to-run ## Build the C++ core and install Gapless into .venv

lint: ready-to-test ## ruff, mypy, clang-format: report only
	@scripts/lint.sh check

format: ready-to-test ## ruff and clang-format: rewrite files
	@scripts/lint.sh format

golden: ready-to-test ## Write the texts that tests/golden expects anew, after a change of words
	@$(BIN)/python -m tests.golden.texts && git diff --stat -- tests/golden

stub: ready-to-test ## Write _core.pyi anew, after a change of bindings/
	@scripts/stub.sh

wheel: ready-to-test ## Build a wheel into dist/ and try it where no compiler is
	@$(BIN)/python scripts/check_wheel.py

clean: ## Remove all that the other targets made
	@scripts/clean.sh

ready-to-run:
	@scripts/bootstrap.sh run

ready-to-test:
	@scripts/bootstrap.sh test
