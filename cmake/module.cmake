# A folder of src/ is a module: a library of its sources, and one test program of its *_test.cc files. Folders in it are
# its rooms.
# Test support (*_testing.cc/.h) belongs to the tests, and to the tests of the modules above; main.cc to a program.
#
# HOT: each call of the APIs spends its processor time there, so it is optimized as far as possible. Other modules wait
# for people, networks and the store; optimized less, they are compiled in half of the time.
function(postino_module name)
  cmake_parse_arguments(ARG "HOT" "TEST_SHARDS" "USES;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|_testing|/main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "(_test|_testing)\\.cc$")
  if(POSTINO_SANITIZE STREQUAL "thread")
    # The thread sanitizer finds nothing where there is one thread, and is slow to compile.
    foreach(test ${tests})
      file(STRINGS ${test} concurrent REGEX "Concurrent")
      if(test MATCHES "_test\\.cc$" AND NOT concurrent)
        list(REMOVE_ITEM tests ${test})
      endif()
    endforeach()
  endif()

  list(TRANSFORM ARG_USES PREPEND postino_ OUTPUT_VARIABLE used)
  if(sources)
    add_library(postino_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(postino_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(postino_${name} ${scope} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(postino_${name} ${scope} ${used} ${ARG_LIBRARIES})
  if(sources AND NOT ARG_HOT AND NOT POSTINO_SANITIZE)
    target_compile_options(postino_${name} PRIVATE -Og)
  endif()
  if(sources AND POSTINO_GUIDING MATCHES "(^|;)(${name}|all)(;|$)")
    target_compile_options(postino_${name} PRIVATE ${POSTINO_GUIDE})
  endif()

  if(tests MATCHES "_test\\.cc")
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE postino_${name} GTest::gmock GTest::gtest_main)
    target_compile_options(${name}_test PRIVATE ${POSTINO_TEST_OPTIONS})
    set_target_properties(${name}_test PROPERTIES CXX_CLANG_TIDY "")
    postino_tests(${name}_test SHARDS ${ARG_TEST_SHARDS})
  endif()
endfunction()
