# Libraries, headers, program, and the files by which pkg-config and CMake find them. All paths are relative
# to where those files lie, so an installed tree may be moved.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/delassus)

install(TARGETS delassus_static delassus_shared EXPORT delassusTargets)
install(TARGETS delassus_program)
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/delassus)
install(FILES LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT delassusTargets NAMESPACE delassus:: DESTINATION ${package_dir})
configure_package_config_file(cmake/delassusConfig.cmake.in delassusConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(delassusConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/delassusConfig.cmake ${PROJECT_BINARY_DIR}/delassusConfigVersion.cmake
        cmake/DelassusDependencies.cmake DESTINATION ${package_dir})

string(REGEX REPLACE "[^/]+" ".." up_to_prefix ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
list(TRANSFORM OpenMP_C_LIB_NAMES PREPEND -l OUTPUT_VARIABLE private_libraries)
list(PREPEND private_libraries ${DELASSUS_HDF5_LDFLAGS} ${DELASSUS_YAML_LDFLAGS} ${DELASSUS_QHULL_LDFLAGS})
list(JOIN private_libraries " " private_libraries)
configure_file(cmake/delassus.pc.in delassus.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/delassus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
