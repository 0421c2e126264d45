# src/dist, the one room that knows MPI, as a library beside the other, and the program with it: the objects of
# the library and of the commands are the same.

if(DELASSUS_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
  file(GLOB dist_sources CONFIGURE_DEPENDS src/dist/*.c)
  add_library(delassus_dist STATIC ${dist_sources})
  target_include_directories(delassus_dist PRIVATE src PUBLIC include)
  target_link_libraries(delassus_dist PUBLIC delassus_static PRIVATE delassus_options MPI::MPI_C)

  add_executable(delassus_mpi_program cli/mpi/main.c)
  set_target_properties(delassus_mpi_program PROPERTIES OUTPUT_NAME delassus-mpi)
  target_link_libraries(delassus_mpi_program PRIVATE delassus_commands delassus_dist MPI::MPI_C)
  install(TARGETS delassus_mpi_program delassus_dist)
  install(DIRECTORY include/delassus_dist TYPE INCLUDE)
endif()
