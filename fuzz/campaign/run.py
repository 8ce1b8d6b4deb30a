"""fuzz/run: builds the targets, runs each for a while, sums up."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time

from cover import cover
from fuzzer import Fuzzer
from summary import table
from targets import (TARGETS, WORK, YARDSTICK, options_of, seeds, work_corpus, REGRESSIONS)

YARDSTICK_SECONDS = 10


def arguments():
    parser = argparse.ArgumentParser(
        prog="fuzz/run", description="Runs the fuzz targets and sums up (docs/fuzzing.md).",
        epilog="Exit codes: 0 nothing found, 1 bad usage or no build, 3 findings.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="only these (default: all)")
    parser.add_argument("--time", type=int, default=60, metavar="SECONDS",
                        help="for each target (default 60)")
    parser.add_argument("--jobs", type=int, default=1,
                        help="how many targets at a time (default 1: speeds can be compared)")
    parser.add_argument("--list", action="store_true", help="name the targets, run nothing")
    parser.add_argument("--merge", action="store_true",
                        help="keep in the seed corpora what covers something, with what earlier"
                             " runs found, and no more")
    parser.add_argument("--valgrind", action="store_true",
                        help="run the seed corpora under valgrind instead")
    parser.add_argument("--build-dir", metavar="DIR",
                        help="where the targets are built (default build/fuzz)")
    return parser.parse_args()


def fail(text):
    print(f"fuzz/run: {text}", file=sys.stderr)
    sys.exit(1)


def build(preset, folder, targets):
    print(f"building ({preset})", flush=True)
    names = [f"fuzz_{target}" for target in targets]
    for command in (["cmake", "--preset", preset, "-B", folder],
                    ["cmake", "--build", folder, "--target", *names]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout + done.stderr, file=sys.stderr)
            fail("no build")


def binary_of(folder, target):
    return os.path.join(folder, "fuzz", f"fuzz_{target}")


def files_in(folder):
    return set(os.listdir(folder)) if os.path.isdir(folder) else set()


class Campaign:
    """Runs targets, up to `jobs` at a time, until all are done or somebody interrupts."""

    def __init__(self, folder, seconds, jobs):
        self.folder, self.seconds, self.jobs = folder, seconds, jobs
        self.runs, self.running, self.before = [], [], {}
        self.yardstick = None
        self.interrupted = False

    def start(self, target, seconds):
        corpora = []
        if target != YARDSTICK:
            work = work_corpus(target)
            os.makedirs(work, exist_ok=True)
            self.before[target] = files_in(work)
            corpora = [work, seeds(target)]
        return Fuzzer(binary_of(self.folder, target), target, seconds, options_of(target), corpora)

    def run(self, targets):
        self.yardstick = self.start(YARDSTICK, min(self.seconds, YARDSTICK_SECONDS))
        self.running = [self.yardstick]
        self.finish_one()
        waiting = list(targets)
        while (waiting or self.running) and not self.interrupted:
            while waiting and len(self.running) < self.jobs:
                run = self.start(waiting.pop(0), self.seconds)
                self.runs.append(run)
                self.running.append(run)
            self.finish_one()

    def finish_one(self):
        told = time.monotonic()
        while all(run.reader.is_alive() for run in self.running):
            self.running[0].reader.join(0.5)
            if time.monotonic() - told > 10:
                told = time.monotonic()
                for run in self.running:
                    print(f"  {run.target}: {run.executions:,} executions, cov {run.coverage},"
                          f" ft {run.features}", flush=True)
        for run in [run for run in self.running if not run.reader.is_alive()]:
            run.wait()
            self.running.remove(run)
            print(f"{run.target}: {run.executions:,} executions, {run.new_features} new features"
                  f"{', FINDING' if run.failed else ''}", flush=True)

    def interrupt(self):
        self.interrupted = True
        for run in self.running:
            run.stop()
        for run in list(self.running):
            run.wait()
            self.running.remove(run)

    def new_files(self):
        return {target: len(files_in(work_corpus(target)) - before)
                for target, before in self.before.items()}


def fuzz(folder, targets, seconds, jobs):
    os.makedirs(WORK, exist_ok=True)
    campaign = Campaign(folder, seconds, jobs)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        campaign.run(targets)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        campaign.interrupt()
        print("interrupted; so far:")
    print(table(campaign.yardstick, campaign.runs, campaign.new_files()))
    found = False
    for run in campaign.runs:
        if run.failed:
            found = True
            print(f"finding: {run.target}: "
                  f"{' '.join(run.artifacts) or f'exit code {run.exit_code}'}, log in {WORK}")
    return 3 if found else 0


def merge(folder, targets):
    """Edges only: a seed for every count of every edge would be many more."""
    for target in targets:
        merged = os.path.join(WORK, "merged", target)
        shutil.rmtree(merged, ignore_errors=True)
        os.makedirs(merged)
        command = [binary_of(folder, target), "-merge=1", "-use_counters=0", *options_of(target),
                   merged, seeds(target), os.path.join(REGRESSIONS, target)]
        if os.path.isdir(work_corpus(target)):
            command.append(work_corpus(target))
        before = len(files_in(seeds(target)))
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              check=False)
        if done.returncode != 0 or not files_in(merged):
            print(done.stderr[-2000:], file=sys.stderr)
            fail(f"{target}: no merge")
        chosen = cover(binary_of(folder, target), merged)
        shutil.rmtree(seeds(target))
        os.makedirs(seeds(target))
        for name in chosen:
            shutil.copy(os.path.join(merged, name), seeds(target))
        size = sum(os.path.getsize(os.path.join(merged, name)) for name in chosen)
        print(f"{target}: {before} files before, {len(chosen)} now, {size:,} bytes", flush=True)
    return 0


def valgrind(folder, targets):
    """The sanitizer for memory that is used before it is set: MSan would need the C++ library and
    all others built with it."""
    code = 0
    for target in targets:
        command = ["valgrind", "--quiet", "--error-exitcode=9", binary_of(folder, target),
                   seeds(target), os.path.join(REGRESSIONS, target)]
        print(f"{target}: ", end="", flush=True)
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              check=False)
        print(done.stdout.strip() if done.returncode == 0 else f"FINDING\n{done.stderr}")
        code = code if done.returncode == 0 else 3
    return code


def main():
    given = arguments()
    names = [name.removeprefix("fuzz_") for name in given.targets]
    for name in names:
        if name not in TARGETS:
            fail(f"found target {name}, expected one of {' '.join(TARGETS)}")
    targets = names or TARGETS
    if given.list:
        print("\n".join(TARGETS))
        return 0
    if given.time < 1 or given.jobs < 1:
        fail("--time and --jobs need a number of at least 1")
    preset = "fuzz-valgrind" if given.valgrind else "fuzz"
    folder = given.build_dir or os.path.join("build", preset)
    build(preset, folder, targets if given.valgrind else [*targets, YARDSTICK])
    if given.valgrind:
        return valgrind(folder, targets)
    return merge(folder, targets) if given.merge else fuzz(folder, targets, given.time, given.jobs)


if __name__ == "__main__":
    sys.exit(main())
