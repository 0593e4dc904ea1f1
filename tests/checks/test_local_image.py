"""The image of the local stack: what it gets, as whom it runs, and its health check."""

import json
import re
from pathlib import Path
from typing import Final

from pillarbox.settings import Settings

ROOT: Final = Path(__file__).parents[2]
DOCKERFILE: Final = (ROOT / "local" / "Dockerfile").read_text().replace("\\\n", " ")


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.+)$", DOCKERFILE, re.MULTILINE)


def test_the_build_gets_only_what_it_copies() -> None:
    """The ignore file lets in each source of a COPY, and nothing else, so no key of `.local`."""
    sources = {
        source
        for arguments in instructions("COPY")
        if not arguments.startswith("--from")
        for source in arguments.split()[:-1]
    }
    lines = (ROOT / "local" / "Dockerfile.dockerignore").read_text().splitlines()
    rules = [line for line in lines if not line.startswith("#")]
    assert rules[0] == "*"
    assert {rule[1:] for rule in rules if rule.startswith("!")} == sources


def test_it_runs_as_nobody() -> None:
    assert instructions("USER") == ["65534:65534"]


def test_its_settings_are_valid() -> None:
    """What the image sets is what the stack reads: every address, and the service's usual name."""
    text = instructions("ENV")[-1]
    entries = re.findall(r'(\w+)=(?:"([^"]*)"|(\S+))', text)
    settings = Settings({name: quoted or plain for name, quoted, plain in entries})
    assert settings.host == "0.0.0.0"  # noqa: S104  inside its container
    assert "pillarbox" in settings.local_names
    ports = {str(settings.port), str(settings.inbox_port), str(settings.smtp_port)}
    assert set(instructions("EXPOSE")[0].split()) == ports


def test_the_health_check_is_a_program() -> None:
    (check,) = re.findall(r"HEALTHCHECK .* CMD (\[.+\])$", DOCKERFILE, re.MULTILINE)
    program, *options, source = json.loads(check)
    assert (program, options) == ("python", ["-S", "-c"])
    assert compile(source, "check", "exec").co_names
    assert f"{Settings({}).port}" in source
    assert "'/healthz'" in source
