# Builds and runs the consumer project; called as a test with -D:
#   MODE          installed: installs BUILD_DIR into a prefix and uses find_package
#                 subfolder: uses add_subdirectory, and builds weir as a shared library there
#   SOURCE_DIR, BUILD_DIR, WORK_DIR, GENERATOR, COMPILER
#   CCACHE        the program ccache, or something false
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${result}): ${command}\n${output}")
  endif()
endfunction()

set(consumer ${WORK_DIR}/build)
file(REMOVE_RECURSE ${WORK_DIR})
set(options -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Debug)

if(MODE STREQUAL "installed")
  run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
  list(APPEND options -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
else()
  # Without debug information and at -O0: this is a test of linking, and the whole library is built.
  list(APPEND options -DWEIR_SOURCE_DIR=${SOURCE_DIR} -DBUILD_SHARED_LIBS=ON
       -DCMAKE_CXX_FLAGS_DEBUG=-O0)
  if(CCACHE)
    set(ENV{CCACHE_BASEDIR} ${SOURCE_DIR})
    set(ENV{CCACHE_NOHASHDIR} 1)
    list(APPEND options -DCMAKE_CXX_COMPILER_LAUNCHER=${CCACHE})
  endif()
endif()

run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/project/consumer -B ${consumer} ${options})
run(${CMAKE_COMMAND} --build ${consumer} --parallel)
run(${consumer}/consumer)
