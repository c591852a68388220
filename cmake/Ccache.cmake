# ccache as launcher where it is installed and the caller chose no launcher of his own.
# The sloppiness is what ccache needs to trust precompiled headers; the base folder lets another
# clone of the project reuse the results.
if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(WEIR_CCACHE ccache)
  mark_as_advanced(WEIR_CCACHE)
  if(WEIR_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${WEIR_CCACHE})
  endif()
endif()
