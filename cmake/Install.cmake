include(CMakePackageConfigHelpers)

set(WEIR_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/weir)

# Every file set must be named here, else the export step says "has not been exported".
get_target_property(_weir_header_sets weir INTERFACE_HEADER_SETS)
set(_weir_file_sets)
foreach(_set IN LISTS _weir_header_sets)
  list(APPEND _weir_file_sets FILE_SET ${_set})
endforeach()

install(
  TARGETS weir
  EXPORT weirTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${_weir_file_sets})
install(EXPORT weirTargets NAMESPACE weir:: DESTINATION ${WEIR_CONFIG_DIR})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/weirConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/weirConfig.cmake
                              INSTALL_DESTINATION ${WEIR_CONFIG_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weirConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weirConfig.cmake ${PROJECT_BINARY_DIR}/weirConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindWeirOpenCV.cmake DESTINATION ${WEIR_CONFIG_DIR})

if(TARGET weir_cli)
  install(TARGETS weir_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # `weir sim all` looks for them there.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs/scenarios
          DESTINATION ${CMAKE_INSTALL_DATADIR}/weir)
endif()
