"""Pack what `sam build` built as `pillarbox deploy` uploads it: `python -m tools.pack_release`.

The folder has an archive for each function and for the layer, the nested templates, the file that
the template includes, and `template.json`, which names each of them. A name has a hash of the
content, so the template changes with any of them. The same sources give the same octets.
"""

import hashlib
import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).resolve().parents[1]
BUILT: Final = ROOT / ".aws-sam" / "build"
RELEASE: Final = ROOT / ".aws-sam" / "release"
#: The first moment that an archive can name.
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


def pack(built: Path = BUILT, release: Path = RELEASE) -> None:
    """Pack a folder of `sam build` into another one, which is made anew."""
    shutil.rmtree(release, ignore_errors=True)
    release.mkdir(parents=True)
    template = yaml.load((built / "template.yaml").read_text(), yaml.CSafeLoader)
    for holder, name in _files(template):
        source = built / holder[name]
        target = release / "unfinished"
        if source.is_dir():
            _archive(source, target)
            suffix = ".zip"
        elif name == "TemplateURL":
            nested = yaml.load(source.read_text(), yaml.CSafeLoader)
            target.write_text(json.dumps(nested, separators=(",", ":"), default=str))
            suffix = ".json"
        else:
            shutil.copyfile(source, target)
            suffix = source.suffix
        place = source.parent if source.name == "template.yaml" else source
        digest = hashlib.sha256(target.read_bytes()).hexdigest()[:16]
        holder[name] = f"{place.stem}-{digest}{suffix}"
        target.rename(release / holder[name])
    (release / "template.json").write_text(json.dumps(template, separators=(",", ":"), default=str))


def _files(part: Any) -> Iterator[tuple[dict[str, Any], str]]:  # noqa: ANN401  YAML
    """Yield each member of a template that names a file: the object, and the member's name."""
    if isinstance(part, list):
        part = dict(enumerate(part))
    if not isinstance(part, dict):
        return
    if part.get("Name") == "AWS::Include":
        yield part["Parameters"], "Location"
    for name, value in part.items():
        if name in {"CodeUri", "ContentUri", "TemplateURL"}:
            yield part, name
        else:
            yield from _files(value)


def _archive(folder: Path, target: Path) -> None:
    """Write a folder as an archive that does not depend on its place, age or owner."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(filter(_is_run, folder.rglob("*"))):
            member = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o755 if path.stat().st_mode & 0o100 else 0o644) << 16
            archive.writestr(member, path.read_bytes())


def _is_run(path: Path) -> bool:
    """Whether a function needs a file: no program, list of files, or byte code without a source.

    Programs name the Python that installed them, and lists have their hashes.
    """
    if not path.is_file() or path.parent.name == "bin" or path.name == "RECORD":
        return False
    if path.parent.name != "__pycache__":
        return True
    source = path.parent.parent / f"{path.name.partition('.')[0]}.py"
    return "bin" not in path.parts and source.exists()


if __name__ == "__main__":
    pack()
