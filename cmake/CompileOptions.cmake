# delassus_options: how every file of the project is compiled. Not installed.

add_library(delassus_options INTERFACE)
target_compile_options(delassus_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith
  -Wcast-qual $<$<BOOL:${DELASSUS_WERROR}>:-Werror>
  $<$<C_COMPILER_ID:GNU>:-Wdouble-promotion> # clang takes the macros NAN and INFINITY for floats
  $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed> # a loop marked `omp simd` may stay scalar
  # sqrt and comparisons become single instructions; NaN, infinity and rounding keep their meaning
  -fno-math-errno -fno-trapping-math)

target_link_options(delassus_options INTERFACE LINKER:--as-needed)

# The instruction set: what this machine has, if it is the common x86-64 level with AVX2 and FMA.
if(NOT DEFINED DELASSUS_ARCH AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND NOT CMAKE_CROSSCOMPILING)
  include(CheckCSourceRuns)
  check_c_source_runs("int main(void) { return !(__builtin_cpu_supports(\"avx2\") &&
      __builtin_cpu_supports(\"fma\") && __builtin_cpu_supports(\"bmi2\")); }" MACHINE_IS_X86_64_V3)
  if(MACHINE_IS_X86_64_V3)
    set(default_arch x86-64-v3)
  endif()
endif()
set(DELASSUS_ARCH "${default_arch}" CACHE STRING "Value for -march; empty for the compiler's baseline")
if(DELASSUS_ARCH)
  target_compile_options(delassus_options INTERFACE -march=${DELASSUS_ARCH})
endif()

if(DELASSUS_SANITIZE)
  set(sanitize -fsanitize=${DELASSUS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1)
  target_compile_options(delassus_options INTERFACE ${sanitize})
  target_link_options(delassus_options INTERFACE ${sanitize})
endif()
