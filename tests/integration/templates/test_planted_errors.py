"""Each error that the checks of the templates are for, planted in the project's own templates."""

import re
from collections.abc import Callable
from typing import Any, Final

import pytest

from tests.integration.templates.planting import ALARMS, RELAY, Templates, texts

type Plant = Callable[[Templates], object]

_PLANTS: Final[dict[str, tuple[Plant, str]]] = {}


def _plants(message: str) -> Callable[[Plant], Plant]:
    """Declare what the checks must say about an error; its name is the function's."""

    def declare(plant: Plant) -> Plant:
        _PLANTS[plant.__name__] = (plant, message)
        return plant

    return declare


def _variables(templates: Templates, function: str) -> dict[str, Any]:
    variables: dict[str, Any] = templates.properties(function)["Environment"]["Variables"]
    return variables


@_plants(r"need each other; the shortest circle is .*Edge -> Api -> .*MailCode|MailCode -> Edge")
def function_reads_the_address_of_the_edge(templates: Templates) -> None:
    url = {"Fn::Sub": "https://${Edge.DomainName}"}
    _variables(templates, "MailCode")["PILLARBOX_API_URL"] = url


@_plants(r"shortest circle is (Table -> TableReader|TableReader -> Table)")
def circle_by_depends_on(templates: Templates) -> None:
    _add(templates, "TableReader", {"TopicName": {"Ref": "Table"}})
    templates.resources["Table"]["DependsOn"] = "TableReader"


@_plants(r"shortest circle is (Relay -> Table|Table -> Relay)")
def circle_by_the_output_of_a_nested_stack(templates: Templates) -> None:
    address = {"Fn::GetAtt": ["Relay", "Outputs.RelayAddress"]}
    templates.properties("Table")["Tags"] = [{"Key": "relay", "Value": address}]


def _add(templates: Templates, key: str, properties: Any, **attributes: Any) -> None:
    """Add a topic, which has no other resource."""
    templates.resources[key] = {
        "Type": "AWS::SNS::Topic",
        "Properties": properties,
        **attributes,
    }


def _add_absent(templates: Templates) -> None:
    """Add a resource that does not exist with these parameters."""
    templates.root["Conditions"]["Never"] = {"Fn::Equals": [{"Ref": "Tracing"}, "never"]}
    _add(templates, "Absent", {}, Condition="Never")


@_plants("SendEmail: It names Absent, which does not exist if Never is false")
def reference_to_an_absent_resource(templates: Templates) -> None:
    _add_absent(templates)
    _variables(templates, "SendEmail")["TOPIC"] = {"Ref": "Absent"}


@_plants("SendEmail: It names Absent, which does not exist if Never is false")
def reference_to_an_absent_resource_in_a_text(templates: Templates) -> None:
    _add_absent(templates)
    _variables(templates, "SendEmail")["TOPIC"] = {"Fn::Sub": "topic/${Absent.TopicName}"}


@_plants("SendEmail: It names Absent, which does not exist if Never is false")
def dependence_on_an_absent_resource(templates: Templates) -> None:
    _add_absent(templates)
    templates.resources["SendEmail"]["DependsOn"] = ["Table", "Absent"]


@_plants("Address: It names Absent, which does not exist if Never is false")
def output_of_an_absent_resource(templates: Templates) -> None:
    _add_absent(templates)
    templates.root["Outputs"]["Address"] = {"Value": {"Ref": "Absent"}}


@_plants("SendEmail: It names Tabel, which is not declared")
def reference_to_nothing(templates: Templates) -> None:
    _variables(templates, "SendEmail")["TABLE"] = {"Ref": "Tabel"}


@_plants("SendEmail: It reads Table.Url, but AWS::DynamoDB::Table has no such attribute")
def attribute_that_does_not_exist(templates: Templates) -> None:
    _variables(templates, "SendEmail")["TABLE"] = {"Fn::GetAtt": ["Table", "Url"]}


@_plants("DeliverMessageJobs: It has no FunctionName")
def mapping_without_a_function(templates: Templates) -> None:
    del templates.properties("DeliverMessageJobs")["FunctionName"]


@_plants("SendEmailAliaslive: It names SendEmail, which is not declared")
def function_that_is_gone(templates: Templates) -> None:
    del templates.resources["SendEmail"]


@_plants("SendEmail: The condition WithTable is not declared")
def condition_that_is_not_declared(templates: Templates) -> None:
    table = {"Fn::If": ["WithTable", {"Ref": "Table"}, ""]}
    _variables(templates, "SendEmail")["TABLE"] = table


@_plants("SendEmail: The mapping Sizes / small / Memory is not declared")
def mapping_that_is_not_declared(templates: Templates) -> None:
    size = {"Fn::FindInMap": ["Sizes", {"Ref": "RelaySize"}, "Memory"]}
    templates.properties("SendEmail")["MemorySize"] = size


@_plants("RelayAddress: It reads Relay.Outputs.Host, which stacks/relay.yaml does not give")
def output_that_a_nested_stack_does_not_give(templates: Templates) -> None:
    value = {"Fn::GetAtt": ["Relay", "Outputs.Host"]}
    templates.root["Outputs"]["RelayAddress"]["Value"] = value


@_plants("Relay: It passes Colour, which stacks/relay.yaml does not declare")
def parameter_that_a_nested_stack_does_not_declare(templates: Templates) -> None:
    templates.properties("Relay")["Parameters"]["Colour"] = "red"


@_plants("TableArn: It has neither a value nor a default")
def parameter_that_a_nested_stack_does_not_get(templates: Templates) -> None:
    del templates.properties("Relay")["Parameters"]["TableArn"]


@_plants("Relay: It passes TableArn, which is not a text")
def list_for_a_nested_stack(templates: Templates) -> None:
    templates.properties("Relay")["Parameters"]["TableArn"] = [{"Ref": "Table"}]


@_plants("FrontFirewallAssociation: WebACLArn gets JobsQueue, which is not an ARN")
def address_that_a_nested_stack_takes_for_an_arn(templates: Templates) -> None:
    templates.properties("Relay")["Parameters"]["FrontFirewall"] = {"Ref": "JobsQueue"}


@_plants("Names: Its value is not a text")
def output_that_is_a_list(templates: Templates) -> None:
    zone = {"Type": "AWS::Route53::HostedZone", "Properties": {"Name": "mail.example"}}
    templates.resources["Zone"] = zone
    names = {"Value": {"Fn::GetAtt": ["Zone", "NameServers"]}}
    templates.root["Outputs"]["Names"] = names


@_plants("Relay: none.yaml is missing")
def nested_template_that_does_not_exist(templates: Templates) -> None:
    templates.properties("Relay")["TemplateURL"] = "stacks/none.yaml"


@_plants(r"Resources: It has \d+ resources, more than 400")
def too_many_resources(templates: Templates) -> None:
    for number in range(401):
        _add(templates, f"Topic{number}", {})


@_plants(r"Parameters: It has \d+ parameters, more than 200")
def too_many_parameters(templates: Templates) -> None:
    for number in range(201):
        templates.root["Parameters"][f"Extra{number}"] = {"Type": "String", "Default": ""}


@_plants(r"Outputs: It has \d+ outputs, more than 200")
def too_many_outputs(templates: Templates) -> None:
    for number in range(201):
        templates.root["Outputs"][f"Extra{number}"] = {"Value": "x"}


@_plants(r"template: It has [\d,]+ bytes, more than 1,000,000")
def template_that_is_too_large(templates: Templates) -> None:
    _add(templates, "Large", {"DisplayName": "x" * 900_000})


@_plants(r"template: It has \d+ dynamic references")
def too_many_dynamic_references(templates: Templates) -> None:
    secrets = ["{{resolve:secretsmanager:x}}"] * 61
    _add(templates, "Secrets", {"DisplayName": " ".join(secrets)})


@_plants("Description: It has 1,025 bytes")
def description_that_is_too_long(templates: Templates) -> None:
    templates.root["Description"] = "x" * 1025


@_plants("Api: It has 30[0-9] resources of the API|Api: It has [3-9][0-9]{2} resources of the API")
def too_many_paths(templates: Templates) -> None:
    paths = templates.properties("Api")["Body"]["paths"]
    paths |= {f"/v1/extra{number}": {} for number in range(300)}


@_plants(r"Api: /v1/emails has the variables {\w+} and {\w+} below it")
def two_path_variables_in_one_place(templates: Templates) -> None:
    templates.properties("Api")["Body"]["paths"]["/v1/emails/{key}/again"] = {}


def _remove_permissions(templates: Templates, function: str) -> None:
    for key, resource in list(templates.resources.items()):
        if resource["Type"] == "AWS::Lambda::Permission" and key.startswith(function):
            del templates.resources[key]


@_plants("Api: It calls SendEmailAliaslive, but apigateway.amazonaws.com has no permission")
def route_without_a_permission(templates: Templates) -> None:
    _remove_permissions(templates, "SendEmail")


@_plants("SweepMessagesHourly: It calls .*, but events.amazonaws.com has no permission")
def schedule_without_a_permission(templates: Templates) -> None:
    _remove_permissions(templates, "SweepMessages")


@_plants(r"SendEmailAliaslive: Its resource policy has [\d,]+ bytes, more than 16,384")
def too_many_permissions_of_a_function(templates: Templates) -> None:
    for number in range(60):
        templates.resources[f"Permission{number}"] = {
            "Type": "AWS::Lambda::Permission",
            "Properties": {
                "Action": "lambda:InvokeFunction",
                "Principal": "apigateway.amazonaws.com",
                "FunctionName": {"Ref": "SendEmailAliaslive"},
                "SourceArn": {"Fn::Sub": "arn:${AWS::Partition}:execute-api:x:x:${Api}/api/GET/x"},
            },
        }


def _statements(templates: Templates, role: str) -> list[Any]:
    (policy,) = templates.properties(role)["Policies"]
    statements: list[Any] = policy["PolicyDocument"]["Statement"]
    return statements


@_plants(r"SendEmailRole: It has [\d,]+ characters of inline policies, more than 10,240")
def inline_policy_that_is_too_long(templates: Templates) -> None:
    arns = [f"arn:aws:sqs:us-east-1:123456789012:queue{number}" for number in range(240)]
    _statements(templates, "SendEmailRole").append(
        {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": arns}
    )


@_plants(r"SendEmailRole: Statement \d+ of .* has no Resource")
def statement_without_a_resource(templates: Templates) -> None:
    empty = {"Fn::If": ["WithRelay", {"Ref": "AWS::NoValue"}, "*"]}
    _statements(templates, "SendEmailRole").append(
        {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": [empty]}
    )


@_plants(r"SendEmail: It has [\d,]+ bytes of variables, more than 4,096")
def environment_that_is_too_large(templates: Templates) -> None:
    _variables(templates, "SendEmail")["LONG"] = "x" * 4000


@_plants("JobsQueue: .*Policy and .*Policy each write its policy")
def two_policies_of_a_queue(templates: Templates) -> None:
    templates.resources["SecondPolicy"] = {
        "Type": "AWS::SQS::QueuePolicy",
        "Properties": {"Queues": [{"Ref": "JobsQueue"}], "PolicyDocument": {}},
    }


@_plants("SpoolBucket: .*Policy and .*Policy each write its policy")
def two_policies_of_a_bucket(templates: Templates) -> None:
    templates.resources["SecondPolicy"] = {
        "Type": "AWS::S3::BucketPolicy",
        "Properties": {"Bucket": {"Ref": "SpoolBucket"}, "PolicyDocument": {}},
    }


@_plants(r"JobsQueue: It hides a message for \d+ s; DeliverMessage needs 1350 s")
def queue_that_hides_messages_too_shortly(templates: Templates) -> None:
    templates.properties("DeliverMessage")["Timeout"] = 900


@_plants("DeliverMessage: It may run 800 times of the account's 1000")
def worker_that_takes_most_of_the_account(templates: Templates) -> None:
    templates.choose(DeliveryConcurrency="400")


@_plants(r"Resources: Workers may use [89]\d\d functions \(.*DeliverMessage 400.*, more than 800")
def workers_that_take_most_of_the_account(templates: Templates) -> None:
    templates.choose(DeliveryConcurrency="200", WebhookConcurrency="300")


@_plants("JobsNew: Its queue may take every function of the account")
def queue_without_a_maximum_of_workers(templates: Templates) -> None:
    mapping = templates.properties("DeliverMessageJobs")
    kept = {key: value for key, value in mapping.items() if key != "ScalingConfig"}
    templates.resources["JobsNew"] = {"Type": "AWS::Lambda::EventSourceMapping", "Properties": kept}


@_plants("Resources: DeliverMessage and RecordFeedback reserve .* 100 must stay unreserved")
def reservation_that_leaves_too_few(templates: Templates) -> None:
    templates.choose(DeliveryReserve="895")


@_plants("ThirdReader: It is one of 3 readers of a stream, which allows 2")
def third_reader_of_the_stream(templates: Templates) -> None:
    reader = templates.resources["AggregateStatsChanges"]
    templates.resources["ThirdReader"] = reader


@_plants("DeliverMessageJobs: The function's role may not .*sqs:ReceiveMessage")
def worker_that_may_not_read_its_queue(templates: Templates) -> None:
    _statements(templates, "DeliverMessageRole").clear()


@_plants("EdgeRoute2: It has 10,241 bytes of code, more than 10,240")
def edge_function_that_is_too_large(templates: Templates) -> None:
    code = {"FunctionCode": "x" * 10_241, "Name": "second", "FunctionConfig": {}}
    templates.resources["EdgeRoute2"] = {"Type": "AWS::CloudFront::Function", "Properties": code}


@_plants("LostAlarm: The dimension service of lost is not the stack")
def metric_that_two_stacks_share(templates: Templates) -> None:
    templates.resources["LostAlarm"] = {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "AlarmActions": [{"Ref": "AlarmTopic"}],
            "Namespace": "Pillarbox",
            "MetricName": "lost",
            "Dimensions": [{"Name": "service", "Value": "mail"}],
            "EvaluationPeriods": 1,
            "ComparisonOperator": "GreaterThanThreshold",
        },
    }


@_plants("Board: The dimension service of lost is not the stack")
def shared_metric_on_a_dashboard(templates: Templates) -> None:
    body = (
        '{"widgets": [{"properties": {"metrics": [["AWS/SQS", "Sent", "QueueName", "x"],'
        ' ["Pillarbox", "found", "service", "${AWS::StackName}"], [".", "lost", ".", "mail"]]}}]}'
    )
    templates.resources["Board"] = {
        "Type": "AWS::CloudWatch::Dashboard",
        "Properties": {"DashboardBody": {"Fn::Sub": body}},
    }


@_plants("JobsDeadAlarm: It has no action")
def alarm_without_an_action(templates: Templates) -> None:
    del templates.nested[ALARMS]["Resources"]["JobsDeadAlarm"]["Properties"]["AlarmActions"]


@_plants("Second: It has the name same, and so has First")
def name_that_two_resources_have(templates: Templates) -> None:
    _add(templates, "First", {"TopicName": "same"})
    _add(templates, "Second", {"TopicName": "same"})


@_plants("RelayTopic: It has the name same, and so has First")
def name_that_a_nested_stack_has_too(templates: Templates) -> None:
    _add(templates, "First", {"TopicName": "same"})
    topic = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "same"}}
    templates.nested[RELAY]["Resources"]["RelayTopic"] = topic


@_plants("Firewall: It is 'blocking', which is not one of")
def value_that_is_not_allowed(templates: Templates) -> None:
    templates.choose(Firewall="blocking")


@_plants("RelaySize: It is 'huge', which does not match")
def value_that_a_nested_stack_does_not_allow(templates: Templates) -> None:
    templates.nested[RELAY]["Parameters"]["RelaySize"]["AllowedPattern"] = "small|large"
    templates.properties("Relay")["Parameters"]["RelaySize"] = "huge"


@_plants("RelayTasks: It is 11, which is not between 1 and 10")
def number_that_is_too_large(templates: Templates) -> None:
    templates.choose(RelayTasks="11")


@_plants("RelayTasks: It is 'few', which is not a number")
def text_instead_of_a_number(templates: Templates) -> None:
    templates.choose(RelayTasks="few")


@_plants("SignUpDomains: It has more than 4,096 bytes")
def value_that_is_too_long(templates: Templates) -> None:
    templates.choose(SignUpDomains="x" * 4097)


@_plants("Colour: A set of parameters has it, but the template does not declare it")
def parameter_of_a_set_that_is_not_declared(templates: Templates) -> None:
    templates.choose(Colour="red")


@_plants("DomainHasItsCertificate: It refuses the parameters: ApiDomain requires ApiCertificate")
def rule_that_refuses_the_parameters(templates: Templates) -> None:
    templates.choose(ApiCertificate="")


@pytest.mark.parametrize("error", _PLANTS)
def test_a_planted_error_is_found(error: str) -> None:
    """The checks name each error with its resource, and the templates are free of it without."""
    plant, message = _PLANTS[error]
    templates = Templates()
    before = texts(templates.problems())
    plant(templates)
    found = texts(templates.problems())
    assert [text for text in found - before if re.search(message, text)]
