"""What chance alone would never make: definitions that are accepted. And what it must not do:
revoke the token that the requests are made with."""

import os

import schemathesis
from hypothesis import strategies

OWN_TOKEN = os.environ.get("FUZZ_TOKEN_ID", "")

DEFINITIONS = [
    {"name": "quick", "tasks": {"first": {"run": "echo again"}}},
    {"name": "still", "tasks": {"first": {"noop": {}}}},
    {"name": "other", "labels": {"a": "b"}, "tasks": {"first": {"noop": {}}}},
    {
        "name": "typed",
        "input": {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}},
        "tasks": {"first": {"noop": {}}, "second": {"noop": {}, "depends_on": ["first"]}},
    },
]


@schemathesis.hook("before_generate_body").apply_to(operation_id="deployWorkflow")
def some_are_accepted(context, strategy):
    return strategy | strategies.sampled_from(DEFINITIONS)


@schemathesis.hook("filter_case").apply_to(operation_id="revokeToken")
def not_the_own_token(context, case):
    return not OWN_TOKEN or case.path_parameters.get("id") != OWN_TOKEN
