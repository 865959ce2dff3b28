.PHONY: setup demo test check bench lock

setup: .venv/.main

demo: .venv/.main
	.venv/bin/fourhands demo

test: .venv/.dev
	.venv/bin/pytest -n 2 --dist loadfile

check: .venv/.dev
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports --no-logo

bench: .venv/.dev
	.venv/bin/python benchmarks/run.py

.venv/.main: requirements/main.txt pyproject.toml tools/setup
	tools/setup requirements/main.txt
	touch $@

.venv/.dev: requirements/dev.txt pyproject.toml tools/setup
	tools/setup requirements/dev.txt
	touch .venv/.main $@

# Resolve anew; needs uv. No index host may stand in a lock: a test refuses one.
COMPILE = uv pip compile --quiet --generate-hashes --no-header --no-annotate --python-version 3.12 --python-platform linux
RELOCK = rm -f package-lock.json && npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved
lock:
	$(COMPILE) pyproject.toml --group build -o requirements/main.txt
	$(COMPILE) pyproject.toml --group dev -o requirements/dev.txt
	$(COMPILE) src/fourhands/engine/agents/mini-swe-agent.in -o src/fourhands/engine/agents/mini-swe-agent.txt
	$(COMPILE) --overrides src/fourhands/engine/agents/openhands-sdk.overrides src/fourhands/engine/agents/openhands-sdk.in -o src/fourhands/engine/agents/openhands-sdk.txt
	for lock in src/fourhands/engine/agents/locks/*/package.json; do (cd $$(dirname $$lock) && $(RELOCK)) || exit 1; done
