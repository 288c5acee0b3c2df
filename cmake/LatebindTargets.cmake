# One static library a layer, and one test program a layer.

# latebind_layer(NAME SOURCES … [USES layer …] [PRIVATE target …])
# USES names the layers below that its headers may include.
function(latebind_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;PRIVATE" ${ARGN})
  # BOOTSTRAP: sources that are not written yet are left out.
  set(existing)
  foreach(source IN LISTS ARG_SOURCES)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
      list(APPEND existing ${source})
    else()
      message(WARNING "${name}: ${source} is not written yet")
    endif()
  endforeach()
  if(NOT existing)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cpp "namespace {}\n")
    set(existing ${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cpp)
  endif()
  add_library(${name} STATIC ${existing})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_USES} PRIVATE fmt::fmt-header-only Threads::Threads ${ARG_PRIVATE})
  target_compile_definitions(${name} PRIVATE LATEBIND_VERSION="${PROJECT_VERSION}")
endfunction()

# latebind_test(NAME LAYER target … [SOURCES …]): every tests/<dir>/*_test.cpp of the calling folder, in one GoogleTest program.
function(latebind_test name)
  cmake_parse_arguments(ARG "" "" "LINK;SOURCES;LABELS;ENVIRONMENT" ${ARGN})
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  if(NOT tests AND NOT ARG_SOURCES)
    message(WARNING "${name}: no tests written yet")  # BOOTSTRAP
    return()
  endif()
  add_executable(${name} ${tests} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} fmt::fmt-header-only GTest::gmock GTest::gtest GTest::gtest_main Threads::Threads)
  target_compile_definitions(${name} PRIVATE LATEBIND_VERSION="${PROJECT_VERSION}"
    LATEBIND_SOURCE_DIR="${PROJECT_SOURCE_DIR}" LATEBIND_BINARY_DIR="${CMAKE_BINARY_DIR}")
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300 ENVIRONMENT "${ARG_ENVIRONMENT}")
endfunction()
