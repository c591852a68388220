"""tf.data, decoding no more than the crop."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf

import peer


def image_of(path):
    data = tf.io.read_file(path)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.image.extract_jpeg_shape(data),
        bounding_boxes=tf.zeros([1, 0, 4]),
        area_range=(0.08, 1.0),
        aspect_ratio_range=(3 / 4, 4 / 3),
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    image = tf.image.decode_and_crop_jpeg(data, window, channels=3)
    image = tf.image.resize(image, [peer.SIDE, peer.SIDE])
    image = tf.image.random_flip_left_right(image)
    image = (image / 255.0 - tf.constant(peer.MEAN)) / tf.constant(peer.DEVIATION)
    return tf.transpose(image, [2, 0, 1])


def batches(paths, threads):
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    data = tf.data.Dataset.from_tensor_slices(paths)
    data = data.map(image_of, num_parallel_calls=threads, deterministic=True)
    data = data.batch(peer.ROWS, drop_remainder=True).prefetch(2).with_options(options)
    return iter(data)


peer.main(batches)
