# make play      set everything up and play          make test       set everything up and pass every test
# make build     compile after a change of C++       make check      formatters, linters and types alone
# make format    rewrite with the formatters         make sanitize   the C++ core under the sanitizers
# make goldens   make what tests compare with anew  make wheel      a package to install elsewhere

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
CPP    := $(shell find cpp examples -name '*.hpp' -o -name '*.cpp')
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)

export PATH := $(CURDIR)/$(BIN):$(PATH)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)

.PHONY: play test build check format sanitize goldens wheel clean

play: build
	@$(BIN)/tesuji play $(GAME)

test: $(VENV)/test-ready build check sanitize
	$(BIN)/python -m pytest -n $$(($(JOBS) + 1)) --dist loadfile --no-loadscope-reorder  # one more: some wait for others

build: $(VENV)/built

check: $(VENV)/test-ready build
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/mypy

format: $(VENV)/test-ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

sanitize: $(VENV)/ready
	$(BIN)/cmake -S . -B build/sanitize -G Ninja -DTESUJI_SANITIZE=ON -DTESUJI_PYTHON=OFF > build/sanitize.log
	$(BIN)/cmake --build build/sanitize --target tesuji_check >> build/sanitize.log || (cat build/sanitize.log; false)
	build/sanitize/tesuji_check

goldens: build
	for game in $$($(BIN)/tesuji games | tail -n +2 | cut -d' ' -f1); do $(BIN)/tesuji playthrough $$game > tests/playthroughs/$$game.txt; done
	$(BIN)/tesuji bench signature > tests/signature.txt
	$(BIN)/python -m nanobind.stubgen -q -m tesuji._core -o src/tesuji/_core.pyi

wheel: $(VENV)/ready
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps -w dist .

clean:
	rm -rf $(VENV) build dist

# ── Set-up. Each file here is a stage that was reached. ──

$(VENV)/ready: constraints.txt tools/system
	tools/system $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	mkdir -p build
	$(PIP) scikit-build-core nanobind cmake ninja numpy onnxruntime rich starlette typer uvicorn websockets
	touch $@

$(VENV)/built: $(VENV)/ready $(CPP) CMakeLists.txt pyproject.toml
	$(PIP) --no-build-isolation --no-deps --editable .
	touch $@

$(VENV)/test-ready: $(VENV)/built
	tools/system $(PYTHON) test
	$(PIP) --no-build-isolation --editable '.[test,dev]'
	touch $@
