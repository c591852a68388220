# The value types and the built-in operators; included by pipeline/CMakeLists.txt.
target_sources(
  weir
  PRIVATE
    buffer.cpp
    operators/antialias.cpp
    operators/axis_filter.cpp
    operators/center_crop.cpp
    operators/color.cpp
    operators/color_jitter.cpp
    operators/columns.cpp
    operators/decode.cpp
    operators/emulate.cpp
    operators/extent.cpp
    operators/hwc_to_chw.cpp
    operators/image_decoder.cpp
    operators/image_format.cpp
    operators/image_kernel.cpp
    operators/jpeg_reader.cpp
    operators/makers.cpp
    operators/normalize.cpp
    operators/one_hot.cpp
    operators/pad.cpp
    operators/picture_part.cpp
    operators/random_crop.cpp
    operators/random_flip.cpp
    operators/random_horizontal_flip.cpp
    operators/random_resized_crop.cpp
    operators/random_vertical_flip.cpp
    operators/resampling.cpp
    operators/resize.cpp
    operators/row_kernels.cpp
    operators/row_renderer.cpp
    operators/scaling.cpp
    operators/to_float.cpp
    parameters.cpp
    random.cpp
    sample.cpp
    sample_operator.cpp
    spelling.cpp
    tensor.cpp
    units.cpp
  PUBLIC FILE_SET HEADERS
         BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR}
         FILES weir/operators.hpp)

# The loops over pixels are vectorised in every build type, and products and sums of floats are never
# contracted, so that each set of vector instructions gives the same bytes.
set_source_files_properties(
  ${CMAKE_CURRENT_SOURCE_DIR}/operators/row_kernels.cpp
  TARGET_DIRECTORY weir
  PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off" SKIP_PRECOMPILE_HEADERS ON)
set_source_files_properties(
  ${CMAKE_CURRENT_SOURCE_DIR}/operators/normalize.cpp
  TARGET_DIRECTORY weir
  PROPERTIES COMPILE_OPTIONS "-ffp-contract=off" SKIP_PRECOMPILE_HEADERS ON)

# OpenCV is used by these two alone; without it what needs it says so.
if(WEIR_WITH_OPENCV)
  target_sources(weir PRIVATE operators/other_formats.cpp operators/raster.cpp)
else()
  target_sources(weir PRIVATE operators/without_opencv.cpp)
endif()
