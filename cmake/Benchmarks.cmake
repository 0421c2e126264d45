# Every bench/bench_*.c is a program in build/bench/, with the other files of bench/ linked in; the comparison
# with Siconos is built on demand, where Siconos is.

file(GLOB bench_sources CONFIGURE_DEPENDS bench/bench_*.c)
file(GLOB bench_support CONFIGURE_DEPENDS bench/*.c)
list(REMOVE_ITEM bench_support ${bench_sources} "")

find_library(SICONOS_NUMERICS_LIBRARY siconos_numerics)
find_path(SICONOS_INCLUDE_DIR FrictionContactProblem.h PATH_SUFFIXES siconos/numerics)
mark_as_advanced(SICONOS_NUMERICS_LIBRARY SICONOS_INCLUDE_DIR)
if(NOT SICONOS_NUMERICS_LIBRARY OR NOT SICONOS_INCLUDE_DIR)
  list(FILTER bench_sources EXCLUDE REGEX "/bench_siconos\\.c$")
endif()

foreach(source ${bench_sources})
  cmake_path(GET source STEM name)
  add_executable(${name} ${source} ${bench_support})
  target_link_libraries(${name} PRIVATE delassus_options delassus_static OpenMP::OpenMP_C m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endforeach()

if(TARGET bench_siconos)
  set_target_properties(bench_siconos PROPERTIES EXCLUDE_FROM_ALL ON)
  target_include_directories(bench_siconos SYSTEM PRIVATE ${SICONOS_INCLUDE_DIR} ${SICONOS_INCLUDE_DIR}/..)
  target_link_libraries(bench_siconos PRIVATE ${SICONOS_NUMERICS_LIBRARY})
  add_custom_target(bench-siconos DEPENDS bench_siconos)
endif()
