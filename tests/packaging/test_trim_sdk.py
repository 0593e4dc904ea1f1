"""The layer's SDK is lean, and answers as the whole one."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import botocore

from trim_sdk import SERVICES, trim

LAYER = Path(__file__).parents[2] / "layers" / "shared"
WHOLE = Path(botocore.__file__).parent

#: Of the operator's command alone, which has the whole SDK.
OPERATORS = {"cloudformation", "cloudwatch", "lambda", "route53", "sns"}

ENDPOINTS = """
import sys, botocore.session
session = botocore.session.get_session()
session.set_credentials("id", "secret")
for region in ("eu-west-1", "us-east-1", "us-gov-west-1", "cn-north-1", "ap-none-9"):
    for service in sys.argv[1:]:
        print(session.create_client(service, region_name=region).meta.endpoint_url)
"""


def endpoints(site: Path, services: list[str]) -> list[str]:
    return subprocess.run(
        [sys.executable, "-c", ENDPOINTS, *services],
        env={"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()


def test_what_is_left_reaches_the_same_endpoints(tmp_path: Path) -> None:
    """The clients that are left have the endpoints that the whole SDK gives, in each partition."""
    wanted = {*SERVICES, "sns"}
    shutil.copytree(
        WHOLE,
        tmp_path / "botocore",
        ignore=lambda folder, names: (
            [name for name in names if (Path(folder) / name).is_dir() and name not in wanted]
            if Path(folder).name == "data"
            else []
        ),
    )
    endpoints_file = tmp_path / "botocore" / "data" / "endpoints.json"
    elsewhere = tmp_path / "cached.json"
    elsewhere.hardlink_to(endpoints_file)
    trim(tmp_path)
    services = list(SERVICES)
    assert endpoints(tmp_path, services) == endpoints(WHOLE.parent, services)
    assert not (tmp_path / "botocore" / "data" / "sns").exists()
    assert endpoints_file.stat().st_size < elsewhere.stat().st_size, "the installer's copy is whole"


def test_every_client_of_the_layer_has_its_data() -> None:
    """The services that are kept are those whose clients the adapters make for the functions."""
    made = {
        service
        for path in (LAYER / "pillarbox" / "adapters").rglob("*.py")
        for service in re.findall(r'make_client\("(\w+)"', path.read_text())
    }
    assert made - OPERATORS == set(SERVICES)
