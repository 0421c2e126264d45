# Every bench/bench_*.c is a program in build/bench/; the comparison with Siconos only where Siconos is.

file(GLOB bench_sources CONFIGURE_DEPENDS bench/bench_*.c)
set(siconos_source ${PROJECT_SOURCE_DIR}/bench/bench_siconos.c)
list(REMOVE_ITEM bench_sources ${siconos_source})

foreach(source ${bench_sources})
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE delassus_options delassus_static OpenMP::OpenMP_C m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endforeach()

find_library(SICONOS_NUMERICS_LIBRARY siconos_numerics)
find_path(SICONOS_INCLUDE_DIR FrictionContactProblem.h PATH_SUFFIXES siconos)
mark_as_advanced(SICONOS_NUMERICS_LIBRARY SICONOS_INCLUDE_DIR)
if(SICONOS_NUMERICS_LIBRARY AND SICONOS_INCLUDE_DIR AND EXISTS ${siconos_source})
  add_executable(bench-siconos EXCLUDE_FROM_ALL ${siconos_source})
  target_include_directories(bench-siconos SYSTEM PRIVATE ${SICONOS_INCLUDE_DIR})
  target_link_libraries(bench-siconos PRIVATE delassus_options delassus_static OpenMP::OpenMP_C m
                        ${SICONOS_NUMERICS_LIBRARY})
  set_target_properties(bench-siconos PROPERTIES OUTPUT_NAME bench_siconos
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endif()
