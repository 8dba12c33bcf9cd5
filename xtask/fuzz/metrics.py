"""Reads /metrics as Prometheus does, and checks what it reads.

    metrics.py URL FILE    FILE holds the counters of the last time: none may have fallen
"""

import json
import os
import sys
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

# Nothing that a caller chooses may become a label: each new series costs memory for ever.
LABELS = {"status", "class", "le"}
SERIES_MAX = 30


def read(url):
    request = urllib.request.Request(url + "/metrics")
    if secret := os.environ.get("FUZZ_TOKEN"):
        request.add_header("Authorization", "Bearer " + secret)
    with urllib.request.urlopen(request, timeout=60) as answer:
        kind = answer.headers["Content-Type"]
        assert kind.startswith("text/plain; version=0.0.4"), kind
        return list(text_string_to_metric_families(answer.read().decode("utf-8")))


def check(family):
    assert family.name.startswith("mainspring_"), family.name
    assert family.documentation, f"{family.name} has no help"
    assert family.type in ("counter", "gauge", "histogram"), f"{family.name} is {family.type}"
    assert 0 < len(family.samples) <= SERIES_MAX, f"{family.name}: {len(family.samples)} series"
    keys = [(sample.name, *sorted(sample.labels.items())) for sample in family.samples]
    assert len(keys) == len(set(keys)), f"{family.name}: a series is there twice"
    for sample in family.samples:
        assert set(sample.labels) <= LABELS, sample
        assert sample.value >= 0, sample
        assert family.type != "counter" or sample.name.endswith("_total"), sample
    if family.type == "histogram":
        values = {sample.name: sample.value for sample in family.samples}
        buckets = [sample for sample in family.samples if sample.name.endswith("_bucket")]
        counts = [sample.value for sample in buckets]
        assert counts == sorted(counts), f"{family.name}: buckets add up"
        assert buckets[-1].labels["le"] == "+Inf", buckets[-1]
        assert counts[-1] == values[family.name + "_count"], values


def rising(families):
    """What may only rise, by series."""
    kept = [family for family in families if family.type in ("counter", "histogram")]
    samples = [sample for family in kept for sample in family.samples]
    return {sample.name + json.dumps(sample.labels, sort_keys=True): sample.value for sample in samples}


def main(url, file):
    families = read(url)
    assert families, "there is nothing"
    for family in families:
        check(family)
    now = rising(families)
    if os.path.exists(file):
        with open(file, encoding="utf-8") as before:
            for name, value in json.load(before).items():
                assert now.get(name, -1) >= value, f"{name} fell from {value} to {now.get(name)}"
    with open(file, "w", encoding="utf-8") as after:
        json.dump(now, after)
    print(f"metrics: {len(families)} families, {len(now)} series that only rise")


main(*sys.argv[1:])
