"""./mutate: plants faults in model/ and flush/, one at a time; counts those that a test sees."""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import random
import sys
import tempfile
import time

from equivalents import PATH, read_equivalents
from mutants import enums_of, mutants_of
from workshop import INVALID, KILLED, SAME, SURVIVED, TIMEOUT, Stopped, Workshop

WANTED = 0.95


def arguments():
    parser = argparse.ArgumentParser(
        prog="./mutate", description="Mutation testing of model/ and flush/.",
        epilog="Exit codes: 0 at least 95 %% killed, 1 bad usage or broken tests, 3 fewer killed.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="only these (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default 1)")
    parser.add_argument("--count", type=int, default=300, help="how many mutants (default 300)")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 1),
                        help="how many at a time (default: all processors but one)")
    parser.add_argument("--list", action="store_true", help="list the sample, run nothing")
    parser.add_argument("--json", metavar="FILE", help="every result, a JSON line each")
    return parser.parse_args()


def fail(text):
    print(f"./mutate: {text}", file=sys.stderr)
    sys.exit(1)


class Tally:
    def __init__(self, known, log):
        self.known = known
        self.log = log
        self.results = []
        self.count = collections.Counter()
        self.cpu_seconds = 0

    def add(self, mutant, result):
        reason = self.known.get((mutant.file, mutant.original, mutant.mutated), "")
        self.results.append((mutant, result, reason))
        self.count[result.outcome] += 1
        self.count["excused"] += result.outcome == SURVIVED and reason != ""
        self.cpu_seconds += result.cpu_seconds
        if self.log:
            self.log.write(json.dumps({
                "file": mutant.file, "line": mutant.line, "original": mutant.original,
                "mutated": mutant.mutated, "outcome": result.outcome, "by": result.by,
                "equivalent": reason, "cpu_seconds": round(result.cpu_seconds, 2)}) + "\n")
            self.log.flush()

    def tested(self):
        return self.count[KILLED] + self.count[TIMEOUT] + self.count[SURVIVED]

    def rate(self):
        counted = self.tested() - self.count["excused"]
        return 1.0 if counted == 0 else (self.count[KILLED] + self.count[TIMEOUT]) / counted

    def progress(self, wanted):
        killed = self.count[KILLED] + self.count[TIMEOUT]
        return (f"{self.tested()}/{wanted} killed {killed} survived {self.count[SURVIVED]} "
                f"({100 * self.rate():.1f} %), invalid {self.count[INVALID] + self.count[SAME]}")

    def report(self):
        count = self.count
        tried = max(1, len(self.results))
        print(f"mutants tested        {self.tested():5}   "
              f"({self.cpu_seconds / tried:.1f} s of processor time for each one tried)")
        print(f"killed by a test      {count[KILLED]:5}")
        print(f"killed by the timeout {count[TIMEOUT]:5}")
        print(f"survived              {count[SURVIVED]:5}   "
              f"({count['excused']} of them known to be equivalent)")
        print(f"kill rate             {100 * self.rate():5.1f} % of those not known as equivalent")
        print(f"not counted           {count[INVALID]:5}   that do not compile, "
              f"{count[SAME]} that leave the object code as it is")
        self.section("survivors", lambda result, reason: result.outcome == SURVIVED and not reason)
        self.section("equivalent", lambda result, reason: result.outcome == SURVIVED and reason)
        self.section("no change of the object code (equivalent, or code that no test compiles)",
                     lambda result, _: result.outcome == SAME)
        self.section(f"killed, although {PATH} calls them equivalent",
                     lambda result, reason: result.outcome in (KILLED, TIMEOUT) and reason)

    def section(self, title, wanted):
        chosen = [(mutant, reason) for mutant, result, reason in self.results
                  if wanted(result, reason)]
        if not chosen:
            return
        print(f"\n{title}:")
        for mutant, reason in sorted(chosen, key=lambda each: (each[0].file, each[0].line)):
            print(f"  {mutant}" + (f"\n    {reason}" if reason else ""))


def test_all(sample, args, workshop, tally):
    """Takes mutants from the sample, in its order, until `count` valid ones have been tested."""
    show = sys.stderr.isatty()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        waiting = collections.deque()
        try:
            at = 0
            while True:
                # Never more at work than are wanted: so the result does not depend on the jobs.
                while (at < len(sample) and len(waiting) < 2 * args.jobs and
                       tally.tested() + len(waiting) < args.count):
                    waiting.append((sample[at], pool.submit(workshop.try_mutant, sample[at])))
                    at += 1
                if not waiting:
                    return
                mutant, future = waiting[0]
                tally.add(mutant, future.result())
                waiting.popleft()
                if show:
                    print(f"\r\033[K{tally.progress(args.count)}", end="", file=sys.stderr,
                          flush=True)
        except BaseException:
            workshop.stop()
            raise
        finally:
            if show:
                print(file=sys.stderr)


def main():
    args = arguments()
    if args.count < 1 or args.jobs < 1:
        fail("--count and --jobs are at least 1")
    product = sorted(each for folder in ("model", "flush") for ending in ("h", "cpp")
                     for each in glob.glob(f"{folder}/*.{ending}"))
    for file in args.files:
        if file not in product:
            fail(f"found {file}, expected a source file in model/ or flush/")
    texts = {}
    for file in product:
        with open(file) as source:
            texts[file] = source.read()
    enums = enums_of(texts.values())
    sample = [mutant for file in product if not args.files or file in args.files
              for mutant in mutants_of(file, texts[file], enums)]
    random.Random(args.seed).shuffle(sample)
    if args.list:
        for mutant in sample[:args.count]:
            print(mutant)
        return 0
    with open(PATH) as file:
        known, complaints = read_equivalents(file.read(), texts)
    if complaints:
        fail("\n".join(complaints))

    stopped = False
    log = open(args.json, "w") if args.json else None
    tally = Tally(known, log)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        workshop = Workshop(".", folder, args.jobs)
        try:
            wrong = workshop.prepare()
            if wrong:
                fail(f"the fast tests do not pass\n{wrong}")
            print(f"{len(sample)} mutants possible, seed {args.seed}", file=sys.stderr)
            test_all(sample, args, workshop, tally)
        except (KeyboardInterrupt, Stopped):
            workshop.stop()
            stopped = True
            print("stopped; so far:", file=sys.stderr)
    print(f"{time.monotonic() - begin:.0f} seconds", file=sys.stderr)
    tally.report()
    if stopped:
        return 130
    return 0 if tally.rate() >= WANTED else 3


if __name__ == "__main__":
    sys.exit(main())
