"""Builds and runs the fast tests with one mutant at a time, in copies of the sources."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass

SOURCES = ["model", "flush", "host", "scenario", "fuzz", "tests"]
TESTS = "tests/mutation/fast_tests.cpp"
# clang takes half the time of g++ here. Assertions stay on, the library's too: reading past an end
# is a kill, as it is in the build with sanitizers.
COMPILE = ["clang++-14", "-std=c++20", "-O0", "-w", "-ferror-limit=1",
           "-D_GLIBCXX_ASSERTIONS", "-I."]
# 20 seconds of processor time, so that a busy machine kills no mutant; 1 GiB.
RUN = ["prlimit", "--cpu=20:21", f"--as={1 << 30}", "--core=0", "./tests.run", "--gtest_brief=1",
       "--gtest_fail_fast"]
STUCK_SECONDS = 300  # on the clock

INVALID, SAME, KILLED, TIMEOUT, SURVIVED = "invalid", "same", "killed", "timeout", "survived"


@dataclass
class Result:
    outcome: str
    by: str = ""  # what killed it: a test, a signal
    cpu_seconds: float = 0


class Stopped(Exception):
    pass


def end(group):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


class Workshop:
    """One precompiled header, and a copy of the sources for every job."""

    def __init__(self, root, folder, jobs):
        self.folder = folder
        self.children = set()
        self.stopped = False
        self.lock = threading.Lock()
        self.benches = [os.path.join(folder, f"job{n}") for n in range(jobs)]
        for bench in self.benches:
            for each in SOURCES:
                shutil.copytree(os.path.join(root, each), os.path.join(bench, each),
                                ignore=shutil.ignore_patterns("data", "corpus"))

    def prepare(self):
        """Builds the header and the tests as they are. Returns what is wrong, or an empty text."""
        header = ["-x", "c++-header", "tests/mutation/pch.h", "-fpch-instantiate-templates"]
        pch = os.path.join(self.folder, "pch.pch")
        code, text, _ = self.call(COMPILE + header + ["-o", pch], self.benches[0])
        if code != 0:
            return text
        # The decoder is not mutated and shares nothing with what is: one object a file, once.
        self.fixed = []
        decoder = os.path.join(self.benches[0], "host")
        for each in sorted(name for name in os.listdir(decoder) if name.endswith(".cpp")):
            self.fixed.append(os.path.join(self.folder, each + ".o"))
            command = COMPILE + ["-c", f"host/{each}", "-o", self.fixed[-1]]
            code, text, _ = self.call(command, self.benches[0])
            if code != 0:
                return text
        self.compile = COMPILE + ["-include-pch", pch, "-c", TESTS, "-o", "tests.o"]
        code, text, _ = self.call(self.compile, self.benches[0])
        if code != 0:
            return text
        self.object = self.read_object(self.benches[0])
        result = self.link_and_run(self.benches[0])
        return "" if result.outcome == SURVIVED else f"without a mutant: {result.by}"

    def try_mutant(self, mutant):
        with self.lock:
            bench = self.benches.pop()
        path = os.path.join(bench, mutant.file)
        with open(path) as file:
            original = file.read()
        lines = original.split("\n")
        lines[mutant.line - 1:mutant.line - 1 + len(mutant.new_lines)] = mutant.new_lines
        try:
            with open(path, "w") as file:
                file.write("\n".join(lines))
            code, _, cpu = self.call(self.compile, bench)
            if code != 0:
                return Result(INVALID, cpu_seconds=cpu)
            if self.read_object(bench) == self.object:
                return Result(SAME, cpu_seconds=cpu)
            result = self.link_and_run(bench)
            result.cpu_seconds += cpu
            return result
        finally:
            with open(path, "w") as file:
                file.write(original)
            with self.lock:
                self.benches.append(bench)

    def link_and_run(self, bench):
        link = ["clang++-14", "tests.o", *self.fixed, "-o", "tests.run", "-lgtest", "-lgtest_main", "-lfmt"]
        code, text, linking = self.call(link, bench)
        if code != 0:
            return Result(INVALID, text, linking)
        code, text, cpu = self.call(RUN, bench)
        cpu += linking
        if code == 0:
            return Result(SURVIVED, cpu_seconds=cpu)
        if code in (-signal.SIGXCPU, None):
            return Result(TIMEOUT, "timeout", cpu)
        failed = re.search(r"^\[  FAILED  \] (\w\S*?),? ", text, re.M)
        if failed:
            return Result(KILLED, failed.group(1), cpu)
        return Result(KILLED, signal.Signals(-code).name if code < 0 else f"exit {code}", cpu)

    def call(self, command, folder):
        """Runs a command. Returns its exit code (None: stuck), its output and its CPU time."""
        output = os.path.join(folder, "output")
        with open(output, "w") as out:
            with self.lock:
                if self.stopped:
                    raise Stopped
                child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                         stderr=out, start_new_session=True)
                self.children.add(child.pid)
        deadline = time.monotonic() + STUCK_SECONDS
        timer = threading.Timer(STUCK_SECONDS, end, (child.pid,))
        timer.daemon = True
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        with self.lock:
            self.children.discard(child.pid)
            if self.stopped:
                raise Stopped
        child.returncode = os.waitstatus_to_exitcode(status)
        with open(output, errors="replace") as file:
            text = file.read(1 << 20)
        stuck = child.returncode == -signal.SIGKILL and time.monotonic() >= deadline
        return None if stuck else child.returncode, text, usage.ru_utime + usage.ru_stime

    def stop(self):
        """Ends what runs now and starts nothing more."""
        with self.lock:
            self.stopped = True
            for pid in self.children:
                end(pid)

    @staticmethod
    def read_object(bench):
        with open(os.path.join(bench, "tests.o"), "rb") as file:
            return file.read()
