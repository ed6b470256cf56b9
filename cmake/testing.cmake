# What each stage of `make test` needs built; programs enter themselves below.
add_custom_target(unit_programs)        # tests that run with the address and undefined-behaviour sanitizers
add_custom_target(concurrent_programs)  # those among them that run with the thread sanitizer too
add_custom_target(release_programs)     # tests that run on the program as users get it

# postino_tests(program [SHARDS count] [COST seconds] [RELEASE])
#
# Makes the tests of a GoogleTest program one test of ctest, or SHARDS tests of which each runs a part: a process for
# each single test takes longer than most of them. The name is the program's without _test.
#
# A test runs where it can find something, and its label says where: `release`, given by RELEASE, or `unit`. Tests with
# Concurrent in their name get `unit_concurrent`; the thread sanitizer runs them, too.
#
# Programs that take long have a COST: they begin first, so that the others do not wait for them at the end.
function(postino_tests program)
  cmake_parse_arguments(ARG "RELEASE" "SHARDS;COST" "" ${ARGN})
  string(REGEX REPLACE "_test$" "" name ${program})
  if(ARG_RELEASE)
    add_dependencies(release_programs ${program})
    set(label release)
  else()
    add_dependencies(unit_programs ${program})
    set(label unit)
  endif()
  postino_named_tests(tests ${program})

  set(concurrent ${tests})
  list(FILTER concurrent INCLUDE REGEX Concurrent)
  if(concurrent)
    add_dependencies(concurrent_programs ${program})
    add_test(NAME ${name}/concurrent COMMAND ${program} --gtest_filter=*Concurrent*)
    set_tests_properties(${name}/concurrent PROPERTIES TIMEOUT 900 LABELS ${label}_concurrent)
  endif()
  list(FILTER tests EXCLUDE REGEX Concurrent)
  if(NOT tests)
    return()
  endif()
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}/${shard} COMMAND ${program} --gtest_filter=-*Concurrent*)
    set_tests_properties(${name}/${shard} PROPERTIES TIMEOUT 900 LABELS ${label}
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}")
    if(ARG_COST)
      set_tests_properties(${name}/${shard} PROPERTIES COST ${ARG_COST})
    endif()
  endforeach()
endfunction()

# The lines that name a test in the sources of a program, and of the object libraries that it consists of.
function(postino_named_tests result program)
  get_target_property(sources ${program} SOURCES)
  get_target_property(folder ${program} SOURCE_DIR)
  set(all)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
    if(source MATCHES "\\.cc$")
      file(STRINGS ${source} tests REGEX "^(TYPED_)?TEST")
      list(APPEND all ${tests})
    endif()
  endforeach()
  get_target_property(libraries ${program} LINK_LIBRARIES)
  foreach(library ${libraries})
    if(TARGET ${library})
      get_target_property(type ${library} TYPE)
      if(type STREQUAL OBJECT_LIBRARY)
        postino_named_tests(tests ${library})
        list(APPEND all ${tests})
      endif()
    endif()
  endforeach()
  set(${result} ${all} PARENT_SCOPE)
endfunction()
