#!/usr/bin/env python3
"""compare.py PROGRAM ROOT [IMAGES [THREADS [ROUNDS]]]: weir beside other loaders, in turns.

PROGRAM is the benchmark `images`, ROOT a folder of photographs. A loader whose package is not
installed for this Python is left out, and said to be. Only the standard library is needed here.
"""

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import threading
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
OWN = {
    "libjpeg-turbo, straight": "libjpeg",
    "weir": "weir",
    "weir, image_path: plain": "plain",
    "std::thread + OpenCV": "opencv",
}
# Name, package, program.
PEERS = [
    ("tf.data", "tensorflow", "tfdata_loader.py"),
    ("SPDL", "spdl", "spdl_loader.py"),
]


def memory_of(root):
    """Proportional memory of a process and those below it, in MB."""
    parents = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8") as stat:
                parents[int(entry)] = int(stat.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            pass
    family = {root}
    grew = True
    while grew:
        below = {process for process, parent in parents.items() if parent in family} - family
        family |= below
        grew = bool(below)
    total = 0
    for process in family:
        try:
            with open(f"/proc/{process}/smaps_rollup", encoding="utf-8") as rollup:
                total += sum(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
        except OSError:
            pass
    return total * 1024 / 1e6


def run(command):
    """What the command tells, with the peak of its memory; ends the program where it fails."""
    own = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=own)
    peak = [0.0]

    def watch():
        while process.poll() is None:
            peak[0] = max(peak[0], memory_of(process.pid))
            time.sleep(0.1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    out = process.stdout.read()
    process.wait()
    watcher.join()
    if process.returncode != 0:
        sys.exit(f"peers: {' '.join(command)} ended with {process.returncode}")
    told = json.loads(out.strip().splitlines()[-1])
    return told["images"] / told["seconds"], 1000 * told["cpu_seconds"] / told["images"], peak[0]


def main():
    if not 3 <= len(sys.argv) <= 6:
        sys.exit(__doc__)
    program, root = sys.argv[1], sys.argv[2]
    images, threads, rounds = (
        int(sys.argv[3 + i]) if len(sys.argv) > 3 + i else value
        for i, value in enumerate((384, 2, 3))
    )
    candidates = {
        name: [program, "--once", once, root, str(images), str(threads)]
        for name, once in OWN.items()
    }
    for name, package, source in PEERS:
        if importlib.util.find_spec(package) is None:
            print(f"left out: {name}, Python has no package {package}")
            continue
        path = os.path.join(FOLDER, source)
        candidates[name] = [sys.executable, path, root, str(images), str(threads)]
    results = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, command in candidates.items():
            results[name].append(run(command))
    print(f"{images} images, {threads} threads, {rounds} rounds in turns, medians")
    print(f"{'':26}{'images/s':>10}{'of weir':>9}{'CPU s/1,000':>13}{'of weir':>9}{'peak MB':>9}")
    for name, rows in results.items():
        rate, cpu, peak = (statistics.median(row[i] for row in rows) for i in range(3))
        # Ratios within a round: what else the machine did met both.
        to_rate, to_cpu = (
            statistics.median(
                row[i] / weir[i] for row, weir in zip(rows, results["weir"])
            )
            for i in range(2)
        )
        print(f"{name:26}{rate:10.0f}{to_rate:9.2f}{cpu:13.2f}{to_cpu:9.2f}{peak:9.0f}")


main()
