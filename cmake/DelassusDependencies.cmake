# What the library stands on. Used by the build and, installed, by programs that link the static library.
#
# SuiteSparse has parts under different licences. AMD, KLU and CHOLMOD's simplicial Cholesky are BSD or LGPL;
# CHOLMOD's supernodal part, UMFPACK and SPQR are GPL and are not called.

include(CMakeFindDependencyMacro)
find_dependency(OpenMP COMPONENTS C)
find_dependency(PkgConfig)

if(NOT TARGET Delassus::HDF5)
  pkg_search_module(DELASSUS_HDF5 REQUIRED QUIET IMPORTED_TARGET GLOBAL hdf5-serial hdf5)
  add_library(Delassus::HDF5 ALIAS PkgConfig::DELASSUS_HDF5)
endif()

if(NOT TARGET Delassus::SuiteSparse)
  add_library(Delassus::SuiteSparse INTERFACE IMPORTED)
  find_path(SUITESPARSE_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
  target_include_directories(Delassus::SuiteSparse SYSTEM INTERFACE ${SUITESPARSE_INCLUDE_DIR})
  foreach(part cholmod klu amd)
    find_library(SUITESPARSE_${part}_LIBRARY ${part} REQUIRED)
    mark_as_advanced(SUITESPARSE_${part}_LIBRARY)
    target_link_libraries(Delassus::SuiteSparse INTERFACE ${SUITESPARSE_${part}_LIBRARY})
  endforeach()
endif()

if(NOT TARGET Delassus::YAML)
  pkg_search_module(DELASSUS_YAML REQUIRED QUIET IMPORTED_TARGET GLOBAL yaml-0.1)
  add_library(Delassus::YAML ALIAS PkgConfig::DELASSUS_YAML)
endif()

if(NOT TARGET Delassus::Qhull)
  pkg_search_module(DELASSUS_QHULL REQUIRED QUIET IMPORTED_TARGET GLOBAL qhull_r)
  add_library(Delassus::Qhull ALIAS PkgConfig::DELASSUS_QHULL)
endif()
