"""Reads the templates and translates them with SAM, as AWS does before it creates anything."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import boto3
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

from local import template

type Json = Any  # a part of a template

ROOT_TEMPLATE: Final = "template.yaml"
#: The translator reads the value of this; it leaves references to the others to CloudFormation.
_READ_BY_SAM: Final = ("Rollout",)
_CODE: Final = ("CodeUri", "ContentUri")


class Unreadable(Exception):
    """A template, or a file that it includes, cannot be read."""


def load(folder: Path, name: str = ROOT_TEMPLATE) -> Json:
    """Return a template of a folder, with the files that it includes."""
    try:
        return template.load(folder / name)
    except OSError as error:
        raise Unreadable(f"{Path(error.filename).name} is missing.") from error
    except ValueError as error:
        raise Unreadable(f"In {name}, {error}. Write the long form, such as Fn::Sub.") from error


def translate(source: Json, parameters: Mapping[str, str], region: str) -> Json:
    """Return a template as SAM translates it for a region."""
    source = copy.deepcopy(source)
    for resource in source["Resources"].values():
        for place in resource.get("Properties", {}).keys() & _CODE:
            resource["Properties"][place] = "s3://bucket/key"
    translator = Translator({}, Parser(), boto_session=boto3.Session(region_name=region))
    values = {name: parameters[name] for name in _READ_BY_SAM if name in parameters}
    try:
        translated = translator.translate(sam_template=source, parameter_values=values)
    except Exception as error:
        causes = getattr(error, "causes", None)
        if causes is None:
            raise
        raise Unreadable(" ".join(cause.message for cause in causes)) from error
    return json.loads(json.dumps(translated))  # SAM's own kinds of dict lose what is added later


class Sources:
    """The templates of a folder. Each is read once, and translated once for each distinct case."""

    def __init__(self, folder: Path = template.ROOT) -> None:
        self.folder = folder
        self._texts: dict[str, Json] = {}
        self._translated: dict[str, Json] = {}

    def read(self, name: str) -> Json:
        """Return a template as it is written; a caller that changes it changes what is checked."""
        if name not in self._texts:
            self._texts[name] = load(self.folder, name)
        return self._texts[name]

    def translated(self, parameters: Mapping[str, str], region: str) -> Json:
        """Return the root template as SAM translates it."""
        case = json.dumps([region, *(parameters.get(name) for name in _READ_BY_SAM)])
        if case not in self._translated:
            self._translated[case] = translate(self.read(ROOT_TEMPLATE), parameters, region)
        return self._translated[case]
