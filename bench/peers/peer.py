"""What the programs of other loaders have in common: arguments, the clock, the answer.

The work is that of bench/images/program.hpp: read, decode, random resized crop to 224 by linear
resampling, flip, normalise, channels first, f32, batches of 64. Each loader draws its own boxes.
"""

import json
import os
import resource
import sys
import time

SIDE = 224
ROWS = 64
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


def files_in(root, count):
    paths = sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names
    )
    return paths[:count]


def cpu_seconds():
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        total += used.ru_utime + used.ru_stime
    return total


def main(make_batches):
    """`make_batches(paths, threads)` gives batches; called with PROGRAM ROOT IMAGES THREADS."""
    root, images, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    paths = files_in(root, images)
    # What is made at first use is not counted.
    for _ in make_batches(paths[: 2 * ROWS], threads):
        pass
    cpu, wall, count = cpu_seconds(), time.perf_counter(), 0
    for batch in make_batches(paths, threads):
        assert tuple(batch.shape) == (ROWS, 3, SIDE, SIDE), batch.shape
        count += ROWS
    if count != images // ROWS * ROWS:
        sys.exit(f"only {count} of {images} images came")
    print(
        json.dumps(
            {
                "images": count,
                "seconds": time.perf_counter() - wall,
                "cpu_seconds": cpu_seconds() - cpu,
            }
        )
    )
