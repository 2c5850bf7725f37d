# Libraries that are linked as archives, like LLVM: the tool needs glibc alone. It has to be all of them or none: next to
# a shared library in C++, the tool's own copy of the C++ run-time library would not catch what that library throws.
foreach(name IN ITEMS yaml-cpp sqlite3 z zstd)
  find_library(${name}_ARCHIVE lib${name}.a REQUIRED)
endforeach()
add_library(yaml-cpp STATIC IMPORTED)
set_target_properties(yaml-cpp PROPERTIES IMPORTED_LOCATION "${yaml-cpp_ARCHIVE}")
add_library(sqlite3 STATIC IMPORTED)
set_target_properties(sqlite3 PROPERTIES IMPORTED_LOCATION "${sqlite3_ARCHIVE}")
# These two come with LLVM's exported targets.
foreach(pair IN ITEMS ZLIB::ZLIB=z zstd::libzstd_shared=zstd)
  string(REGEX MATCH "^(.*)=(.*)$" _ "${pair}")
  if(TARGET ${CMAKE_MATCH_1})
    set_target_properties(${CMAKE_MATCH_1} PROPERTIES
      IMPORTED_LOCATION "${${CMAKE_MATCH_2}_ARCHIVE}" IMPORTED_LOCATION_RELEASE "${${CMAKE_MATCH_2}_ARCHIVE}")
  endif()
endforeach()
