"""The layer's trimmed SDK works like the complete one."""

import re
import shutil
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import botocore
from botocore import xform_name
from botocore.loaders import Loader

from trim_sdk import OPERATIONS, SERVICES, trim

LAYER = Path(__file__).parents[2] / "layers" / "shared"
COMPLETE = Path(botocore.__file__).parent

#: What botocore calls by itself.
OF_BOTOCORE = {"HeadBucket"}
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


def expanded(model: dict[str, Any], part: Any, above: tuple[str, ...] = ()) -> Any:
    """Return a part of a model with the shapes that it refers to, and no documentation."""
    if isinstance(part, list):
        return [expanded(model, value, above) for value in part]
    if not isinstance(part, dict):
        return part
    expansion = {
        name: expanded(model, value, above)
        for name, value in part.items()
        if not (name == "documentation" and isinstance(value, str))
    }
    shape = part.get("shape")
    if isinstance(shape, str) and shape not in above:
        expansion["shape"] = expanded(model, model["shapes"][shape], (*above, shape))
    return expansion


def models(site: Path) -> dict[str, dict[str, Any]]:
    """Return the models of the services of which some operations are kept."""
    loader = Loader([str(site / "botocore" / "data")], include_default_search_paths=False)
    return {service: loader.load_service_model(service, "service-2") for service in OPERATIONS}


def test_the_trimmed_sdk_is_the_complete_one_for_what_remains(tmp_path: Path) -> None:
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
    complete = models(COMPLETE.parent)
    for service, trimmed in models(tmp_path).items():
        kept = OPERATIONS[service].split()
        assert sorted(trimmed["operations"]) == sorted(kept)
        for name in kept:
            operations = (model["operations"][name] for model in (trimmed, complete[service]))
            ours, theirs = map(expanded, (trimmed, complete[service]), operations)
            assert ours == theirs
        for part in complete[service].keys() - {"operations", "shapes"}:
            assert trimmed[part] == complete[service][part]
    authorities = ssl.create_default_context(cafile=tmp_path / "amazon.pem").get_ca_certs()
    subjects = str([authority["subject"] for authority in authorities])
    assert len(authorities) == 7
    assert subjects.count("('organizationName', 'Amazon')") == 4
    assert subjects.count("('organizationName', 'Starfield Technologies, Inc.')") == 3
    assert not (tmp_path / "botocore" / "data" / "sns").exists()
    assert endpoints_file.stat().st_size < cached.stat().st_size, "the cached copy stays complete"


def test_every_client_of_the_layer_has_its_data() -> None:
    used = {
        service
        for path in (LAYER / "pillarbox" / "adapters").rglob("*.py")
        for service in re.findall(r'(?:make_client|client_of)\("(\w+)"', path.read_text())
    }
    assert used - OPERATOR_SERVICES == set(SERVICES)


def test_every_call_of_the_layer_has_its_operation() -> None:
    texts = [path.read_text() for path in (LAYER / "pillarbox" / "adapters").rglob("*.py")]
    for service, model in models(COMPLETE.parent).items():
        callers = [text for text in texts if f'"{service}"' in text]
        words = {*re.findall(r"\w+", "\n".join(callers))}
        called = {name for name in model["operations"] if xform_name(name) in words}
        assert set(OPERATIONS[service].split()) - OF_BOTOCORE == called, service
