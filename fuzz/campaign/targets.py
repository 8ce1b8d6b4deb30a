"""The targets, and where their files are."""

import os

TARGETS = ["ops", "roundtrip", "decode", "scenario", "eras", "schedules"]
YARDSTICK = "empty"
SEEDS = os.path.join("fuzz", "corpus")
OPTIONS = os.path.join("fuzz", "options")
REGRESSIONS = os.path.join("fuzz", "regressions")
WORK = os.path.join("build", "fuzzing")  # corpora that grow from run to run, findings, logs


def seeds(target):
    return os.path.join(SEEDS, target)


def work_corpus(target):
    return os.path.join(WORK, "corpus", target)


def findings_prefix(target):
    return os.path.join(WORK, "findings", target + "-")


def log_path(target):
    return os.path.join(WORK, target + ".log")


def options_of(target):
    """What the .options file says, as arguments of libFuzzer."""
    path = os.path.join(OPTIONS, target + ".options")
    arguments = []
    if not os.path.exists(path):
        return arguments
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            key, _, value = (part.strip() for part in line.partition("="))
            if key == "dict":  # named as it is beside the binary
                name = value.removeprefix("fuzz_")
                value = os.path.join("fuzz", "dictionaries", name)
            if value:
                arguments.append(f"-{key}={value}")
    return arguments
