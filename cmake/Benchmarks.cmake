# Every bench/bench_*.c is a program in build/bench/, with the other files of bench/ linked in; the comparison
# with Siconos is built on demand, where Siconos is.

file(GLOB bench_sources CONFIGURE_DEPENDS bench/bench_*.c)
file(GLOB bench_support CONFIGURE_DEPENDS bench/*.c)
list(REMOVE_ITEM bench_support ${bench_sources} "")

find_library(SICONOS_NUMERICS_LIBRARY siconos_numerics)
find_path(SICONOS_INCLUDE_DIR FrictionContactProblem.h PATH_SUFFIXES siconos/numerics)
find_library(OPENBLAS_LIBRARY openblas) # Siconos's, to set its threads
mark_as_advanced(SICONOS_NUMERICS_LIBRARY SICONOS_INCLUDE_DIR OPENBLAS_LIBRARY)
if(NOT SICONOS_NUMERICS_LIBRARY OR NOT SICONOS_INCLUDE_DIR OR NOT OPENBLAS_LIBRARY)
  list(FILTER bench_sources EXCLUDE REGEX "/bench_siconos\\.c$")
endif()

foreach(source ${bench_sources})
  cmake_path(GET source STEM name)
  add_executable(${name} ${source} ${bench_support})
  target_link_libraries(${name} PRIVATE delassus_options delassus_static OpenMP::OpenMP_C m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endforeach()
target_link_libraries(bench_alpha PRIVATE delassus_commands) # models of paper 004

if(TARGET bench_siconos)
  set_target_properties(bench_siconos PROPERTIES EXCLUDE_FROM_ALL ON)
  target_include_directories(bench_siconos SYSTEM PRIVATE ${SICONOS_INCLUDE_DIR} ${SICONOS_INCLUDE_DIR}/..)
  target_link_libraries(bench_siconos PRIVATE ${SICONOS_NUMERICS_LIBRARY} ${OPENBLAS_LIBRARY})
  add_custom_target(bench-siconos DEPENDS bench_siconos)
endif()

# ---- the same scenes in other engines: bench-peers builds what there is ---------------------------------

add_library(peer_scene STATIC EXCLUDE_FROM_ALL bench/peers/scene.c)
target_link_libraries(peer_scene PRIVATE delassus_options)
target_include_directories(peer_scene PUBLIC bench/peers)
add_custom_target(bench-peers)

function(add_peer name source)
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE peer_scene ${ARGN} m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  add_dependencies(bench-peers ${name})
endfunction()

add_peer(peer_delassus bench/peers/peer_delassus.c delassus_options delassus_static OpenMP::OpenMP_C)
set_target_properties(peer_delassus PROPERTIES EXCLUDE_FROM_ALL OFF) # ours is tested

find_library(ODE_LIBRARY ode)
find_path(ODE_INCLUDE_DIR ode/ode.h)
mark_as_advanced(ODE_LIBRARY ODE_INCLUDE_DIR)
if(ODE_LIBRARY AND ODE_INCLUDE_DIR)
  add_peer(peer_ode bench/peers/peer_ode.c delassus_options ${ODE_LIBRARY})
  target_include_directories(peer_ode SYSTEM PRIVATE ${ODE_INCLUDE_DIR})
endif()

# Bullet speaks C++ only, and is taken in double precision.
find_library(BULLET_DYNAMICS_LIBRARY BulletDynamics-float64)
find_library(BULLET_COLLISION_LIBRARY BulletCollision-float64)
find_library(BULLET_MATH_LIBRARY LinearMath-float64)
find_path(BULLET_INCLUDE_DIR btBulletDynamicsCommon.h PATH_SUFFIXES bullet)
mark_as_advanced(BULLET_DYNAMICS_LIBRARY BULLET_COLLISION_LIBRARY BULLET_MATH_LIBRARY BULLET_INCLUDE_DIR)
include(CheckLanguage)
check_language(CXX)
if(BULLET_DYNAMICS_LIBRARY AND BULLET_INCLUDE_DIR AND CMAKE_CXX_COMPILER)
  enable_language(CXX)
  add_peer(peer_bullet bench/peers/peer_bullet.cpp ${BULLET_DYNAMICS_LIBRARY} ${BULLET_COLLISION_LIBRARY}
           ${BULLET_MATH_LIBRARY})
  target_compile_features(peer_bullet PRIVATE cxx_std_17)
  target_compile_definitions(peer_bullet PRIVATE BT_USE_DOUBLE_PRECISION)
  target_include_directories(peer_bullet SYSTEM PRIVATE ${BULLET_INCLUDE_DIR})
endif()
