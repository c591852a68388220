# The one library target. It is made here without sources; the folders add theirs.
include(GenerateExportHeader)

set(WEIR_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)

add_library(weir)
add_library(weir::weir ALIAS weir)

target_compile_features(weir PUBLIC cxx_std_20)
set_target_properties(
  weir
  PROPERTIES CXX_EXTENSIONS OFF
             CXX_VISIBILITY_PRESET hidden
             VISIBILITY_INLINES_HIDDEN ON
             POSITION_INDEPENDENT_CODE ON
             VERIFY_INTERFACE_HEADER_SETS ON
             VERSION ${PROJECT_VERSION}
             SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

configure_file(${CMAKE_CURRENT_LIST_DIR}/version.hpp.in ${WEIR_GENERATED_DIR}/weir/version.hpp @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.cpp.in ${WEIR_GENERATED_DIR}/version.cpp @ONLY)
generate_export_header(weir BASE_NAME WEIR EXPORT_FILE_NAME ${WEIR_GENERATED_DIR}/weir/export.hpp
                       INCLUDE_GUARD_NAME WEIR_EXPORT_HPP)
if(NOT BUILD_SHARED_LIBS)
  target_compile_definitions(weir PUBLIC WEIR_STATIC_DEFINE)
endif()

target_sources(
  weir
  PRIVATE ${WEIR_GENERATED_DIR}/version.cpp
  PUBLIC FILE_SET generated_headers
         TYPE HEADERS
         BASE_DIRS ${WEIR_GENERATED_DIR}
         FILES ${WEIR_GENERATED_DIR}/weir/version.hpp ${WEIR_GENERATED_DIR}/weir/export.hpp)

# Private headers are included from the root, "pipeline/x.hpp".
target_include_directories(weir PRIVATE ${PROJECT_SOURCE_DIR})

# A consumer needs none of these headers. The header-only ones are not needed at link time either,
# so that they stay out of the installed package.
target_link_libraries(
  weir
  PUBLIC Threads::Threads
  PRIVATE JPEG::JPEG
          GIF::GIF
          PNG::PNG
          fmt::fmt
          yaml-cpp::yaml-cpp
          PkgConfig::hwloc
          PkgConfig::numa
          PkgConfig::xxhash
          $<BUILD_INTERFACE:Boost::headers>
          $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
if(WEIR_WITH_OPENCV)
  target_compile_definitions(weir PRIVATE WEIR_WITH_OPENCV)
  target_link_libraries(weir PRIVATE opencv_imgcodecs opencv_imgproc opencv_core)
endif()
weir_set_warnings(weir)

if(WEIR_PRECOMPILED_HEADERS)
  target_precompile_headers(
    weir
    PRIVATE
    <algorithm>
    <atomic>
    <chrono>
    <condition_variable>
    <functional>
    <map>
    <memory>
    <mutex>
    <optional>
    <string>
    <thread>
    <unordered_map>
    <utility>
    <vector>)
  # ccache can only reuse a compilation that reads a precompiled header with this flag.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(weir PRIVATE -fpch-preprocess)
  endif()
endif()
