"""The layer's trimmed SDK works like the complete one."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import botocore

from trim_sdk import SERVICES, trim

LAYER = Path(__file__).parents[2] / "layers" / "shared"
COMPLETE = Path(botocore.__file__).parent

#: Services that only the operator's command uses. It has the complete SDK.
OPERATOR_SERVICES = {"cloudformation", "route53", "sns"}

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


def test_the_trimmed_sdk_has_the_same_endpoints(tmp_path: Path) -> None:
    """The remaining clients have the endpoints of the complete SDK in each partition."""
    copied = {*SERVICES, "sns"}
    shutil.copytree(
        COMPLETE,
        tmp_path / "botocore",
        ignore=lambda folder, names: (
            [name for name in names if (Path(folder) / name).is_dir() and name not in copied]
            if Path(folder).name == "data"
            else []
        ),
    )
    endpoints_file = tmp_path / "botocore" / "data" / "endpoints.json"
    cached = tmp_path / "cached.json"
    cached.hardlink_to(endpoints_file)
    trim(tmp_path)
    services = list(SERVICES)
    assert endpoints(tmp_path, services) == endpoints(COMPLETE.parent, services)
    assert not (tmp_path / "botocore" / "data" / "sns").exists()
    assert endpoints_file.stat().st_size < cached.stat().st_size, "the cached copy stays complete"


def test_every_client_of_the_layer_has_its_data() -> None:
    """The remaining services are those for which the functions' adapters make clients."""
    used = {
        service
        for path in (LAYER / "pillarbox" / "adapters").rglob("*.py")
        for service in re.findall(r'(?:make_client|client_of)\("(\w+)"', path.read_text())
    }
    assert used - OPERATOR_SERVICES == set(SERVICES)
