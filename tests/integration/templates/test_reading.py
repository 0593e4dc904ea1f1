"""Templates are read, translated, linted and compared as AWS does it: on small ones."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.integration.templates.planting import Templates
from tests.loops import for_each
from tools.templates import __main__ as program
from tools.templates.lint import check_lint
from tools.templates.names import check_neighbours
from tools.templates.resolve import Resolver, Unresolved
from tools.templates.sets import SETS, ParameterSet
from tools.templates.stack import build
from tools.templates.translate import Sources, Unreadable

_HEAD = """
Transform: AWS::Serverless-2016-10-31
Globals: {Function: {Runtime: python3.13, Environment: {Variables: {}}}}
Parameters: {Firewall: {Type: String, Default: none}}
"""


def _sources(folder: Path, files: Mapping[str, str]) -> Sources:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text((_HEAD if name == "template.yaml" else "") + text)
    return Sources(folder)


_INCLUDING = """
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: api
      DefinitionBody:
        openapi: 3.0.1
        paths: {"Fn::Transform": {Name: AWS::Include, Parameters: {Location: api.yaml}}}
"""


def test_included_files_are_part_of_the_template(tmp_path: Path) -> None:
    """AWS::Include puts a file's content in its place before SAM reads the template."""
    paths = '"/v1/emails": {post: {x-amazon-apigateway-integration: {uri: {Ref: Nothing}}}}'
    sources = _sources(tmp_path, {"template.yaml": _INCLUDING, "api.yaml": paths})
    stack = build(sources, ParameterSet("small"))
    body = stack.resources["Api"]["Properties"]["Body"]
    assert body["paths"]["/v1/emails"]["post"]["x-amazon-apigateway-integration"] == {
        "uri": {"Ref": "Nothing"}
    }


@pytest.mark.parametrize(
    ("message", "template", "files"),
    [
        ("short form: .*!Ref.*Write the long form", _INCLUDING, {"api.yaml": "a: !Ref Nothing"}),
        ("api.yaml is missing", _INCLUDING, {}),
        ("Send", "Resources: {Send: {Type: AWS::Serverless::Function}}", {}),
    ],
    ids=["short form", "missing", "without code"],
)
def test_what_aws_cannot_include_or_sam_refuses_is_named(
    tmp_path: Path, message: str, template: str, files: Mapping[str, str]
) -> None:
    sources = _sources(tmp_path, {"template.yaml": template, **files})
    with pytest.raises(Unreadable, match=message):
        build(sources, ParameterSet("small"))


_LINTED = {
    "template.yaml": """
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
    DeletionPolicy: Delete
    UpdateReplacePolicy: Delete
  Nested:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: nested.yaml, Parameters: {Role: !Ref Table}}
""",
    "nested.yaml": """
Parameters: {Role: {Type: String}}
Resources:
  Task:
    Type: AWS::ECS::TaskDefinition
    Properties: {TaskRoleArn: !Ref Role, ContainerDefinitions: [{Name: a, Image: b}]}
""",
}


def test_lint_reads_what_sam_wrote_and_what_nested_stacks_get(tmp_path: Path) -> None:
    """A name that is passed as an ARN is found, though each file is right on its own."""
    stack = build(_sources(tmp_path, _LINTED), ParameterSet("small"))
    found = {problem.resource: problem.message for problem in check_lint(stack)}
    assert found.keys() == {"Resources/Task/Properties/TaskRoleArn"}


def test_two_stacks_in_an_account_have_different_names() -> None:
    templates = Templates()
    board = {
        "DashboardName": {"Fn::Sub": "${AWS::StackName}-board"},
        "DashboardBody": '{"widgets": []}',
    }
    templates.plant(
        {
            "Resources Topic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "one"}},
            "Resources Board": {"Type": "AWS::CloudWatch::Dashboard", "Properties": board},
        }
    )
    prod, second, europe = (
        next(chosen for chosen in SETS if chosen.name == name)
        for name in ("prod", "second-stack", "europe")
    )
    stacks = [(chosen, build(templates, chosen)) for chosen in (prod, second, europe)]
    found = {(name, problem.resource) for name, problem in check_neighbours(stacks)}
    assert found == {("second-stack", "Topic"), ("europe", "Board")}


def test_a_condition_of_itself_is_not_evaluated() -> None:
    circle = {
        "Conditions": {"One": {"Condition": "Two"}, "Two": {"Fn::Not": [{"Condition": "One"}]}}
    }
    with pytest.raises(Unresolved, match="One"):
        Resolver(circle, {}).holds("One")


@for_each(
    ("part", "resolved"),
    [
        ({"Fn::Join": ["-", [{"Ref": "Name"}, 1, True]]}, "mail-1-true"),
        ({"Fn::Join": ["-", [{"Ref": "Table"}]]}, {"Fn::Join": ["-", [{"Ref": "Table"}]]}),
        ({"Fn::Select": ["1", {"Fn::Split": [",", {"Ref": "Zones"}]}]}, "b"),
        ({"Fn::Sub": "${Name} ${!Name} ${Table.Arn}"}, {"Fn::Sub": "mail ${!Name} ${Table.Arn}"}),
        ({"Fn::Sub": "${Name} ${!Name}"}, "mail ${Name}"),
        (
            {"Fn::Sub": ["${of}/${other}", {"of": {"Ref": "Table"}, "other": {"Ref": "Name"}}]},
            {"Fn::Sub": "${Table}/mail"},
        ),
        ({"Fn::GetAtt": "Table.Arn"}, {"Fn::GetAtt": ["Table", "Arn"]}),
        ([{"Fn::If": ["No", 1, {"Ref": "AWS::NoValue"}]}, 2], [2]),
        ({"a": {"Fn::If": ["No", 1, {"Ref": "AWS::NoValue"}]}, "b": 2}, {"b": 2}),
    ],
)
def test_functions_are_evaluated(part: object, resolved: object) -> None:
    """What the parameters decide is put in; references to resources stay."""
    template = {"Conditions": {"No": {"Fn::Equals": [{"Ref": "Name"}, "no"]}}}
    assert Resolver(template, {"Name": "mail", "Zones": "a,b"}).resolve(part) == resolved


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ("Topic: {Type: AWS::SNS::Topic}", None),
        ("Topic: {Type: AWS::SNS::Topic, DependsOn: Topic}", "Circular Dependencies"),
        ("Topic: {Type: AWS::Serverless::Function}", "Topic"),
    ],
    ids=["sound", "circle", "unreadable"],
)
def test_the_program_fails_if_there_is_a_problem(
    resources: str,
    message: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sources = _sources(tmp_path, {"template.yaml": f"Resources: {{{resources}}}"})
    monkeypatch.setattr(program, "Sources", lambda: sources)
    monkeypatch.setattr(program, "SETS", (ParameterSet("small"), ParameterSet("other")))
    monkeypatch.setattr("tools.templates.upgrade.newest_release", lambda: None)
    monkeypatch.setattr("sys.argv", ["templates"])
    assert program.main() == (0 if message is None else 1)
    shown = capsys.readouterr().err
    assert not shown if message is None else message in shown
