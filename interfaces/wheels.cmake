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

# Python over Fast DDS is all that these packages are built for: type support of C++ would be half of the compilation.
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")

# Compiles the files of each library as one, so that the headers of Fast DDS, Python and numpy are read once. To be
# called after rosidl_generate_interfaces. Descriptions have variables of the same names and stay apart.
function(compile_together)
  foreach(suffix rosidl_generator_c rosidl_typesupport_fastrtps_c rosidl_typesupport_introspection_c
                 rosidl_typesupport_c rosidl_generator_py)
    set(library ${PROJECT_NAME}__${suffix})
    if(TARGET ${library})
      set_target_properties(${library} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
      get_target_property(sources ${library} SOURCES)
      list(FILTER sources INCLUDE REGEX "__description\\.c$")
      set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()
