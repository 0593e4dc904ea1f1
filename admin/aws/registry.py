"""The repository of the relay's images in ECR."""

import json
from base64 import b64decode
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

#: The repository of `relay image`, unless the operator names another one.
RELAY_IMAGES: Final = "pillarbox-relay"
#: This many images stay. ECR does not know which one is in use: `prod` may use an old one while
#: `dev` gets new ones. Images share their base, so each takes a few MB.
_KEPT_IMAGES: Final = 100
_LIFECYCLE: Final = {
    "rules": [
        {
            "rulePriority": 1,
            "description": "Keep the newest images",
            "selection": {
                "tagStatus": "any",
                "countType": "imageCountMoreThan",
                "countNumber": _KEPT_IMAGES,
            },
            "action": {"type": "expire"},
        }
    ]
}


@dataclass(frozen=True, slots=True)
class RegistryLogin:
    """The host of the account's registry, and the password for the user AWS."""

    registry: str
    password: str


class Repository:
    """A repository of the account, in the region of the service."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._ecr: Any = boto3.client("ecr")  # no type stubs

    def ensure(self) -> str:
        """Create the repository unless it exists, and return its address.

        A tag cannot be moved to another image, and ECR looks for known vulnerabilities. If the
        repository exists, it keeps its own rules.
        """
        try:
            made = self._ecr.create_repository(
                repositoryName=self._name,
                imageTagMutability="IMMUTABLE",
                imageScanningConfiguration={"scanOnPush": True},
            )["repository"]
        except ClientError as error:
            if error.response["Error"]["Code"] != "RepositoryAlreadyExistsException":
                raise
            (made,) = self._ecr.describe_repositories(repositoryNames=[self._name])["repositories"]
        else:
            self._ecr.put_lifecycle_policy(
                repositoryName=self._name, lifecyclePolicyText=json.dumps(_LIFECYCLE)
            )
        uri: str = made["repositoryUri"]
        return uri

    def digest(self, tag: str) -> str | None:
        """Return the digest of the image with a tag; None if there is none."""
        try:
            answer = self._ecr.describe_images(
                repositoryName=self._name, imageIds=[{"imageTag": tag}]
            )
        except ClientError as error:
            if error.response["Error"]["Code"] == "ImageNotFoundException":
                return None
            raise
        digest: str = answer["imageDetails"][0]["imageDigest"]
        return digest

    def newest(self) -> str | None:
        """Return the address of the image that was pushed last; None if there is none."""
        place = {"repositoryName": self._name}
        pages = self._ecr.get_paginator("describe_images").paginate(
            **place,
            filter={"tagStatus": "TAGGED"},  # not the parts of an image
        )
        try:
            images = [image for page in pages for image in page["imageDetails"]]
        except ClientError as error:
            if error.response["Error"]["Code"] == "RepositoryNotFoundException":
                return None
            raise
        if not images:
            return None
        newest = max(images, key=itemgetter("imagePushedAt"))
        (found,) = self._ecr.describe_repositories(repositoryNames=[self._name])["repositories"]
        return f"{found['repositoryUri']}@{newest['imageDigest']}"

    def login(self) -> RegistryLogin:
        """Return a login for twelve hours."""
        (data,) = self._ecr.get_authorization_token()["authorizationData"]
        _, _, password = b64decode(data["authorizationToken"]).decode().partition(":")
        return RegistryLogin(data["proxyEndpoint"].removeprefix("https://"), password)
