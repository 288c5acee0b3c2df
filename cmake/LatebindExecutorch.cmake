# The SDK of ExecuTorch: headers and libraries from its wheel, as unpacked by `scripts/setup executorch`. Sets
# LATEBIND_EXECUTORCH_FOUND and defines the target latebind_executorch_sdk.
if(TARGET latebind_executorch_sdk)
  return()
endif()
file(STRINGS ${PROJECT_SOURCE_DIR}/scripts/versions.env line REGEX "^EXECUTORCH_VERSION=")
string(REGEX REPLACE "^EXECUTORCH_VERSION=" "" latebind_executorch_version "${line}")
set(folder ${PROJECT_SOURCE_DIR}/build/runtime/executorch-${latebind_executorch_version}/executorch)
latebind_present(installed ${folder}/include/executorch/runtime/backend/interface.h)
set(LATEBIND_EXECUTORCH_DIR "" CACHE PATH
  "The folder `executorch` of ExecuTorch's wheel, for the delegate; empty: the one that scripts/setup installs")
set(LATEBIND_EXECUTORCH_FOUND FALSE)
if(WIN32 OR CMAKE_CROSSCOMPILING)
  message(STATUS "ExecuTorch's SDK is for Linux x86_64: its delegate is not built for this machine")
  return()
endif()
if(NOT LATEBIND_EXECUTORCH_DIR AND NOT installed)
  latebind_left_out("the delegate for ExecuTorch, and its tests"
    "its SDK is not there; type scripts/setup executorch, or set LATEBIND_EXECUTORCH_DIR")
  return()
endif()
if(NOT LATEBIND_EXECUTORCH_DIR)
  set(LATEBIND_EXECUTORCH_DIR ${folder})
endif()
foreach(file include/executorch/runtime/backend/interface.h lib/libexecutorch.so)
  if(NOT EXISTS ${LATEBIND_EXECUTORCH_DIR}/${file})
    message(FATAL_ERROR "LATEBIND_EXECUTORCH_DIR: there is no ${file} in ${LATEBIND_EXECUTORCH_DIR}; it must be the folder `executorch` of the wheel")
  endif()
endforeach()
set(LATEBIND_EXECUTORCH_FOUND TRUE)

add_library(latebind_executorch_sdk INTERFACE)
target_include_directories(latebind_executorch_sdk SYSTEM INTERFACE
  ${LATEBIND_EXECUTORCH_DIR}/include
  ${LATEBIND_EXECUTORCH_DIR}/include/executorch/runtime/core/portable_type/c10)
# The definitions that the wheel's libraries were built with.
target_compile_definitions(latebind_executorch_sdk INTERFACE C10_USING_CUSTOM_GENERATED_MACROS ET_EVENT_TRACER_ENABLED)
# By folder and name, so that the linker records the library's name rather than its path.
target_link_directories(latebind_executorch_sdk INTERFACE ${LATEBIND_EXECUTORCH_DIR}/lib)
target_link_libraries(latebind_executorch_sdk INTERFACE executorch)
