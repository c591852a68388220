"""SPDL: demux, decode, crop, resize and flip by ffmpeg, the rest by numpy."""

import math
import random

import numpy as np
import spdl.io
import spdl.pipeline

import peer

MEAN = np.array(peer.MEAN, np.float32) * 255
FACTOR = 1 / (np.array(peer.DEVIATION, np.float32) * 255)


def box_in(width, height):
    for _ in range(10):
        area = width * height * random.uniform(0.08, 1.0)
        aspect = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        across, down = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < across <= width and 0 < down <= height:
            return across, down, random.randint(0, width - across), random.randint(0, height - down)
    side = min(width, height)
    return side, side, (width - side) // 2, (height - side) // 2


def image_of(path):
    packets = spdl.io.demux_image(path)
    across, down, left, top = box_in(packets.width, packets.height)
    steps = [
        f"crop={across}:{down}:{left}:{top}:exact=1",
        f"scale={peer.SIDE}:{peer.SIDE}:flags=bilinear",
    ]
    if random.random() < 0.5:
        steps.append("hflip")
    steps.append("format=pix_fmts=rgb24")
    frames = spdl.io.decode_packets(packets, filter_desc=",".join(steps))
    pixels = spdl.io.to_numpy(spdl.io.convert_frames(frames))
    return ((pixels - MEAN) * FACTOR).transpose(2, 0, 1)


def batches(paths, threads):
    pipeline = (
        spdl.pipeline.PipelineBuilder()
        .add_source(paths)
        .pipe(image_of, concurrency=threads, output_order="input")
        .aggregate(peer.ROWS, drop_last=True)
        .pipe(np.stack)
        .add_sink(2)
        .build(num_threads=threads)
    )
    with pipeline.auto_stop():
        yield from pipeline


peer.main(batches)
