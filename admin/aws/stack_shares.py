"""What the stacks of an AWS account and region have of SES's rate."""

from collections.abc import Mapping
from typing import Final

from admin.aws import stacks
from pillarbox.adapters.aws import operator_errors
from pillarbox.settings import Settings

_NAME: Final = "CloudFormation"
#: A stack with these outputs is a Pillarbox; its nested stacks lack them.
_OUTPUTS: Final = frozenset({Settings.table.output, Settings.configuration_set.output})


class CloudFormationShares:
    """Implements `operations.ports.StackShares`."""

    def read(self) -> Mapping[str, int]:
        """Return the share of each stack that has finished its first deployment."""
        share = Settings.ses_rate_share
        with operator_errors(_NAME):
            return {
                stack.name: int(stack.parameters[share.parameter])
                for stack in stacks.every()
                if stack.outputs.keys() >= _OUTPUTS
            }
