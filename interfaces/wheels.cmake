# The interface wheels record include directories of the machine they were built on
# (Python and numpy headers). CMake refuses imported targets whose include directories
# do not exist, so the ones missing here are dropped; ours come from find_package(Python3).
function(drop_missing_include_directories)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
    if(directories)
      set(kept)
      foreach(directory IN LISTS directories)
        if(directory MATCHES "\\$<" OR EXISTS "${directory}")
          list(APPEND kept "${directory}")
        endif()
      endforeach()
      set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${kept}")
    endif()
  endforeach()
endfunction()
