"""The engine that emulates AWS: ministack, in its own process.

The functions run as its child processes and inherit its environment variables, which name the
SES and DNS stand-ins. Another engine can replace it if it offers the same methods.
"""

import asyncio
import contextlib
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import boto3
import httpx
from botocore.config import Config
from botocore.exceptions import WaiterError

from local import processes
from local.package import BUCKET, Package
from local.template import REGION, ROOT
from pillarbox.settings import PREFIX

STACK_NAME: Final = "pillarbox"
#: Any address may sign up, and any site of this machine may show the widget, because only this
#: machine's user can ask.
PARAMETERS: Final = {
    "SignUp": "open",
    "WidgetOrigins": "http://127.0.0.1:*,http://localhost:*",
}

# Seconds between SIGTERM and SIGKILL.
_GRACE: Final = 5.0
# Seconds; long enough for a busy machine.
_STARTS_WITHIN: Final = 120.0


#: Few arenas of malloc, which gives memory back. A function's process may have its own value.
_LITTLE_MEMORY: Final = {"MALLOC_ARENA_MAX": "2", "MALLOC_TRIM_THRESHOLD_": "131072"}
# An engine that does not answer has stopped, so a retry is useless.
_NO_RETRIES: Final = Config(retries={"total_max_attempts": 1})


class EngineFailed(Exception):
    """The engine did not start or could not create the stack; the text says why."""


class Engine:
    """One run of the engine, which starts empty."""

    def __init__(
        self, state: Path, port: int, environment: Mapping[str, str], gateway: str = "api"
    ) -> None:
        """Prepare a run.

        Args:
            state: the state directory, which holds the engine's log and files.
            port: a free port on the loopback interface.
            environment: variables that the functions inherit.
            gateway: what takes single sends: `api` or `url`.
        """
        #: Those of the CloudFormation stack.
        self.parameters = {**PARAMETERS, **({"EdgeService": "url"} if gateway == "url" else {})}
        self.url = f"http://127.0.0.1:{port}"
        #: Grants every right in this run's engine, so only this stack's programs learn it.
        self.access_key_id = f"AKIA{secrets.token_hex(16).upper()}"
        #: The variables that make an AWS SDK call this engine and never the user's account.
        self.aws_environment = _aws_environment(self.url, self.access_key_id)
        for folder in ("s3", "state", "tmp"):
            (state / "engine" / folder).mkdir(parents=True)
        self._log = state / "engine.log"
        self._log.unlink(missing_ok=True)
        self._record = state / "engine.json"
        self._environment = {
            **_inherited_environment(),
            **self.aws_environment,
            "AUTH": "true",  # the functions may do only what their roles allow
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(port),
            "IOT_MTLS_ENABLED": "0",
            **_LITTLE_MEMORY,
            "MINISTACK_HOST": "127.0.0.1",
            "MINISTACK_REGION": REGION,
            "S3_DATA_DIR": str(state / "engine" / "s3"),
            "SFTP_ENABLED": "0",
            "STATE_DIR": str(state / "engine" / "state"),
            "TMPDIR": str(state / "engine" / "tmp"),
            **environment,
        }
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the engine and wait until it answers."""
        with self._log.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "local.guarded_engine"),
                cwd=ROOT,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C must reach only the stack, which then stops the engine in order.
                start_new_session=True,
            )
        self._process = process
        processes.remember(self._record, process.pid)
        try:
            async with asyncio.timeout(_STARTS_WITHIN):
                await self._wait_until_ready(process)
        except TimeoutError:
            raise EngineFailed(
                f"The engine did not answer within {_STARTS_WITHIN:.0f} seconds."
            ) from None

    async def _wait_until_ready(self, process: asyncio.subprocess.Process) -> None:
        async with httpx.AsyncClient(trust_env=False) as client:
            while True:
                with contextlib.suppress(httpx.TransportError):
                    await client.get(f"{self.url}/_ministack/health")
                    return
                if process.returncode is not None:
                    raise EngineFailed("The engine stopped during its start.")
                await asyncio.sleep(0.05)

    async def wait(self) -> int:
        """Wait until the started engine stops, and return its exit status."""
        assert self._process  # noqa: S101  the caller has started it
        return await self._process.wait()

    async def stop(self) -> None:
        """Stop the engine and its functions; do nothing if it was never started."""
        if self._process is None:
            return
        if self._process.returncode is None:
            self._process.terminate()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), _GRACE)
        processes.kill_group(self._process.pid)
        await self._process.wait()
        self._record.unlink(missing_ok=True)

    def client(self, service: str) -> Any:  # noqa: ANN401  boto3 makes its clients at run time
        """Return a boto3 client that calls the engine."""
        make: Any = boto3.client  # mypy would try its 400 overloads
        return make(
            service,
            endpoint_url=self.url,
            region_name=REGION,
            aws_access_key_id=self.access_key_id,
            aws_secret_access_key=self.aws_environment["AWS_SECRET_ACCESS_KEY"],
            config=_NO_RETRIES,
        )

    def deploy(self, package: Package) -> dict[str, str]:
        """Create the CloudFormation stack and return its outputs."""
        s3 = self.client("s3")
        s3.create_bucket(Bucket=BUCKET)
        for archive in package.archives:
            s3.upload_file(str(archive), BUCKET, archive.name)
        s3.put_object(Bucket=BUCKET, Key="template.json", Body=package.template.encode())
        cloudformation = self.client("cloudformation")
        cloudformation.create_stack(
            StackName=STACK_NAME,
            TemplateURL=f"{self.url}/{BUCKET}/template.json",
            Parameters=[
                {"ParameterKey": name, "ParameterValue": value}
                for name, value in self.parameters.items()
            ],
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        )
        try:
            cloudformation.get_waiter("stack_create_complete").wait(
                StackName=STACK_NAME, WaiterConfig={"Delay": 1, "MaxAttempts": 180}
            )
        except WaiterError as error:
            raise EngineFailed("\n".join(_failures(cloudformation))) from error
        (stack,) = cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"]
        return {item["OutputKey"]: item["OutputValue"] for item in stack["Outputs"]}


def _aws_environment(url: str, access_key_id: str) -> dict[str, str]:
    return {
        "AWS_ACCESS_KEY_ID": access_key_id,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": url,
        "AWS_REGION": REGION,
        "AWS_SECRET_ACCESS_KEY": secrets.token_hex(20),
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "NO_PROXY": "127.0.0.1,localhost",
    }


def _inherited_environment() -> dict[str, str]:
    """Return the user's environment without variables that would change how functions run."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AWS_", PREFIX, "PYTHON"))
    }


def _failures(cloudformation: Any) -> Iterator[str]:  # noqa: ANN401  boto3 makes its clients at run time
    for event in cloudformation.describe_stack_events(StackName=STACK_NAME)["StackEvents"]:
        if event["ResourceStatus"].endswith("FAILED"):
            yield f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', '')}"
