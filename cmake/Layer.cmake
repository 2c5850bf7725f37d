# tilec_mlir(TARGET): what a target that includes MLIR's headers needs.
#
# MLIR 22's headers do not compile as C++23 against libstdc++ 12: there the language makes members constexpr whose bodies
# need types that are still incomplete. They are built as C++20, with the library (std::expected) told to be C++23's.
function(tilec_mlir target)
  target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_definitions(${target} PUBLIC ${TILEC_LLVM_DEFINITIONS})
  set_target_properties(${target} PROPERTIES CXX_STANDARD 20 TILEC_MLIR ON)
  target_compile_options(${target} PRIVATE -Wno-builtin-macro-redefined -U__cplusplus -D__cplusplus=202100L)
endfunction()

# tilec_layer(FOLDER [MLIR] [DEPS target...]): the static library of one folder of the architecture.
#
# The target is the folder's name with '/' as '_'. Every .cpp directly in the folder belongs to it. MLIR adds LLVM's
# include paths and the MLIR precompiled header; other layers use the plain one.
function(tilec_layer folder)
  cmake_parse_arguments(ARG "MLIR" "" "DEPS" ${ARGN})
  string(REPLACE "/" "_" name "${folder}")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC tilec_options ${ARG_DEPS})
  if(ARG_MLIR)
    tilec_mlir(${name})
    if(TARGET tile_ir_gen)
      add_dependencies(${name} tile_ir_gen)
    endif()
    if(TILEC_PCH)
      target_precompile_headers(${name} REUSE_FROM pch_mlir)
    endif()
  elseif(TILEC_PCH)
    target_precompile_headers(${name} REUSE_FROM pch_std)
  endif()
endfunction()
