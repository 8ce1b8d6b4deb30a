"""Few inputs that cover together what many do. libFuzzer's own merge takes the smallest inputs
first, and keeps several times as many files."""

import os
import subprocess
import tempfile


def edges_of(binary, path):
    """The edges that one input covers, as libFuzzer's merge tells them in its control file."""
    with tempfile.TemporaryDirectory() as folder:
        control = os.path.join(folder, "control")
        nothing, alone = os.path.join(folder, "nothing"), os.path.join(folder, "alone")
        os.mkdir(nothing)
        os.mkdir(alone)
        os.symlink(os.path.abspath(path), os.path.join(alone, "input"))
        subprocess.run([binary, "-merge=1", f"-merge_control_file={control}", nothing, alone],
                       capture_output=True, check=True)
        with open(control, encoding="utf-8") as lines:
            words = [line.split() for line in lines if line.startswith("COV ")]
    return {int(edge) for line in words for edge in line[2:]}


def cover(binary, folder):
    """The names of files in a folder, chosen greedily: the most edges that none has yet, then the
    smallest."""
    files = {name: edges_of(binary, os.path.join(folder, name)) for name in os.listdir(folder)}
    missing = set().union(*files.values())
    chosen = []
    while missing:
        best = max(files, key=lambda name: (len(files[name] & missing),
                                            -os.path.getsize(os.path.join(folder, name)), name))
        chosen.append(best)
        missing -= files[best]
    return chosen
