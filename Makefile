# Two commands are enough: `make` (set-up, every result, the report) and `make test` (set-up, tests).
# `make help` lists the rest. A target sets up what it needs.

SCALE ?= tour
# nproc would take OMP_NUM_THREADS for the number of cores
CORES ?= $(shell env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
WORKERS ?= $(CORES)
SEED ?= 1
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV = $$(command -v uv || echo .uv/bin/uv)
READY := $(VENV)/.ready
# the arithmetic of a plain old processor; the cache of compiled code ignores that, so it gets a folder
PORTABLE = ATEN_CPU_CAPABILITY=default MKL_CBWR=COMPATIBLE ONEDNN_MAX_CPU_ISA=AVX2 \
	OPENBLAS_CORETYPE=Haswell TORCHINDUCTOR_CACHE_DIR=$(CURDIR)/$(VENV)/portable
# side by side; the longest come first in testpaths, so that both workers end together; ends with the
# slowest tests
PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup \
	--no-loadscope-reorder --durations=25 --durations-min=5
# by name: Snakemake reads a config file three times, and what follows are more values
RUN = $(BIN)/snakemake --cores $(CORES) --config scale=$(SCALE)
ONE ?= looped/construction
JUDGED = results/desk/$(subst /,/claims/,$(ONE)).parquet

.PHONY: run desk real smoke one seeds neighbours help test test-long test-all test-portable smoke-portable \
	test-emulated test-cluster check mutants bench replay verify verify-published compare check-results publish \
	site lock clean

##@ Results
run: $(READY) ## make every result at SCALE, and the report (default)
	$(RUN)
	@$(BIN)/python scripts/summary.py results/$(SCALE)

desk: ## make every result at the sizes that the verdicts need: hours
	@$(MAKE) --no-print-directory run SCALE=desk

real: ## make what a laptop can of real images (docs/run-it.md): five hours
	@$(MAKE) --no-print-directory run SCALE=real

smoke: ## make every result at the smallest sizes, to see that everything runs
	@$(MAKE) --no-print-directory run SCALE=smoke

one: $(READY) ## make one experiment, ONE, at the sizes of desk and compare its claims
	$(BIN)/snakemake --cores $(CORES) $(JUDGED) --config scale=desk
	$(BIN)/featlearn compare results/published/desk $(JUDGED)

seeds: $(READY) ## repeat SCALE with the base seed SEED and list changed verdicts
	$(RUN) seed=$(SEED) run=$(SCALE)-seed-$(SEED)
	$(BIN)/python scripts/compare.py results/$(SCALE) results/$(SCALE)-seed-$(SEED)

neighbours: $(READY) ## repeat experiments of SCALE at other settings: a verdict that turns is open
	$(BIN)/snakemake --cores $(CORES) neighbours --config scale=$(SCALE)

##@ Tests
test: $(READY) check ## run the checks of `make check`, then all tests except the long ones
	$(PYTEST) -m "not long"

test-long: $(READY) ## run the other tests: kills, damage, fuzzing, second runs, sweeps, a user's data
	$(PYTEST) -m long

test-all: test test-long test-cluster ## run test, test-long and test-cluster

# what is killed, locked or read from a config does not depend on the processor
test-portable: $(READY) ## run the tests that compute, with the arithmetic of an older processor
	$(PORTABLE) $(PYTEST) -k "not kills and not fuzzed" tests/unit tests/property

smoke-portable: $(READY) ## run smoke without AVX-512, into results/smoke-without-avx512/
	ONEDNN_MAX_CPU_ISA=AVX2 $(BIN)/snakemake --cores $(CORES) \
		--configfile config/scale/smoke.yaml --config run=smoke-without-avx512

test-emulated: $(READY) ## compare portable bytes on two emulated processors (needs qemu-user)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/emulated

test-cluster: $(READY) ## run the workflow on a local Slurm (needs slurm-wlm and munge)
	$(BIN)/python -m pytest tests/cluster

check: $(READY) ## check style, types and the workflow
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy & TYPES=$$!; $(BIN)/snakefmt --check Snakefile workflow template && \
		$(BIN)/snakemake --lint; OTHERS=$$?; wait $$TYPES && exit $$OTHERS

mutants: $(READY) ## insert forty faults into measuring code: each must fail a test
	$(BIN)/python tests/mutants.py

bench: $(READY) ## measure speed, as ratios within one run, into results/bench/
	$(BIN)/python -m bench

##@ Comparison and publication
replay: $(READY) ## draw and judge SCALE again from its frames, and compare: minutes
	$(BIN)/python scripts/replay.py results/$(SCALE) $(REPLAY)

compare: $(READY) ## compare results/<scale> with the published run: verdicts, numbers, files
	$(BIN)/featlearn compare --files results/published/$(SCALE) results/$(SCALE)

verify: $(READY) ## repeat SCALE in a temporary folder and compare every byte
	$(BIN)/python scripts/verify.py --scale $(SCALE) --cores $(CORES)

verify-published: $(READY) ## repeat the published portable run and name the files that differ
	$(BIN)/python scripts/verify.py --published --cores $(CORES)

check-results: $(READY) ## compare every file of SCALE with its hash; set damaged ones aside
	$(BIN)/python scripts/verify.py --scale $(SCALE) --here

publish: $(READY) ## copy the finished runs RUNS to results/published/ and write their pages
	$(BIN)/python scripts/publish.py $(or $(RUNS),$(SCALE))
	$(BIN)/python -m featlearn.core.publishing.markdown_pages

site: $(READY) ## write the site, site/index.html, with the report of SCALE where there is one
	test .venv-site/bin/mkdocs -nt requirements-site.lock || { rm -rf .venv-site; $(UV) venv --quiet --python ">=3.11,<3.14" .venv-site && \
		$(UV) pip install --quiet --python .venv-site/bin/python --require-hashes \
			-r requirements-site.lock; }
	NO_MKDOCS_2_WARNING=1 SITE_RUN=$(SCALE) .venv-site/bin/mkdocs build --strict

##@ Environment
# uv makes the environment; where there is none, pip fetches it into .uv.
# Bytecode is made once: where PYTHONDONTWRITEBYTECODE is set, each job would compile torch for itself
$(READY): requirements.lock pyproject.toml
	@command -v uv >/dev/null || test -x .uv/bin/uv || \
		{ $(PYTHON) -m venv .uv && .uv/bin/python -m pip install --quiet uv; }
	@set -e; $(UV) venv --quiet --allow-existing --python ">=3.11,<3.14" $(VENV); \
		$(UV) pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes \
			-r requirements.lock; \
		$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

lock: ## update requirements.lock and environment.yml (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--extra dev --extra cluster --extra language --extra tensorboard --extra timm --upgrade --quiet pyproject.toml --output-file requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--group site --upgrade --quiet --output-file requirements-site.lock
	$(BIN)/python scripts/environment.py

clean: ## delete all results except the published ones, and the environment
	rm -rf $(VENV) .venv-site site .uv .snakemake .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find results -mindepth 1 -maxdepth 1 ! -name published -exec rm -rf {} +

help: ## list these targets
	@awk -F ':.*## ' '/^##@ / {printf "%s%s\n", gap, substr($$0, 5); gap = "\n"} \
		/^[a-z-]+:.*## / {printf "  make %-16s  %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "Variables, as in \`make verify SCALE=smoke CORES=1\`:"
	@echo "  SCALE=$(SCALE) (or smoke, desk, real, paper)  CORES=$(CORES)  WORKERS=$(WORKERS)  SEED=$(SEED)"
	@echo "  ONE=$(ONE)  RUNS=\"desk tour-portable\"  PYTHON=$(PYTHON)"
