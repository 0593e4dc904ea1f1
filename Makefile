# `make` lists the targets. They need only a Python 3 with venv: the first one that is run installs
# uv, and uv installs the Python of .python-version and everything else.

UV := .uv/bin/uv
RUN := .venv/bin/
SAM := AWS_DEFAULT_REGION=$${AWS_DEFAULT_REGION:-us-east-1} SAM_CLI_TELEMETRY=0 .venv-sam/bin/sam

# Two processes that collect a half each are cheaper than two workers that collect everything.
HALF_OF_COMPUTING := $(addprefix tests/,ports relay unit)
HALF_OF_UNIT := $(addprefix tests/unit/,application history rendering)

# What a route, a setting or an error still needs, as far as it shows in a second or two.
PLACES := $(addprefix tests/checks/,test_places.py test_settings.py openapi/test_openapi.py \
  test_lengths.py::test_no_file_is_long)

# They need a linter of templates, whose import takes seconds: one process runs them all, and with them
# what `python -m tools.templates` does.
CHECKS := $(addprefix tests/,checks integration/templates)

# They wait for browsers, processes and queues, so three workers share one core, the longest first.
# The others compute. Two files of the relay need the stack, which has ended when those come to them.
WAITING := $(addprefix tests/,packaging browser e2e integration relay/test_mail_servers.py \
  relay/test_stack.py)

.DEFAULT_GOAL := help
.PHONY: help up dashboard lean-dashboard dashboard-tests fresh test tests quick unit places format faults dynamodb-local deploy-rehearsal bank mutants budgets fuzz attacks bench check openapi lint-openapi packages clients sdks guides invoke api build wheel image local-image audit sbom deploy setup

# Byte code saves a quarter of `make quick`, so it is kept even if the environment forbids it.
unexport PYTHONDONTWRITEBYTECODE

help: ## show this list
	@awk -F ':.*## ' '/^[a-z_-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

up: ## run the whole service on this machine, until Ctrl-C
	@[ -x .venv/bin/pillarbox ] || echo "Downloading about 70 MB, once; without Python 3.13 30 more, without Node.js 60 …"
	@$(MAKE) --silent $(UV)
	@$(UV) sync --locked --quiet --inexact --no-default-groups --group local || \
	  { echo "Not everything was installed. It needs a package index (PyPI)." >&2; exit 1; }
	@exec tools/foreground $(RUN)python -m local --build-dashboard

fresh: ## forget the local stack's keys and certificate
	@rm -f "$${PILLARBOX_STATE_DIR:-.local}/keys.json"

dashboard: setup .venv-node/made ## build the dashboard, in dashboard/dist: needs npm's registry once
	@$(RUN)python -m dashboard.build

# What `make up` does. A build needs a Node.js with npm; of ours only the tests need the version.
lean-dashboard:
	@{ node --eval 'process.exit(+(parseInt(process.versions.node) < 18))' && npm --version; } >/dev/null 2>&1 \
	  || $(MAKE) --silent .venv-node/made
	@$(RUN)python -m dashboard.build --lean

dashboard-tests: dashboard ## run the unit tests of the dashboard and of packages/pillarbox-js: two seconds
	@cd dashboard && ../.venv-node/bin/node --import ./test/setup.mjs --test --test-isolation=none \
	  --test-reporter=dot 'test/*.test.ts'
	@.venv-node/bin/node --test --test-reporter=dot 'packages/pillarbox-js/test/*.test.js'

# Nothing waits for an environment that it does not need, and no test for a check. What waits for the
# disk or a browser ends last, so it goes first: the others are `nice`, and have what it leaves.
test: setup ## run every check and every test
	@tools/side_by_side 'nice make --silent check' 'make --silent tests'

# In a new clone a collection writes the byte code that three workers would otherwise each compile.
# What the tests of a file share is made once, because one worker runs them all: the one stack refuses
# some of it a second time.
tests: setup
	@tools/side_by_side 'make --silent --jobs dashboard .venv-sam/made .venv-mcp/made' \
	  '[ -d tests/browser/__pycache__ ] || $(RUN)pytest -n0 -qq --collect-only $(WAITING) $(CHECKS:%=--ignore %) >/dev/null'
	@tools/side_by_side '$(RUN)pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder $(WAITING) $(CHECKS:%=--ignore %)' \
	  'nice $(RUN)pytest -n0 $(HALF_OF_COMPUTING) $(WAITING:%=--ignore %)' \
	  'nice $(RUN)pytest -n0 $(foreach other,$(WAITING) $(CHECKS) $(HALF_OF_COMPUTING),--ignore $(other))'

quick: setup ## run lint, types and most unit tests side by side: 20 seconds
	@tools/side_by_side '$(RUN)ruff check' '$(RUN)ruff format --check' $(RUN)mypy \
	  '$(RUN)pytest -n0 -m "not slow" $(HALF_OF_UNIT)' \
	  '$(RUN)pytest -n0 -m "not slow" tests/unit $(HALF_OF_UNIT:%=--ignore=%) $(PLACES)'

unit: setup ## run the unit tests, or one file of them: FILE=tests/unit/…
	$(RUN)pytest $${FILE:-tests/unit}

places: setup ## say what a route, a setting or an error still needs: a minute
	$(RUN)pytest -n0 tests/checks tests/contract/test_template_settings.py \
	  tests/contract/test_error_examples.py::test_every_code_has_an_answer \
	  tests/contract/test_forbidden_calls.py tests/integration/test_events.py

format: setup ## format the code, and fix what ruff can fix
	$(RUN)ruff check --fix
	$(RUN)ruff format

faults: setup ## break each call of each path, at random and by kills: 40 minutes
	$(RUN)python -m verification.faults

dynamodb-local: setup ## run the tests of the table on DynamoDB Local, which needs Java and npm
	$(RUN)python -m verification.dynamodb_local

deploy-rehearsal: build .venv-localstack/made ## deploy to LocalStack, fail, repair, delete: needs Java and npm
	$(RUN)python -m verification.rehearsal $$SETS

bank: setup ## plant each known bug; a test or a run must notice it: 5 minutes
	$(RUN)python -m verification.bank

mutants: setup ## change each duration, limit, order, filter and condition; a test must fail: hours
	$(RUN)python -m pytest -n0 -p verification.mutants.touching tests/unit tests/ports tests/contract
	$(RUN)python -m verification.mutants

budgets: setup ## write how large each package is now, in tools/budgets.toml
	$(RUN)python -m tools.budgets

fuzz: setup ## try properties with many examples, and requests made from docs/openapi.json: 15 minutes
	PILLARBOX_DEEP=1 $(RUN)pytest --numprocesses 2 -m hypothesis tests/unit tests/checks
	PILLARBOX_DEEP=1 $(RUN)pytest -n0 tests/ports/test_ports_direct_client.py \
	  tests/integration/test_mail_readers.py tests/integration/replies/test_hostile_mail.py
	PILLARBOX_FUZZ_SECONDS=90 $(RUN)pytest --capture=no \
	  tests/contract/test_fuzz.py tests/contract/test_fuzz_document.py tests/e2e/test_fuzz_document.py

check: setup ## check lint, format, types, the template and what must agree
	@tools/side_by_side '$(RUN)ruff check' '$(RUN)ruff format --check' $(RUN)mypy \
	  'make --silent dashboard-tests' '$(RUN)pytest -n0 $(CHECKS)' \
	  'make --silent .venv-checkov/made && tools/check_security'

attacks: setup ## try what hostile mail, requests and sources would try: an hour
	$(RUN)python -m verification.attacks

bench: setup dashboard ## measure what emails and open pages cost, and waits: minutes
	$(RUN)python -m benchmarks.accepting
	$(RUN)python -m benchmarks.costs
	$(RUN)python -m benchmarks.dashboard
	$(RUN)python -m benchmarks.latency

openapi: setup ## write docs/openapi.json and the other generated texts
	$(RUN)python -m openapi

invoke: setup .venv-sam/made ## run one function on its sample event with Docker: FUNCTION=SendEmail
	@$(RUN)python -m local.invoke "$${FUNCTION:-SendEmail}"

api: setup .venv-sam/made ## serve the functions' routes on port 3000 with Docker, until Ctrl-C
	@$(RUN)python -m local.invoke --api

build: setup .venv-sam/made ## build what is deployed, in .aws-sam
	PATH="$(CURDIR)/.uv/bin:$(CURDIR)/.venv-sam/bin:$$PATH" $(SAM) build
	$(RUN)python -m tools.pack_release

wheel: build dashboard ## build the command with all that it deploys and runs, in dist
	$(RUN)python -m tools.wheel

# With BASE=python:3.13-slim@sha256:… a build repeats an earlier one; the image's label has its BASE.
image: $(UV) ## build the container's image on today's base image: needs Docker and the network
	@tag=python:$$(cat .python-version)-slim && \
	base=$${BASE:-$$tag@$$(docker buildx imagetools inspect $$tag --format '{{.Manifest.Digest}}')} && \
	echo "BASE=$$base" && \
	docker build --platform $${PLATFORM:-linux/arm64} --file relay/Dockerfile --tag relay \
	  --build-arg BASE="$$base" --build-arg REVISION="$$(git rev-parse HEAD)" \
	  --build-arg VERSION="$$($(UV) version --short)" .

local-image: dashboard ## build the local stack's image, for CI: needs Docker and the network
	docker build --file local/Dockerfile --tag pillarbox-local \
	  --build-arg REVISION="$$(git rev-parse HEAD)" \
	  --build-arg VERSION="$$($(UV) version --short)" .

lint-openapi: setup ## lint the OpenAPI documents with Redocly and Spectral: needs npm
	$(RUN)python -m verification.clients.lint

packages: setup ## build the wheels and tarballs of packages/, in dist: needs npm
	@rm -rf dist
	@for package in pillarbox pillarbox-testing; do $(UV) build --quiet --wheel --out-dir dist packages/$$package; done
	@npm pack --silent --pack-destination dist ./packages/pillarbox-js ./packages/pillarbox-testing-js

clients: setup packages ## send with our client packages, built and installed: needs Node and npm
	$(RUN)python -m verification.clients

# Debian has it all: php-cli php-curl php-symfony-http-client php-symfony-postmark-mailer.
sdks: setup ## send with the SDKs of Resend and Postmark and with frameworks: needs Node, npm and PHP
	$(UV) run --with django-anymail==15.2 python -m verification.sdks

# Debian has it all: php-cli php-laravel-framework php-guzzlehttp-guzzle libphp-phpmailer ruby
# ruby-actionmailer golang-go.
guides: setup ## run the code of docs/guides in PHP, Ruby, Go and Django, and the recipe of Jest
	$(UV) run --with django==6.1.3 pytest -m foreign tests/integration/guides \
	  tests/e2e/test_guides.py tests/e2e/test_recipes.py

audit: setup ## look up pinned packages in a database of vulnerabilities, and name old prices
	$(RUN)python -m benchmarks.prices
	$(UV) audit --locked

sbom: setup ## write what a release contains as CycloneDX, in .aws-sam/sbom.cdx.json
	@mkdir -p .aws-sam
	$(UV) export --quiet --locked --format cyclonedx1.5 --no-default-groups --group relay \
	  --output-file .aws-sam/sbom.cdx.json

deploy: setup .venv-sam/made ## deploy to AWS, with a first account: ENVIRONMENT=dev or prod
	$(RUN)pillarbox deploy --environment $${ENVIRONMENT:-dev}

setup: $(UV) ## install what development needs, in .venv
	@$(UV) sync --locked $(if $(wildcard .venv/bin/pillarbox),--quiet)

$(UV):
	@tools/install_uv

# SAM and checkov pin what the service does not want pinned, and the client of MCP is
# large: each has an environment of its own.
.venv-sam/made: uv.lock | $(UV)
	UV_PROJECT_ENVIRONMENT=.venv-sam $(UV) sync --locked --quiet --only-group sam
	@touch $@

.venv-mcp/made: uv.lock | $(UV)
	UV_PROJECT_ENVIRONMENT=.venv-mcp $(UV) sync --locked --quiet --only-group mcp
	@touch $@

.venv-node/made: uv.lock | $(UV)
	UV_PROJECT_ENVIRONMENT=.venv-node $(UV) sync --locked --quiet --only-group node
	@touch $@

# Not in uv.lock, where its old urllib3 would become the layer's. Made by
# `echo checkov==… | uv pip compile --generate-hashes --no-annotate --no-header - --output-file
# .checkov.txt`. .uv.txt is made in the same way.
.venv-checkov/made: .checkov.txt | $(UV)
	$(UV) venv --quiet --clear .venv-checkov
	$(UV) pip sync --quiet --python .venv-checkov --require-hashes .checkov.txt
	@touch $@

# LocalStack, for `make deploy-rehearsal`. Made in the same way from `localstack-core[runtime]==4.9.2
# cbor2<5.8 pyopenssl<24.3 cryptography<45 psutil<7.2 service-identity`.
.venv-localstack/made: .localstack.txt | $(UV)
	$(UV) venv --quiet --clear .venv-localstack
	$(UV) pip sync --quiet --python .venv-localstack --require-hashes .localstack.txt
	@touch $@
