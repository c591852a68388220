# compile_fail.cmake: a source whose first line is "// expect: TEXT" must not compile, and the compiler
# must say TEXT; one that begins with "// compiles" must.
#
# COMPILER, FLAGS (a list), SOURCE.
file(STRINGS ${SOURCE} lines LIMIT_COUNT 1)
list(GET lines 0 first)
execute_process(
  COMMAND ${COMPILER} ${FLAGS} -fsyntax-only ${SOURCE}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)

if(first MATCHES "^// compiles")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "must compile:\n${output}")
  endif()
  return()
endif()
if(NOT first MATCHES "^// expect: (.+)$")
  message(FATAL_ERROR "${SOURCE}: the first line says neither \"// expect: TEXT\" nor \"// compiles\"")
endif()
set(expected "${CMAKE_MATCH_1}")
if(status EQUAL 0)
  message(FATAL_ERROR "compiles, but must say: ${expected}")
endif()
# The first error is the one that a user reads.
string(REGEX MATCH "error: [^\n]*" first_error "${output}")
string(FIND "${first_error}" "${expected}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "the first error does not say: ${expected}\n${output}")
endif()
