# postino_precompile_headers(header source) comes after all targets. The source includes the header and nothing else.
#
# Headers from outside that many sources read, compiled once for a whole build. With sanitizers, where Clang compiles
# without optimizing, reading headers is half of the work. What users get is compiled without, so a source that forgets
# an include is still found out.
function(postino_precompile_headers header source)
  postino_compiled_targets(targets ${PROJECT_SOURCE_DIR})
  add_library(precompiled OBJECT ${source})
  target_precompile_headers(precompiled PRIVATE ${PROJECT_SOURCE_DIR}/${header})
  foreach(target ${targets})
    target_precompile_headers(${target} REUSE_FROM precompiled)
  endforeach()
endfunction()

# The targets of a folder and those below it that compile something.
function(postino_compiled_targets result folder)
  get_property(candidates DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  set(targets)
  foreach(target ${candidates})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(STATIC_LIBRARY|OBJECT_LIBRARY|EXECUTABLE)$")
      list(APPEND targets ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    postino_compiled_targets(more ${below})
    list(APPEND targets ${more})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()
