# `make up` runs the service on this machine, `make test` checks everything. Nothing but a
# Python 3 with venv is needed beforehand: uv comes first and brings the Python of .python-version.

UV := .uv/bin/uv
RUN := .venv/bin/
SAM := AWS_DEFAULT_REGION=$${AWS_DEFAULT_REGION:-us-east-1} SAM_CLI_TELEMETRY=0 .venv-sam/bin/sam

# Byte code saves a quarter of `make quick`, so it is kept also where the environment forbids it.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: up test quick unit format faults mutants fuzz bench check openapi build deploy setup

up: setup .venv-engine/made ## the whole service, until Ctrl-C
	@exec $(RUN)python -m local

test: check .venv-engine/made ## the checks and every test
	$(RUN)pytest --numprocesses 2

quick: setup ## lint, types and unit tests side by side: half a minute
	@tools/side_by_side '$(RUN)ruff check' '$(RUN)ruff format --check' $(RUN)mypy '$(RUN)pytest --numprocesses 2 tests/unit'

unit: setup ## the unit tests, or one file of them: FILE=tests/unit/…
	$(RUN)pytest $${FILE:-tests/unit}

format: setup ## format the code, and fix what ruff can fix
	$(RUN)ruff check --fix
	$(RUN)ruff format

faults: setup .venv-engine/made ## known bugs, every fault at every call, random schedules, kills: an hour
	$(RUN)python -m verification.faults

mutants: setup ## every change of a condition, rank or lease must fail a test: hours
	$(RUN)python -m verification.mutants

fuzz: setup .venv-engine/made ## ten minutes of requests that the document leads to
	PILLARBOX_FUZZ_SECONDS=600 $(RUN)pytest tests/e2e/test_fuzz_document.py --capture=no

check: setup .venv-sam/made .venv-checkov/made ## lint, format, types, the template and what it keeps
	$(RUN)ruff check
	$(RUN)ruff format --check
	$(RUN)mypy
	$(RUN)cfn-lint template.yaml
	$(SAM) validate --lint
	.venv-checkov/bin/checkov --config-file .checkov.yaml
	$(RUN)python -m tests.kept

bench: setup ## what a mail costs, rendering and MIME beside their peers: minutes
	$(RUN)python -m benchmarks.accepting
	$(UV) run --with premailer --with inscriptis --with minijinja python benchmarks/rendering.py
	$(RUN)python benchmarks/mime.py

openapi: setup ## docs/openapi.json, from the wire models and routes
	$(RUN)python -m openapi

build: setup .venv-sam/made ## what is deployed, in .aws-sam
	PATH="$(CURDIR)/.uv/bin:$(CURDIR)/.venv-sam/bin:$$PATH" $(SAM) build
	$(RUN)python layers/shared/stamp_release.py .aws-sam/build/template.yaml

deploy: setup .venv-sam/made ## to AWS, with a first account and key: ENVIRONMENT=dev or prod
	$(RUN)pillarbox deploy --environment $${ENVIRONMENT:-dev}

setup: $(UV)
	@$(UV) sync --locked --quiet

$(UV):
	python3 -m venv .uv && .uv/bin/pip install --quiet uv==0.13.8

# The engine, SAM and checkov pin what the service does not want pinned: each has an environment
# of its own.
.venv-engine/made: uv.lock | $(UV)
	UV_PROJECT_ENVIRONMENT=.venv-engine $(UV) sync --locked --quiet --only-group engine
	@touch $@

.venv-sam/made: uv.lock | $(UV)
	UV_PROJECT_ENVIRONMENT=.venv-sam $(UV) sync --locked --quiet --only-group sam
	@touch $@

# Not in uv.lock, where its old urllib3 would become the layer's. Made by
# `echo checkov==… | uv pip compile --no-annotate --no-header - --output-file .checkov.txt`.
.venv-checkov/made: .checkov.txt | $(UV)
	$(UV) venv --quiet --clear .venv-checkov
	VIRTUAL_ENV=.venv-checkov $(UV) pip sync --quiet .checkov.txt
	@touch $@
