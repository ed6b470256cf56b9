# Optimization, warnings and sanitizers that every target shares.

# Line numbers are what a stack trace needs; full debug information doubles the time to build.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
if(POSTINO_SANITIZE)
  # The sanitizers' checks make the optimizer slow: without it, compiling takes half the time, and the tests hardly longer.
  # Fuzzing for hours is worth the wait.
  set(POSTINO_SANITIZED_OPTIMIZATION -O0 CACHE STRING "How far code with sanitizers is optimized")
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "${POSTINO_SANITIZED_OPTIMIZATION} -g1")
else()
  # Of tests, only what they test need be as users get it: optimizing them takes longer than they run.
  set(POSTINO_TEST_OPTIONS -O0)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Wno-sign-conversion)
# Designated initializers leave members to their defaults on purpose.
add_compile_options(-Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees uninitialized members in every optional and variant; the sanitizers see the real ones.
  # It also sees copies that overlap in every literal + string.
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict)
  # It looks for memory to free after each third of growth, which takes a tenth of the time. With these it looks less.
  add_compile_options("SHELL:--param ggc-min-expand=400" "SHELL:--param ggc-min-heapsize=600000")
endif()
if(CMAKE_UNITY_BUILD)
  # A name does not hide what another source of the same batch has in its unnamed namespace. The check build, which
  # compiles each source by itself, finds the names that are really hidden.
  add_compile_options(-Wno-shadow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-subobject-linkage)
  endif()
endif()
if(POSTINO_WERROR)
  add_compile_options(-Werror)
endif()
if(POSTINO_SANITIZE)
  add_compile_options(-fsanitize=${POSTINO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${POSTINO_SANITIZE})
  # A precompiled header serves only sources that are compiled with the same definitions.
  add_compile_options(-pthread)
  add_compile_definitions(GTEST_HAS_PTHREAD=1 SIMDJSON_THREADS_ENABLED=1 _LARGEFILE64_SOURCE)
endif()
if(POSTINO_FUZZ)
  # Which branches an input takes guides libFuzzer. Noting them takes time, so it is done in the modules that read what
  # strangers send, or in all that hours of fuzzing come by. Only the fuzz targets link libFuzzer's main. This is what
  # -fsanitize=fuzzer-no-link asks for, but for the depth of the stack: that takes a third of the time to compile.
  set(POSTINO_GUIDING "base json http item expr partiql mail broker messages wire" CACHE STRING
    "Modules whose branches guide libFuzzer, or `all`")
  set(POSTINO_GUIDE -fsanitize-coverage=edge,inline-8bit-counters,pc-table,trace-cmp,indirect-calls
    -fno-builtin-memcmp -fno-builtin-strcmp -fno-builtin-strncmp)
  separate_arguments(POSTINO_GUIDING)
endif()

# A unity source takes up to 2 GB to compile: a machine with little memory compiles fewer at once.
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY) # in MB
math(EXPR at_once "${memory} / 2048")
math(EXPR most "${cores} + 1")
if(at_once GREATER most)
  set(at_once ${most})
elseif(at_once LESS 1)
  set(at_once 1)
endif()
set_property(GLOBAL PROPERTY JOB_POOLS compiling=${at_once})
set(CMAKE_JOB_POOL_COMPILE compiling)

find_program(CCACHE ccache)
if(CCACHE AND NOT POSTINO_SANITIZE)
  # What was compiled in one clone serves another. Precompiled headers, which sanitized builds have, would not.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
