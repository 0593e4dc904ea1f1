# `make up` runs the service on this machine, `make test` checks everything. Nothing but a
# Python 3 with venv is needed beforehand: uv comes first and brings the Python of .python-version.

UV := .uv/bin/uv
RUN := .venv/bin/
SAM := AWS_DEFAULT_REGION=$${AWS_DEFAULT_REGION:-us-east-1} SAM_CLI_TELEMETRY=0 .venv-sam/bin/sam

.PHONY: up test faults mutants fuzz bench check openapi build deploy setup

up: setup .venv-engine/made ## the whole service, until Ctrl-C
	@exec $(RUN)python -m local

test: check .venv-engine/made ## the checks and every test
	$(RUN)pytest --numprocesses 2

faults: setup .venv-engine/made ## known bugs, every fault at every call, random schedules, kills: an hour
	$(RUN)python -m tests.faults

mutants: setup ## every change of a condition, rank or lease must fail a test: hours
	$(RUN)python -m tests.mutants

fuzz: setup .venv-engine/made ## ten minutes of requests that the document leads to
	PILLARBOX_FUZZ_SECONDS=600 $(RUN)pytest tests/fuzz --capture=no

check: setup .venv-sam/made .venv-checkov/made ## lint, format, types, the template
	$(RUN)ruff check
	$(RUN)ruff format --check
	$(RUN)mypy
	$(RUN)cfn-lint template.yaml stacks/*.yaml
	$(SAM) validate --lint
	.venv-checkov/bin/checkov --config-file .checkov.yaml

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
