# LLVM and MLIR 22.1 as static archives.
#
# Debian's exported MLIR targets name the shared library `LLVM` (and sometimes `MLIR`) in their link interfaces, which
# would quietly mix archives with libLLVM.so. Every such name is swapped for an interface target of archives.
find_package(MLIR 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/mlir NO_DEFAULT_PATH)
set(LLVM_LINK_LLVM_DYLIB OFF)

add_library(llvm_archives INTERFACE)
set(_components NVPTXCodeGen NVPTXDesc NVPTXInfo Passes IRReader BitReader Linker Core Support Target)
list(TRANSFORM _components PREPEND LLVM)
target_link_libraries(llvm_archives INTERFACE ${_components})
add_library(mlir_archives INTERFACE)
target_link_libraries(mlir_archives INTERFACE MLIRTargetLLVMIRExport MLIRLLVMDialect MLIRIR)
foreach(_t IN LISTS MLIR_EXPORTED_TARGETS LLVM_AVAILABLE_LIBS)
  if(TARGET ${_t})
    get_target_property(_type ${_t} TYPE)
    get_target_property(_links ${_t} INTERFACE_LINK_LIBRARIES)
    if(_type STREQUAL "STATIC_LIBRARY" AND _links)
      list(TRANSFORM _links REPLACE "^LLVM$" llvm_archives)
      list(TRANSFORM _links REPLACE "^MLIR$" mlir_archives)
      set_target_properties(${_t} PROPERTIES INTERFACE_LINK_LIBRARIES "${_links}")
    endif()
  endif()
endforeach()

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
separate_arguments(TILEC_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
