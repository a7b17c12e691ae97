# Every target sets up what it needs; the first call installs, later ones start at once.
VENV := .venv
LOCK := requirements/dev.txt
READY := $(VENV)/.installed
PY := $(VENV)/bin/python

.PHONY: help demo test test-long test-real test-real-alone test-cluster real cluster-programs lint types simulate crashes bench crds manifests image format lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml $(LOCK) tools/bootstrap.sh
	@sh tools/bootstrap.sh $(VENV) $(LOCK)

demo: $(READY) ## watch the operator converge on an embedded Kubernetes
	@$(VENV)/bin/stateward demo

test: $(READY) ## lint, types and the tests that need nothing real
	@$(PY) tools/check.py lint types test

test-long: $(READY) ## what `make test` leaves out, since it shows by more examples what others show
	@$(PY) tools/check.py long

test-real: real ## the tests that ask a real Kubernetes, beside the embedded one
	@$(PY) tools/check.py real

test-real-alone: real ## the same without the embedded one, which `make test` asks
	@$(PY) tools/check.py real-alone

test-cluster: cluster-programs ## stories on three real nodes (Linux, root, containerd)
	@$(PY) tools/check.py cluster

real: $(READY) ## obtain the real programs that test-real asks, once per machine
	@$(PY) -m tools.real

cluster-programs: $(READY) ## obtain the programs of nodes as well, once per machine
	@$(PY) -m tools.real cluster

lint: $(READY) ## style and import contracts
	@$(PY) tools/check.py lint

types: $(READY) ## mypy, strict
	@$(PY) tools/check.py types

simulate: $(READY) ## what fits into 30 minutes of lives in which things go wrong
	@$(VENV)/bin/stateward simulate --minutes 30

crashes: $(READY) ## kill the operator of FoundationDB at every call of every story
	@STATEWARD_CRASHES=all $(PY) tools/check.py crashes

bench: $(READY) ## measure what the documentation claims
	@$(PY) -m tools.bench

manifests: crds ## write the generated parts of deploy/chart, and deploy/stateward.yaml from it
	@$(PY) -m tools.manifests

crds: $(READY) ## write deploy/crds from the Python types
	@$(VENV)/bin/stateward crds --out deploy/crds

image: $(READY) ## write the image as an archive, without a container daemon
	@$(PY) -m tools.image $(if $(PACKAGES),--packages $(PACKAGES))

format: $(READY) ## format the code
	@$(VENV)/bin/ruff format && $(VENV)/bin/ruff check --fix && echo "format: done"

lock: ## renew the lock files from pyproject.toml
	@sh tools/lock.sh

clean: ## remove what the targets above made here (CONTRIBUTING.md: the cache of make real)
	@rm -rf $(VENV) .venv-lock dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests tools -name __pycache__ -prune -exec rm -rf {} +
	@echo "clean: done"
