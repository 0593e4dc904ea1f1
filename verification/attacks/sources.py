"""Let people who may edit templates try sources of odd constants, tags and texts.

The real functions run on emulated AWS in this process. A viewer previews each source. An author
stores it as a draft, publishes and tests it; then it is previewed, rendered for an agent, sent
without a value, and delivered. No answer is a 5xx, and each email that was accepted is handed over.
"""

import json
import random
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import Final

from pillarbox.domain.accounts.key import SCOPES
from pillarbox.domain.sign_in.session import Role
from tests.contract.bodies import otp
from tests.contract.client import Api, ApiResponse
from tests.contract.mcp import McpClient
from tests.contract.service import Service
from verification.attacks.tally import Options, Tally, service_alone

#: A constant is written in `default` and beside `==`.
CONSTANTS: Final = (
    *(r'"\ud800"', r'"\udfff"', r'"\ude00\ud83d"', r'"\ud83d\ude00"', r'"a\ud800b"', '"\u202e"'),
    *(r'"\x00"', r'"\x1b[0m"', r'"\x7f"', r'"\x85"', r'"\0"', r'"\777"', r'"\400"', r'"a\tb\nc"'),
    *(r'"\N{BULLET}"', r'"\N{NO SUCH NAME}"', r'"\N{"', r'"\x"', r'"\u12"', r'"\U00110000"'),
    *('"\\', r'"\U0001f600"', r'"\u2028"', r'"\ufeff"', r'"\uffff"', '"\U0001f600"', '"\x01"'),
    *("1e999", "1e400", "1e308", "1e-999", "1.5", "9007199254740991", "9007199254740992", "1e1_0"),
    *("9007199254740993.0", "1_000", "00", "007", "0x1f", "0b1", "0o7", "0x", "1e", "1.", ".5"),
    *(f"0x{'f' * size}" for size in (13, 14, 4_000, 5_000, 20_000)),
    *(f"0b{'1' * size}" for size in (53, 54, 5_000, 20_000)),
    *(f"0o{'7' * size}" for size in (17, 18, 5_000, 20_000)),
    *("9" * size for size in (16, 4_300, 4_301, 20_000)),
    *(f"1{'_0' * 400}", f"{'9' * 400}.0", f"1e{'9' * 5_000}", f"0.{'3' * 5_000}", "-1", "+1"),
    *("true", "false", "none", "True", "None", "nan", "inf", "Infinity", "undefined", "null"),
    *("[]", "[[]]", "[1]", "{}", "()", "(())", "[[" * 200 + "]]" * 200, "[" * 5_000, "x", "x.y"),
    *(f'"{"x" * size}"' for size in (500, 501, 20_000)),
    *(rf'"\ud83d\ude00{"x" * size}"' for size in (497, 498, 499)),
    *('"a" "b"', r'"\ud83d" "\ude00"', "'it''s'", '"{{ x }}"', '"{% if %}"', '"-->"', "1|upper"),
    *("1 if 2", "1 ** 2 ** 3", "'a' * 9", "1 ~ 2", "lipsum", "not 1", "1 == 1", '"</style>"'),
)
_TEXTS: Final = (
    *("<p>", "</p>", "<b title='", "'>", "<style>p{color:red}", "</style>", "<p class=a>", "<!--"),
    *(
        "-->",
        "\n",
        " ",
        "a",
        "ü",
        "\U0001f600",
        "\u2028",
        "\x01",
        "\x7f",
        "\ufeff",
        "&#xd800;",
        "\ud800",
    ),
    *("{{ x }}", "{{ x.y }}", "{{ x|upper }}", "{{ x.y.z|default('') }}", "{%- if x -%}"),
    *("{{ i }}", "{% raw %}", "}}", "{{ x|trim|capitalize }}", "{{- y -}}", "&lt;", "<mj-raw>"),
    *("{% if not x == 1 %}", "{% else %}", "{% elif x %}", "{% endif %}", "{% for i in x %}", "{{"),
    *("{% for i in x|default([]) %}", "{% endfor %}", "{{ i.y }}", "{# a #}"),
    *("{% endraw %}", "{%", "%}", "{#", "#}"),
    *("{% if x and y or z %}", "<mj-text>", "</mj-text>", "<mj-button href='u'>"),
)
#: A budget of a minute has room for so many sources.
_BEFORE_A_BUDGET: Final = 10
_MJML_SHARE: Final = 0.2
_VALUES: Final[tuple[Mapping[str, object], ...]] = (
    *({}, {"x": "1", "y": 1, "z": "a", "i": 2}, {"x": [{"y": 1}], "y": "y"}),
)
_ODD_VALUES: Final[tuple[Mapping[str, object], ...]] = (
    {"x": 10**4_000, "y": 1e308, "z": "\ud800", "i": None},
    {"x": [[], {}, None, -0.0, True], "y": {"y": {"z": 10**4_299}}, "z": "\x00\u2028"},
)
_MJML: Final = (
    "<mjml><mj-body><mj-section><mj-column><mj-text>",
    "</mj-text></mj-column></mj-section></mj-body></mjml>",
)


def with_constant(constant: str) -> str:
    """Return a source that has a constant in each place where one can be."""
    return (
        f"<p>{{{{ x|default({constant}) }}}}{{% if y|default(1) == {constant} %}}1{{% endif %}}</p>"
    )


def generated(draw: random.Random) -> str:
    """Return a source of random parts, some of which are repeated."""
    parts = [
        with_constant(draw.choice(CONSTANTS)) if draw.random() < 0.2 else draw.choice(_TEXTS)
        for _ in range(draw.randint(1, 14))
    ]
    return "".join(part * draw.choice((*[1] * 40, *[2] * 8, *[30] * 8, 4_000)) for part in parts)


class _Author:
    """Tries one source at each door."""

    def __init__(self, service: Service, tally: Tally) -> None:
        account = service.account()
        self._service, self._tally, self._address = service, tally, f"ada@{account}.example"
        self._viewer = Api(session=service.session(account, Role.VIEWER, f"vic@{account}.example"))
        self._author = Api(session=service.session(account, Role.DEVELOPER, self._address))
        self._key = Api(service.key(account, scopes=SCOPES))
        self._agent = McpClient(self._key)

    def try_source(self, source: str, kind: str = "html") -> None:
        """Use a source as everybody may who can."""
        shown = {"kind": kind, "subject": "s", "source": source}
        locale = {"subject": "s", "source": source}
        for values in (*_VALUES, *_ODD_VALUES):
            body = shown | {"text": source, "variables": values}
            self._ask(self._viewer, "POST", "/templates/render", body)
        self._ask(self._viewer, "POST", "/templates/render", shown | {"default": locale})
        begun = self._ask(self._author, "POST", "/templates", {"name": "n", "category": "c"})
        path = f"/templates/{begun.json['id']}"
        draft = shown | {"name": "n", "category": "c", "locales": {"de": locale}}
        saved = self._ask(self._author, "PUT", f"{path}/draft", draft, 1)
        if saved.status != 200:
            return
        self._ask(self._author, "POST", f"{path}/test", {"to": self._address})
        published = self._ask(self._author, "POST", f"{path}/publish", None, saved.json["revision"])
        if published.status == 200:
            self._tally["published"] += 1
            self._ask(self._viewer, "GET", path)
            rendered = self._agent.request(
                "tools/call",
                {"name": "render_template", "arguments": {"templateId": begun.json["id"]}},
            )
            self._tally["rendered for an agent"] += '"isError":true' not in rendered.text
            if "internal_error" in rendered.text:
                self._tally.find("5xx", f"MCP {source}")
            for values in _VALUES:
                mail = otp(starterTemplate=..., templateId=begun.json["id"], variables=values)
                self._send(mail, source)
        self._ask(self._author, "DELETE", path)

    def _send(self, mail: object, source: str) -> None:
        sent = self._ask(self._key, "POST", "/emails", mail)
        if sent.status != 200:
            return
        self._tally["accepted"] += 1
        self._service.deliver()
        if self._key.get(sent.json["messageId"]).json["status"] != "sent":
            self._tally.find("accepted and not handed over", source)

    def _ask(
        self, api: Api, method: str, path: str, body: object = None, revision: int | None = None
    ) -> ApiResponse:
        headers = {} if revision is None else {"If-Match": f'"{revision}"'}
        answer = api.raw(method, path, None if body is None else json.dumps(body), headers)
        self._tally["requests"] += 1
        if answer.status >= 500:
            self._tally.find("5xx", f"{method} {path.rpartition('/')[2]} {body}")
        self._tally["over a budget"] += answer.status == 429
        return answer


def attack(
    service: Service, seconds: float, seed: int, constants: Iterable[str] = CONSTANTS
) -> Tally:
    """Try constants, and then random sources for some time."""
    tally = Tally("5xx", "accepted and not handed over")
    for constant in constants:
        _Author(service, tally).try_source(with_constant(constant))
        tally["constants"] += 1
    draw, end = random.Random(seed), monotonic() + seconds  # noqa: S311  repeatable, not a secret
    while monotonic() < end:
        author = _Author(service, tally)
        for _ in range(_BEFORE_A_BUDGET):
            source = generated(draw)
            is_mjml = draw.random() < _MJML_SHARE
            author.try_source(
                source.join(_MJML) if is_mjml else source, "mjml" if is_mjml else "html"
            )
            tally["sources"] += 1
    return tally


def run(options: Options) -> Tally:
    """Try them on services of its own."""
    with service_alone() as service:
        return attack(service, options.seconds, options.seed)
