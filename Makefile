# Two commands are all it takes: `make` (the report) and `make test`.
# Every target sets up what it needs; each also stands in the README as plain commands.

SCALE ?= tour
# nproc would take OMP_NUM_THREADS for the number of cores
CORES ?= $(shell env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
WORKERS ?= $(CORES)
SEED ?= 1
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# the arithmetic of a plain old processor; compiled code keys its cache without it, so has its own
PORTABLE = ATEN_CPU_CAPABILITY=default MKL_CBWR=COMPATIBLE ONEDNN_MAX_CPU_ISA=AVX2 \
	OPENBLAS_CORETYPE=Haswell TORCHINDUCTOR_CACHE_DIR=$(CURDIR)/$(VENV)/portable
# side by side; what takes longest stands first in testpaths, so that both workers end together
PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup \
	--no-loadscope-reorder
# by name: Snakemake reads a config file three times, and what follows are more values
RUN = $(BIN)/snakemake --cores $(CORES) --config scale=$(SCALE)
ONE ?= looped/construction
JUDGED = results/desk/$(subst /,/claims/,$(ONE)).parquet

.PHONY: run desk smoke test test-long test-all test-portable smoke-portable test-emulated test-cluster check \
	bench one verify compare publish verify-published check-results seeds lock clean

run: $(READY) ## every result at SCALE (tour) and results/<scale>/report.html
	$(RUN)
	@echo "Open results/$(SCALE)/report.html"

desk: ## the same at the sizes that the verdicts are made for
	@$(MAKE) --no-print-directory run SCALE=desk

smoke: ## the same at sizes that only show that everything runs
	@$(MAKE) --no-print-directory run SCALE=smoke

test: $(READY) check ## style, types, workflow lint, all tests but the long ones
	$(PYTEST) -m "not long"

test-long: $(READY) ## what takes minutes: fifty kills of each training, a whole second run
	$(PYTEST) -m long

test-all: test test-long test-cluster ## every test

# what is killed, locked or read from a config does not depend on the processor
test-portable: $(READY) ## unit and property tests that compute, with the arithmetic of another processor
	$(PORTABLE) $(PYTEST) -m "not long" tests/unit tests/property --ignore-glob '*/test_fuzzed_*'

smoke-portable: $(READY) ## smoke as oneDNN runs it without AVX-512: results/smoke-without-avx512/
	ONEDNN_MAX_CPU_ISA=AVX2 $(BIN)/snakemake --cores $(CORES) \
		--configfile config/scale/smoke.yaml --config run=smoke-without-avx512

test-emulated: $(READY) ## portable bytes natively and on two emulated processors (needs qemu-user)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/emulated

test-cluster: $(READY) ## the workflow on a Slurm of its own (needs slurm-wlm and munge)
	$(BIN)/python -m pytest tests/cluster

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow template
	$(BIN)/mypy
	$(BIN)/snakemake --lint

bench: $(READY) ## speed, measured as ratios within one run: results/bench/
	$(BIN)/python -m bench

one: $(READY) ## one experiment at the sizes of desk, and its claims against the published ones: ONE=looped/construction
	$(BIN)/snakemake --cores $(CORES) $(JUDGED) --config scale=desk
	$(BIN)/featlearn compare results/published/desk $(JUDGED)

verify: $(READY) ## re-run SCALE in a temporary folder and compare every byte
	$(BIN)/python scripts/verify.py --scale $(SCALE) --cores $(CORES)

compare: $(READY) ## SCALE here against the published run: verdicts, numbers, files
	$(BIN)/featlearn compare --files results/published/$(SCALE) results/$(SCALE)

publish: $(READY) ## results/published/ from finished runs that this commit would not change: RUNS="desk tour-portable"
	$(BIN)/python scripts/publish.py $(or $(RUNS),$(SCALE))
	$(BIN)/python -m featlearn.core.pages

verify-published: $(READY) ## the published portable run once more, here; which bytes differ
	$(BIN)/python scripts/verify.py --published --cores $(CORES)

# uv makes the environment; where there is none it is fetched into a small environment of its own.
# Bytecode is made once: where PYTHONDONTWRITEBYTECODE is set, each job would compile torch for itself
$(READY): requirements.lock pyproject.toml
	@command -v uv >/dev/null || test -x .uv/bin/uv || \
		{ $(PYTHON) -m venv .uv && .uv/bin/python -m pip install --quiet uv; }
	@set -e; UV=$$(command -v uv || echo .uv/bin/uv); \
		$$UV venv --quiet --allow-existing --python ">=3.11,<3.14" $(VENV); \
		$$UV pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes \
			-r requirements.lock; \
		$$UV pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

check-results: $(READY) ## hash every artefact of SCALE against its record; damage is set aside
	$(BIN)/python scripts/verify.py --scale $(SCALE) --here

seeds: $(READY) ## SCALE with the base seed SEED (1), and the claims whose verdict it changes
	$(RUN) seed=$(SEED) run=$(SCALE)-seed-$(SEED)
	$(BIN)/python scripts/compare.py results/$(SCALE) results/$(SCALE)-seed-$(SEED)

lock: ## resolve the dependencies of pyproject.toml anew
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--extra dev --extra cluster --extra language --extra tensorboard --extra timm --upgrade --quiet pyproject.toml --output-file requirements.lock
	$(BIN)/python -m featlearn.core.environment

clean: ## the results and the environment; published results stay
	rm -rf $(VENV) .uv .snakemake .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find results -mindepth 1 -maxdepth 1 ! -name published -exec rm -rf {} +
