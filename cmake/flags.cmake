# Optimization, warnings and sanitizers that every target shares.

# Line numbers are what a stack trace needs; full debug information doubles the time to build.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
if(POSTINO_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
  if(POSTINO_SANITIZE MATCHES undefined AND NOT POSTINO_FUZZ)
    # The undefined-behaviour sanitizer's checks make the optimizer slow: without it, compiling takes half the time, and
    # the tests hardly longer.
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O0 -g1")
  endif()
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Wno-sign-conversion)
# Designated initializers leave members to their defaults on purpose.
add_compile_options(-Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees uninitialized members in every optional and variant; the sanitizers see the real ones.
  # It also sees copies that overlap in every literal + string.
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict)
  if(POSTINO_SANITIZE STREQUAL "thread")
    # It warns of fences, which the thread sanitizer does not know. Boost.Asio has them beside its locks.
    add_compile_options(-Wno-tsan)
  endif()
endif()
if(POSTINO_WERROR)
  add_compile_options(-Werror)
endif()
if(POSTINO_SANITIZE)
  add_compile_options(-fsanitize=${POSTINO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${POSTINO_SANITIZE})
endif()
if(POSTINO_FUZZ)
  # Coverage of every module guides libFuzzer; only the fuzz targets themselves link its main with -fsanitize=fuzzer.
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
