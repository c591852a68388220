# Every library is found on the system: a build downloads nothing. packages.txt lists the Debian
# and Ubuntu packages that provide them.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED CONFIG)
find_package(JPEG REQUIRED)
find_package(GIF 5 REQUIRED)
find_package(PNG 1.6 REQUIRED)
find_package(fmt REQUIRED CONFIG)
find_package(nlohmann_json 3.7 REQUIRED CONFIG)
find_package(yaml-cpp REQUIRED CONFIG)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(numa REQUIRED IMPORTED_TARGET numa)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
# Without it files are read by pread alone.
pkg_check_modules(liburing IMPORTED_TARGET liburing)

# yaml-cpp 0.7 names its target yaml-cpp, later ones yaml-cpp::yaml-cpp.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

if(WEIR_WITH_OPENCV)
  find_package(WeirOpenCV REQUIRED)
endif()
if(WEIR_BUILD_PROGRAM)
  find_package(CLI11 REQUIRED CONFIG)
endif()
