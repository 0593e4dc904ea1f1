"""The commands `pillarbox relay …`: its image and its certificate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from admin import programs
from admin.aws import certificate_secret, stacks
from admin.aws.registry import RELAY_IMAGES, Repository
from admin.confirm import require_aws
from admin.dry_run import DryRun, dry_run
from admin.programs import ROOT, Docker
from admin.use_cases import certificate as certificates
from admin.use_cases.image_sources import image_tag
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.http.messages.replies import timestamp
from pillarbox.wiring import utc_now

if TYPE_CHECKING:
    from admin.connection import StackConnection

app = typer.Typer(no_args_is_help=True, help="The containers: their image and certificate.")

_DOCKERFILE: Final = ROOT / "relay" / "Dockerfile"
#: The name of the image on this machine.
_LOCAL_IMAGE: Final = "relay"
_BUILD: Final = (
    *("docker", "build", "--platform", "linux/arm64", "--file", "relay/Dockerfile"),
    *("--tag", _LOCAL_IMAGE),
)


@app.command("image")
def image(
    ctx: typer.Context,
    *,
    repository: Annotated[
        str, typer.Option(help="The repository in ECR, which is created if it is missing.")
    ] = RELAY_IMAGES,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="IMAGE", help="python:3.13-slim@sha256:…, to build on an earlier base."
        ),
    ] = None,
) -> None:
    """Build the image of relay and front, and push it to ECR. Needs Docker with buildx.

    The base image is the one that Python's tag names today, by its digest. If the repository
    has the image of the same sources on the same base, nothing is built.

    The result is the value of RelayImage, by digest: what it names never changes. `deploy --relay`
    takes the newest one.

    Example: `pillarbox relay image`
    """
    connection: StackConnection = ctx.obj
    require_aws(connection)
    docker = Docker()
    if base is None:
        version = (ROOT / ".python-version").read_text().strip()
        tag_of_python = f"python:{version}-slim"
        base = f"{tag_of_python}@{docker.read_digest(tag_of_python)}"
    images = Repository(repository)
    uri = images.ensure()
    tag = image_tag(ROOT, _DOCKERFILE, base)
    digest = images.digest(tag)
    built = digest is None
    if digest is None:
        named = ("--build-arg", f"BASE={base}", "--build-arg", f"VERSION={tag}")
        programs.execute(programs.run, [*_BUILD, *named, "."])
        login = images.login()
        docker.log_in(login.registry, login.password)
        docker.push(_LOCAL_IMAGE, f"{uri}:{tag}")
        digest = images.digest(tag)
    connection.show(
        {
            "relayImage": f"{uri}@{digest}",
            "base": base,
            "tag": tag,
            "state": "pushed" if built else "exists already",
        },
        hint="Deploy with --relay NAME.",
    )


@app.command("certificate")
def certificate(
    ctx: typer.Context,
    *,
    chain: Annotated[
        Path,
        typer.Option(exists=True, dir_okay=False, help="PEM: the certificate, then its issuers."),
    ],
    key: Annotated[
        Path, typer.Option(exists=True, dir_okay=False, help="PEM: its key, without passphrase.")
    ],
    host: Annotated[
        str | None,
        typer.Option(help="The name that clients connect to. The default is RelayName."),
    ] = None,
    rehearse: DryRun = False,
) -> None:
    """Put the relay's certificate into a secret, or replace the one that is there.

    The command refuses a certificate that no client could use: another key, another name, ended,
    or in a wrong order. Containers that run read the secret every five minutes.

    Example: `pillarbox relay certificate --chain fullchain.pem --key privkey.pem`
    """
    connection: StackConnection = ctx.obj
    texts = chain.read_bytes(), key.read_bytes()
    with dry_run(connection, wanted=rehearse):
        stack_name = require_aws(connection)
        name = certificate_secret.name_of(stack_name)
        stack = stacks.describe(stack_name)
        parameters = stack.parameters if stack else {}
        if host is None and parameters.get("RelayImage"):
            host = parameters["RelayName"]
        checked = certificates.check(*texts, host, utc_now())
        try:
            decoded = [text.decode("ascii") for text in texts]
        except UnicodeDecodeError:
            message = "has characters that are not ASCII beside the PEM; remove them"
            raise ValidationFailed(FieldError("--chain", message, "invalid")) from None
        state = certificate_secret.store(name, *decoded)
        for warning in checked.warnings:
            connection.note(warning)
        connection.show(
            {
                "relayCertificate": name,
                "state": state,
                "names": [*checked.names],
                "expiresAt": timestamp(checked.expires_at),
            },
            hint="Containers that run use it within five minutes."
            if parameters.get("RelayImage")
            else "Deploy with --relay NAME.",
        )
