# `cmake --install` and the package that find_package(hvtlb) finds.
include(CMakePackageConfigHelpers)

install(TARGETS hvtlb EXPORT hvtlbTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS hvtlb_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY model flush host scenario explore trace report
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hvtlb FILES_MATCHING PATTERN "*.h")
install(EXPORT hvtlbTargets NAMESPACE hvtlb:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hvtlb)

configure_package_config_file(cmake/hvtlbConfig.cmake.in
  ${PROJECT_BINARY_DIR}/hvtlbConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hvtlb)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hvtlbConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hvtlbConfig.cmake ${PROJECT_BINARY_DIR}/hvtlbConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hvtlb)
