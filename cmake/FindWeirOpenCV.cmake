# Finds three modules of OpenCV, core, imgproc and imgcodecs, as targets opencv_<module>.
#
# The config file that OpenCV ships lies in a package that pulls in every other module and its
# dependencies, several hundred megabytes on Debian. The three development packages alone hold the
# headers and the libraries, so these are looked for first. The config file is asked where OpenCV_DIR
# points at one, or where the plain search finds nothing.
set(_weir_opencv_modules core imgproc imgcodecs)

if(NOT TARGET opencv_core AND NOT OpenCV_DIR)
  find_path(WeirOpenCV_INCLUDE_DIR opencv2/imgcodecs.hpp PATH_SUFFIXES opencv4)
  mark_as_advanced(WeirOpenCV_INCLUDE_DIR)
  set(_weir_opencv_libraries)
  foreach(_module IN LISTS _weir_opencv_modules)
    find_library(WeirOpenCV_${_module}_LIBRARY opencv_${_module})
    mark_as_advanced(WeirOpenCV_${_module}_LIBRARY)
    if(WeirOpenCV_${_module}_LIBRARY)
      list(APPEND _weir_opencv_libraries ${WeirOpenCV_${_module}_LIBRARY})
    endif()
  endforeach()
  list(LENGTH _weir_opencv_libraries _weir_opencv_count)
  if(WeirOpenCV_INCLUDE_DIR AND _weir_opencv_count EQUAL 3)
    foreach(_module IN LISTS _weir_opencv_modules)
      add_library(opencv_${_module} UNKNOWN IMPORTED)
      set_target_properties(
        opencv_${_module}
        PROPERTIES IMPORTED_LOCATION ${WeirOpenCV_${_module}_LIBRARY}
                   INTERFACE_INCLUDE_DIRECTORIES ${WeirOpenCV_INCLUDE_DIR})
    endforeach()
    set_property(TARGET opencv_imgproc PROPERTY INTERFACE_LINK_LIBRARIES opencv_core)
    set_property(TARGET opencv_imgcodecs PROPERTY INTERFACE_LINK_LIBRARIES opencv_imgproc)
  endif()
endif()

if(NOT TARGET opencv_core)
  find_package(OpenCV 4 QUIET CONFIG COMPONENTS ${_weir_opencv_modules})
endif()

if(TARGET opencv_core AND TARGET opencv_imgproc AND TARGET opencv_imgcodecs)
  set(WeirOpenCV_FOUND TRUE)
else()
  set(WeirOpenCV_FOUND FALSE)
  set(WeirOpenCV_NOT_FOUND_MESSAGE
      "OpenCV's core, imgproc and imgcodecs were not found. Debian and Ubuntu: apt-get install libopencv-imgcodecs-dev. Elsewhere set OpenCV_DIR to the folder of OpenCVConfig.cmake, or configure with -DWEIR_WITH_OPENCV=OFF."
  )
  if(WeirOpenCV_FIND_REQUIRED)
    message(FATAL_ERROR "${WeirOpenCV_NOT_FOUND_MESSAGE}")
  endif()
endif()
unset(_weir_opencv_modules)
unset(_weir_opencv_libraries)
unset(_weir_opencv_count)
