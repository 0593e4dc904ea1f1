"""`pillarbox relay`, with a script in place of docker and prepared answers of AWS."""

import json
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from admin import programs
from admin.aws.registry import Repository
from pillarbox.domain.errors import ServiceError
from tests.integration.admin.aws_stubs import Stubs
from tests.integration.admin.documented_output import documented, readable
from tests.integration.admin.operator_command import Operator, failure
from tests.unit.admin.certificates import NOW, certificate, ec_key, key_pem

REGISTRY: Final = "123456789012.dkr.ecr.eu-west-1.amazonaws.com"
URI: Final = f"{REGISTRY}/pillarbox-relay"
DIGEST: Final = f"sha256:{'d' * 64}"
BASE: Final = f"python:3.13-slim@sha256:{'b' * 64}"
DOCKER: Final = """#!/bin/sh
echo "$*" >> "$0.log"
case "$1" in
  buildx) echo sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb ;;
  login) cat > "$0.password" ;;
esac
"""


class Machine:
    """The programs of the operator's machine, and what they were asked."""

    def __init__(self, folder: Path) -> None:
        self.docker = folder / "docker"
        self.docker.write_text(DOCKER)
        self.docker.chmod(0o755)
        self.ran: list[str] = []
        self.code = 0

    def run(self, words: Sequence[str]) -> int:
        self.ran.append(" ".join(words))
        return self.code

    def asked(self) -> list[str]:
        return Path(f"{self.docker}.log").read_text().splitlines()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(programs, "run", machine.run)
    monkeypatch.setattr("admin.relay.image_tag", lambda *_: "3f0c2a9be1d47c55")
    return machine


def repository(stubs: Stubs, *, exists: bool) -> None:
    made = {"repositoryUri": URI}
    if exists:
        stubs.refuse("ecr", "create_repository", "RepositoryAlreadyExistsException")
        stubs.answer("ecr", "describe_repositories", {"repositories": [made]})
    else:
        expected = {
            "repositoryName": "pillarbox-relay",
            "imageTagMutability": "IMMUTABLE",
            "imageScanningConfiguration": {"scanOnPush": True},
        }
        stubs.answer("ecr", "create_repository", {"repository": made}, expected)
        # Only a new repository gets the rule: another one may have a rule of the operator's own.
        stubs.answer("ecr", "put_lifecycle_policy", {})


def no_image(stubs: Stubs) -> None:
    stubs.refuse("ecr", "describe_images", "ImageNotFoundException")


def one_image(stubs: Stubs) -> None:
    stubs.answer(
        "ecr",
        "describe_images",
        {"imageDetails": [{"imageDigest": DIGEST}]},
        {"repositoryName": "pillarbox-relay", "imageIds": [{"imageTag": "3f0c2a9be1d47c55"}]},
    )


def login(stubs: Stubs) -> None:
    token = b64encode(b"AWS:word:with:colons").decode()
    data = {"authorizationToken": token, "proxyEndpoint": f"https://{REGISTRY}"}
    stubs.answer("ecr", "get_authorization_token", {"authorizationData": [data]}, {})


def test_the_image_is_built_and_pushed(stubs: Stubs, machine: Machine) -> None:
    repository(stubs, exists=False)
    no_image(stubs)
    login(stubs)
    one_image(stubs)
    result = Operator().plain("relay", "image")
    assert (result.exit_code, readable(result.output)) == (0, documented("relay image"))
    tag = "3f0c2a9be1d47c55"
    named = f"--build-arg BASE={BASE} --build-arg VERSION={tag}"
    assert machine.ran == [
        f"docker build --platform linux/arm64 --file relay/Dockerfile --tag relay {named} .",
        f"docker push {URI}:{tag}",
    ]
    assert machine.asked() == [
        "buildx imagetools inspect python:3.13-slim --format {{.Manifest.Digest}}",
        f"login --username AWS --password-stdin {REGISTRY}",
        f"tag relay {URI}:3f0c2a9be1d47c55",
    ]
    assert Path(f"{machine.docker}.password").read_text() == "word:with:colons"
    assert "word" not in result.output


def test_an_image_that_exists_is_not_built(stubs: Stubs, machine: Machine) -> None:
    repository(stubs, exists=True)
    one_image(stubs)
    result = Operator().plain("--json", "relay", "image", "--base", BASE)
    assert json.loads(result.stdout) == {
        "relayImage": f"{URI}@{DIGEST}",
        "base": BASE,
        "tag": "3f0c2a9be1d47c55",
        "state": "exists already",
    }
    assert machine.ran == []


def test_the_newest_image_is_the_last_that_was_pushed(stubs: Stubs) -> None:
    images = [
        {"imageDigest": digest, "imagePushedAt": f"2026-11-{day}T00:00:00Z"}
        for digest, day in (("sha256:a", 20), (DIGEST, 22), ("sha256:b", 21))
    ]
    asked = {"repositoryName": "pillarbox-relay", "filter": {"tagStatus": "TAGGED"}}
    stubs.answer("ecr", "describe_images", {"imageDetails": images}, asked)
    stubs.answer("ecr", "describe_repositories", {"repositories": [{"repositoryUri": URI}]})
    newest = Repository("pillarbox-relay").newest
    assert newest() == f"{URI}@{DIGEST}"
    stubs.answer("ecr", "describe_images", {"imageDetails": []})
    assert newest() is None
    stubs.refuse("ecr", "describe_images", "RepositoryNotFoundException")
    assert newest() is None


def test_a_build_that_fails_ends_the_command(stubs: Stubs, machine: Machine) -> None:
    machine.code = 2
    repository(stubs, exists=True)
    no_image(stubs)
    result = Operator().plain("relay", "image", "--base", BASE)
    assert failure(result).endswith("docker build ended with 2. Its output above says why.\n")


@pytest.mark.parametrize(
    "says", ["docker: unknown command: docker buildx", "docker: 'buildx' is not a docker command."]
)
def test_a_docker_without_buildx_says_what_is_missing(machine: Machine, says: str) -> None:
    """Docker's own last line would only name its help."""
    lines = f'echo "{says}" >&2\necho "Run \'docker --help\' for more information" >&2'
    machine.docker.write_text(f"#!/bin/sh\n{lines}\nexit 125\n")
    result = Operator().plain("relay", "image")
    assert result.stderr == "This needs Docker with buildx. Install it and start it.\n"
    assert result.exit_code == 1


def test_a_missing_or_failing_docker_is_one_line(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.docker.write_text("#!/bin/sh\necho first >&2\necho no daemon >&2\nexit 3\n")
    result = Operator().plain("relay", "image")
    assert result.stderr == "docker buildx ended with 3: no daemon\n"
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ServiceError, match="needs Docker with buildx"):
        programs.Docker().read_digest("python:3.13-slim")


KEY: Final = ec_key()
ISSUER: Final = ("Root", ec_key())
CHAIN: Final = certificate("smtp", KEY, ISSUER, names=("smtp.shop.example",)) + certificate(*ISSUER)
SECRET: Final = {"certificate": CHAIN.decode(), "key": key_pem(KEY).decode()}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "fullchain.pem").write_bytes(CHAIN)
    (tmp_path / "privkey.pem").write_bytes(key_pem(KEY))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("admin.relay.utc_now", lambda: NOW)
    return tmp_path


def stack(stubs: Stubs, **parameters: str) -> None:
    found = [{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()]
    stubs.stack("pillarbox-dev", Parameters=found)


COMMAND: Final = "relay certificate --chain fullchain.pem --key privkey.pem"


def store(*options: str) -> Any:
    return Operator().plain("--stack-name", "pillarbox-dev", *COMMAND.split(), *options)


@pytest.mark.usefixtures("files")
def test_a_new_secret_is_created(stubs: Stubs) -> None:
    stack(stubs)
    stubs.refuse("secretsmanager", "get_secret_value", "ResourceNotFoundException")
    stubs.refuse("secretsmanager", "describe_secret", "ResourceNotFoundException")
    expected = {
        "Name": "pillarbox-dev/smtp",
        "SecretString": json.dumps(SECRET),
        "Description": "The certificate of Pillarbox's relay",
    }
    stubs.answer("secretsmanager", "create_secret", {}, expected)
    result = store()
    assert (result.exit_code, readable(result.output)) == (0, documented(COMMAND))


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("code", ["", "InvalidRequestException", "ResourceNotFoundException"])
def test_a_secret_that_exists_gets_the_new_certificate(stubs: Stubs, code: str) -> None:
    stack(stubs, RelayImage="x", RelayName="smtp.shop.example")
    if code:
        stubs.refuse("secretsmanager", "get_secret_value", code)
        method = "restore_secret" if code == "InvalidRequestException" else "describe_secret"
        stubs.answer("secretsmanager", method, {})
    else:
        stubs.answer("secretsmanager", "get_secret_value", {"SecretString": "old"})
    stubs.answer("secretsmanager", "put_secret_value", {})
    result = store()
    assert result.exit_code == 0
    assert "within five minutes" in result.stderr


@pytest.mark.usefixtures("files")
def test_the_same_certificate_changes_nothing(stubs: Stubs) -> None:
    stack(stubs)
    stubs.answer("secretsmanager", "get_secret_value", {"SecretString": json.dumps(SECRET)})
    assert "unchanged" in store().stdout


@pytest.mark.usefixtures("files")
def test_a_certificate_for_another_name_is_not_stored(stubs: Stubs) -> None:
    stack(stubs, RelayImage="x", RelayName="mail.shop.example")
    assert failure(store()) == ("--chain: is for smtp.shop.example, not for mail.shop.example\n")
    stack(stubs)
    assert store("--host", "other.example").exit_code == 1


@pytest.mark.usefixtures("files")
def test_a_missing_right_is_an_error(stubs: Stubs) -> None:
    for service_call in ("get_secret_value", "describe_secret"):
        stack(stubs)
        if service_call == "describe_secret":
            stubs.refuse("secretsmanager", "get_secret_value", "ResourceNotFoundException")
        stubs.refuse("secretsmanager", service_call, "AccessDeniedException", "no")
        assert store().stderr.endswith("AccessDeniedException: no\n")
