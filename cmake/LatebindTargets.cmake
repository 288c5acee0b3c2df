# One static library a layer, and one test program a layer.

# latebind_layer(NAME SOURCES … [USES layer …] [PRIVATE target …])
# USES names the layers below that its headers may include.
function(latebind_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_USES} PRIVATE latebind_fmt Threads::Threads ${ARG_PRIVATE})
  target_compile_definitions(${name} PRIVATE LATEBIND_VERSION="${PROJECT_VERSION}")
endfunction()

# latebind_test(NAME LINK target … [SOURCES …] [LABELS …] [ENVIRONMENT …] [ONE_THREAD])
# Every *_test.cpp of the calling folder in one GoogleTest program, each test of it a test of ctest. Those labelled real
# load the vendors' libraries, which no sanitizer was built for: with sanitizers they are not built. ONE_THREAD: none of
# them has a second thread, so that the thread sanitizer has nothing to find.
function(latebind_test name)
  cmake_parse_arguments(ARG "ONE_THREAD" "" "LINK;SOURCES;LABELS;ENVIRONMENT" ${ARGN})
  if(LATEBIND_SANITIZE AND "real" IN_LIST ARG_LABELS)
    return()
  endif()
  if(LATEBIND_SANITIZE STREQUAL "thread" AND ARG_ONE_THREAD)
    return()
  endif()
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  if(NOT tests AND NOT ARG_SOURCES)
    message(FATAL_ERROR "${name}: there is no *_test.cpp in ${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
  add_executable(${name} ${tests} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} latebind_fmt GTest::gmock GTest::gtest GTest::gtest_main Threads::Threads)
  target_compile_definitions(${name} PRIVATE LATEBIND_VERSION="${PROJECT_VERSION}"
    LATEBIND_SOURCE_DIR="${PROJECT_SOURCE_DIR}" LATEBIND_BINARY_DIR="${CMAKE_BINARY_DIR}")
  include(GoogleTest)
  # An empty value would vanish from the list and shift those after it.
  set(properties TIMEOUT 300)
  if(ARG_LABELS)
    list(APPEND properties LABELS "${ARG_LABELS}")
  endif()
  if(ARG_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT "${ARG_ENVIRONMENT}")
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()
