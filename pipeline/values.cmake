# The value types and the built-in operators; included by pipeline/CMakeLists.txt.
target_sources(
  weir
  PRIVATE
    batch_operator.cpp
    buffer.cpp
    operators/adjust_brightness.cpp
    operators/adjust_contrast.cpp
    operators/adjust_hue.cpp
    operators/adjust_saturation.cpp
    operators/adjust_sharpness.cpp
    operators/affine.cpp
    operators/antialias.cpp
    operators/augmentation.cpp
    operators/autocontrast.cpp
    operators/axis_filter.cpp
    operators/batch_mixing.cpp
    operators/center_crop.cpp
    operators/color.cpp
    operators/color_jitter.cpp
    operators/columns.cpp
    operators/convert_dtype.cpp
    operators/cutmix.cpp
    operators/cutout.cpp
    operators/decode.cpp
    operators/emulate.cpp
    operators/equalize.cpp
    operators/erasing.cpp
    operators/extent.cpp
    operators/gaussian.cpp
    operators/gaussian_blur.cpp
    operators/gif_reader.cpp
    operators/hwc_to_chw.cpp
    operators/image_change.cpp
    operators/image_decoder.cpp
    operators/image_format.cpp
    operators/image_kernel.cpp
    operators/invert.cpp
    operators/jpeg_reader.cpp
    operators/label_map.cpp
    operators/makers.cpp
    operators/mixup.cpp
    operators/mixup_or_cutmix.cpp
    operators/normalize.cpp
    operators/one_hot.cpp
    operators/pad.cpp
    operators/pad_to_size.cpp
    operators/picture_part.cpp
    operators/png_reader.cpp
    operators/posterize.cpp
    operators/rand_augment.cpp
    operators/random_crop.cpp
    operators/random_crop_decode_resize.cpp
    operators/random_erasing.cpp
    operators/random_flip.cpp
    operators/random_grayscale.cpp
    operators/random_horizontal_flip.cpp
    operators/random_resized_crop.cpp
    operators/random_rotation.cpp
    operators/random_vertical_flip.cpp
    operators/resampling.cpp
    operators/resize.cpp
    operators/row_kernels.cpp
    operators/row_renderer.cpp
    operators/scaling.cpp
    operators/solarize.cpp
    operators/to_float.cpp
    operators/tone.cpp
    operators/trivial_augment_wide.cpp
    parameters.cpp
    random.cpp
    sample.cpp
    sample_operator.cpp
    spelling.cpp
    tensor.cpp
    units.cpp
  PUBLIC FILE_SET HEADERS
         BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR}
         FILES weir/batch_operator.hpp weir/batch_operators.hpp weir/operators.hpp)

# The loops over pixels are vectorised in every build type, and products and sums of floats are never
# contracted, so that each set of vector instructions gives the same bytes.
set_source_files_properties(
  ${CMAKE_CURRENT_SOURCE_DIR}/operators/affine.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/operators/batch_mixing.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/operators/gaussian.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/operators/row_kernels.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/operators/tone.cpp
  TARGET_DIRECTORY weir
  PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off" SKIP_PRECOMPILE_HEADERS ON)
set_source_files_properties(
  ${CMAKE_CURRENT_SOURCE_DIR}/operators/augmentation.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/operators/color.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/operators/convert_dtype.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/operators/normalize.cpp
  TARGET_DIRECTORY weir
  PROPERTIES COMPILE_OPTIONS "-ffp-contract=off" SKIP_PRECOMPILE_HEADERS ON)

# OpenCV is used by these two alone; without it what needs it says so.
if(WEIR_WITH_OPENCV)
  target_sources(weir PRIVATE operators/other_formats.cpp operators/raster.cpp)
else()
  target_sources(weir PRIVATE operators/without_opencv.cpp)
endif()
