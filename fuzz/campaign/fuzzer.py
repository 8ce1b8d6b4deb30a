"""One run of one libFuzzer target, read while it goes."""

import os
import re
import subprocess
import threading
import time

from targets import findings_prefix, log_path

PROGRESS = re.compile(r"^#(\d+)\s+(\w+)\s+cov: (\d+) ft: (\d+)")
OPERATIONS = re.compile(r"^guest operations: (\d+)")
ARTIFACT = re.compile(r"Test unit written to (\S+)")


class Fuzzer:
    """Starts a target and keeps what it says. `result()` is good at any time."""

    def __init__(self, binary, target, seconds, arguments, corpora):
        self.target = target
        self.executions = self.coverage = self.features = self.operations = 0
        self.first_features = None
        self.artifacts = []
        self.cpu_seconds = 0.0
        self.exit_code = None
        self.begin = time.monotonic()
        os.makedirs(os.path.dirname(findings_prefix(target)), exist_ok=True)
        command = [binary, f"-max_total_time={seconds}", "-print_funcs=0", "-timeout=20",
                   f"-artifact_prefix={findings_prefix(target)}", *arguments, *corpora]
        # Not in the terminal's group: Ctrl-C is ours, and the targets end when we say so.
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True, errors="replace", start_new_session=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        with open(log_path(self.target), "w", encoding="utf-8") as log:
            for line in self.process.stderr:
                log.write(line)
                self._take(line)

    def _take(self, line):
        if match := PROGRESS.match(line):
            self.executions, self.coverage, self.features = (
                int(match[1]), int(match[3]), int(match[4]))
            if match[2] == "INITED":
                self.first_features = self.features
        elif match := OPERATIONS.match(line):
            self.operations = int(match[1])
        elif match := ARTIFACT.search(line):
            self.artifacts.append(match[1])

    def wait(self):
        self.reader.join()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = self.exit_code = os.waitstatus_to_exitcode(status)
        self.cpu_seconds = usage.ru_utime + usage.ru_stime

    def stop(self):
        """As Ctrl-C would: libFuzzer then says how far it came."""
        if self.exit_code is None:
            self.process.send_signal(2)

    @property
    def speed(self):
        """Executions in a second of processor time: on one core, whoever else uses the machine."""
        return self.executions / self.cpu_seconds if self.cpu_seconds else 0.0

    @property
    def operation_speed(self):
        return self.operations / self.cpu_seconds if self.cpu_seconds else 0.0

    @property
    def new_features(self):
        return self.features - (self.first_features or 0)

    @property
    def failed(self):
        return bool(self.artifacts) or self.exit_code not in (0, None, 72, -2)
