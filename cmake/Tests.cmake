# Every test_*.c of tests/unit, tests/solve and tests/cli is a cmocka program, run by tests/run. Tests link the
# static library, so they reach what the shared one hides; those of tests/cli link the program's commands.

pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET cmocka)

add_library(test_settings INTERFACE)
target_include_directories(test_settings INTERFACE src tests)
target_compile_definitions(test_settings INTERFACE DLS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(test_settings INTERFACE delassus_options delassus_static Delassus::HDF5
                      Delassus::SuiteSparse OpenMP::OpenMP_C m)

if(CMOCKA_FOUND)
  file(GLOB support_sources CONFIGURE_DEPENDS tests/support/*.c)
  if(support_sources)
    add_library(test_support OBJECT ${support_sources})
    target_link_libraries(test_support PRIVATE test_settings PkgConfig::CMOCKA)
  endif()
  file(GLOB test_sources CONFIGURE_DEPENDS tests/unit/test_*.c tests/solve/test_*.c
       tests/physics/test_*.c tests/cli/test_*.c)
  foreach(source ${test_sources})
    cmake_path(GET source STEM name)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    add_executable(${folder}_${name} ${source})
    set_target_properties(${folder}_${name} PROPERTIES OUTPUT_NAME ${name}
                          RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${folder})
    target_link_libraries(${folder}_${name} PRIVATE test_settings PkgConfig::CMOCKA)
    if(support_sources)
      target_link_libraries(${folder}_${name} PRIVATE test_support)
    endif()
    if(folder STREQUAL "cli" OR name MATCHES "^test_alpha(_world)?$") # of the program: commands, models of paper 004
      target_include_directories(${folder}_${name} PRIVATE ${PROJECT_SOURCE_DIR})
      target_link_libraries(${folder}_${name} PRIVATE delassus_commands)
    endif()
  endforeach()
else()
  message(STATUS "cmocka not found: the unit tests are not built")
endif()

# Every tests/fuzz/fuzz_*.c becomes a program that replays its corpus and, with DELASSUS_FUZZ, a fuzzer.
if(DELASSUS_FUZZ)
  # what is compared with what leads a fuzzer no farther than the inputs that it could try in the same time
  target_compile_options(delassus_options INTERFACE -O2 -fsanitize=fuzzer-no-link
                         -fno-sanitize-coverage=trace-cmp)
  add_custom_target(fuzzers)
endif()
file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(source ${fuzz_sources})
  cmake_path(GET source STEM name)
  string(REPLACE fuzz_ replay_ replay ${name})
  set(parts test_settings)
  if(name MATCHES "fuzz_(arguments|results)$")
    list(APPEND parts delassus_commands)
  endif()
  if(name STREQUAL fuzz_results) # it answers in HDF5's place
    set(answered dls_structure_take dls_table_open dls_table_read dls_attribute_read_text dls_attribute_read_int
        dls_attribute_read_reals dls_texts_read dls_array_read H5Fopen H5Fclose H5Lexists)
    list(TRANSFORM answered PREPEND -Wl,--wrap=)
    list(APPEND parts ${answered})
  endif()
  add_executable(${replay} ${source} tests/fuzz/replay.c)
  target_link_libraries(${replay} PRIVATE ${parts})
  target_include_directories(${replay} PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(${replay} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fuzz)
  if(DELASSUS_FUZZ)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE ${parts})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fuzz)
    add_dependencies(fuzzers ${name})
  endif()
endforeach()
