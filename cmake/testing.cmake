include(GoogleTest)

# What each stage of `make test` needs built; programs enter themselves below.
add_custom_target(unit_programs)        # tests that run with the address and undefined-behaviour sanitizers
add_custom_target(concurrent_programs)  # those among them that run with the thread sanitizer too
add_custom_target(release_programs)     # tests that run on the program as users get it

# postino_tests(program [PREFIX prefix] [ONE_PROCESS] [RELEASE])
#
# Makes the tests of a GoogleTest program tests of ctest. Their names begin with PREFIX, which is the program's name
# without _test by default. ONE_PROCESS makes one test of them all: for programs that start a server, which takes
# longer than their tests.
#
# A test runs where it can find something, and its label says where: `release`, given by RELEASE, or `unit`. Tests with
# Concurrent in their name get `unit_concurrent`; the thread sanitizer runs them, too.
function(postino_tests program)
  cmake_parse_arguments(ARG "ONE_PROCESS;RELEASE" "PREFIX" "" ${ARGN})
  if(NOT ARG_PREFIX)
    string(REGEX REPLACE "_test$" "" ARG_PREFIX ${program})
  endif()
  if(ARG_RELEASE)
    add_dependencies(release_programs ${program})
    set(label release)
  else()
    add_dependencies(unit_programs ${program})
    set(label unit)
  endif()

  postino_has_concurrent_tests(concurrent ${program})
  if(concurrent)
    add_dependencies(concurrent_programs ${program})
  endif()
  if(ARG_ONE_PROCESS)
    add_test(NAME ${ARG_PREFIX} COMMAND ${program} --gtest_filter=-*Concurrent*)
    set_tests_properties(${ARG_PREFIX} PROPERTIES TIMEOUT 900 LABELS ${label})
    if(concurrent)
      add_test(NAME ${ARG_PREFIX}_concurrent COMMAND ${program} --gtest_filter=*Concurrent*)
      set_tests_properties(${ARG_PREFIX}_concurrent PROPERTIES TIMEOUT 900 LABELS ${label}_concurrent)
    endif()
    return()
  endif()
  gtest_discover_tests(${program} TEST_PREFIX ${ARG_PREFIX}/ DISCOVERY_MODE PRE_TEST TEST_FILTER -*Concurrent*
    TEST_LIST ${program}_tests PROPERTIES TIMEOUT 600 LABELS ${label})
  if(concurrent)
    gtest_discover_tests(${program} TEST_PREFIX ${ARG_PREFIX}/ DISCOVERY_MODE PRE_TEST TEST_FILTER *Concurrent*
      TEST_LIST ${program}_concurrent_tests PROPERTIES TIMEOUT 600 LABELS ${label}_concurrent)
  endif()
endfunction()

# Does a source of the program, or of an object library that it consists of, have a test with Concurrent in its name?
function(postino_has_concurrent_tests result program)
  get_target_property(sources ${program} SOURCES)
  get_target_property(folder ${program} SOURCE_DIR)
  set(${result} FALSE PARENT_SCOPE)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
    if(source MATCHES "\\.cc$")
      file(STRINGS ${source} tests REGEX "^TEST.*Concurrent")
      if(tests)
        set(${result} TRUE PARENT_SCOPE)
      endif()
    endif()
  endforeach()
  get_target_property(libraries ${program} LINK_LIBRARIES)
  foreach(library ${libraries})
    if(TARGET ${library})
      get_target_property(type ${library} TYPE)
      if(type STREQUAL OBJECT_LIBRARY)
        postino_has_concurrent_tests(found ${library})
        if(found)
          set(${result} TRUE PARENT_SCOPE)
        endif()
      endif()
    endif()
  endforeach()
endfunction()
