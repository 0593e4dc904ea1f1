"""The brand of an account: what its emails show of their sender."""

from dataclasses import dataclass, replace
from typing import Final

from pillarbox.domain.errors import Json

#: Contract 8.2: characters of a brandName, of a logoUrl (and our other links) and of a fromName.
MAX_BRAND_NAME: Final = 128
MAX_LOGO_URL: Final = 2048
MAX_FROM_NAME: Final = 1024
MAX_COMPANY_ADDRESS: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """A brand. `from_name` is the display name of the sender, and `accent` a colour: `#c4122f`.

    What starters show of the company: `support_email` is an address or a link for help,
    `company_address` the postal address, and `action_url` the link of the button of `welcome`.
    """

    name: str | None = None
    logo_url: str | None = None
    accent: str | None = None
    from_name: str | None = None
    support_email: str | None = None
    company_address: str | None = None
    action_url: str | None = None

    def override(
        self, *, name: str | None, logo_url: str | None, from_name: str | None = None
    ) -> "Brand":
        """Return the brand of one email: what its request gives, and this brand for the rest.

        A request that names another brand gets of this one the colour and the display name only.
        """
        is_other = bool(name) and name != self.name
        own = Brand(accent=self.accent, from_name=self.from_name) if is_other else self
        return replace(
            own,
            name=self.name if name is None else name,
            logo_url=own.logo_url if logo_url is None else logo_url,
            from_name=own.from_name if from_name is None else from_name,
        )

    def variables(self) -> dict[str, Json]:
        """Return the variables that a saved template gets from the brand, if a send gives none."""
        values = {"brandName": self.name, "logoUrl": self.logo_url}
        return {name: value for name, value in values.items() if value is not None}

    def name_or(self, account_name: str) -> str:
        """Return the name to show: the brand's, else the sender's, else the account's.

        A sender's name may be longer than a subject, so it is cut to the length of a brand name.
        """
        names = (self.name, self.from_name, account_name)
        return next((name for name in names if name and name.strip()), "")[:MAX_BRAND_NAME]


#: The brand of an account that has set none.
NO_BRAND: Final = Brand()
