# One static library and one test program per layer.
#
# Tests that receive paths at build time prefix them with ${LATEBIND_EMULATED_ROOT}, the name by which an emulated
# program reaches this machine's root. Empty in native builds.
if(WIN32)
  set(latebind_system windows)
  set(latebind_other_system posix)
else()
  set(latebind_system posix)
  set(latebind_other_system windows)
endif()

# How a file is compiled in a release. Hot code runs for every text or run. The other code runs once per run or batch, or
# waits for a vendor, a disk or a person, so that build time and size matter more than speed: it is cold. Where most of
# its time is that of a start, it is compiled with -O1, because -Os would make the first vector wait longer.
set(latebind_kinds HOT START COLD)
set(latebind_options_HOT "")
set(latebind_options_START $<$<CONFIG:Release>:-O1>)
set(latebind_options_COLD $<$<CONFIG:Release>:-Os>)

# The headers that most files include, compiled once per kind. Not with ccache, which cannot store what is compiled with
# them.
if(LATEBIND_PRECOMPILED_HEADERS AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  foreach(kind IN LISTS latebind_kinds)
    add_library(lb_headers_${kind} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
    target_precompile_headers(lb_headers_${kind} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
    target_include_directories(lb_headers_${kind} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(lb_headers_${kind} PRIVATE latebind_fmt)
    target_compile_options(lb_headers_${kind} PRIVATE ${latebind_options_${kind}})
  endforeach()
endif()

# latebind_compiled_as(TARGET KIND): sets the options of a kind, and the batches. Files that set other options need the
# property SKIP_PRECOMPILE_HEADERS.
# Unity batches are larger than those of tests, since the files include and instantiate the same code. They are smaller
# for hot code, because gcc inlines less in large batches.
function(latebind_compiled_as target kind)
  target_compile_options(${target} PRIVATE ${latebind_options_${kind}})
  if(kind STREQUAL "HOT")
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 24)
  else()
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 36)
  endif()
  if(TARGET lb_headers_${kind})
    target_precompile_headers(${target} REUSE_FROM lb_headers_${kind})
  endif()
endfunction()

# latebind_layer(NAME SOURCES … [COLD_SOURCES …] [USES layer …] [PRIVATE target …] [COLD] [AT_START])
# USES names the lower layers that its headers may include. COLD marks a layer that is cold as a whole; COLD_SOURCES are
# the cold files of another one. AT_START makes them of the kind START.
function(latebind_layer name)
  cmake_parse_arguments(ARG "COLD;AT_START" "" "SOURCES;COLD_SOURCES;USES;PRIVATE" ${ARGN})
  set(cold COLD)
  if(ARG_AT_START)
    set(cold START)
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  set(targets ${name})
  if(ARG_COLD_SOURCES)
    list(APPEND targets ${name}_cold)
    add_library(${name}_cold OBJECT ${ARG_COLD_SOURCES})
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}_cold>)
  endif()
  foreach(target IN LISTS targets)
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${target} PUBLIC ${ARG_USES} PRIVATE latebind_fmt Threads::Threads ${ARG_PRIVATE})
    target_compile_definitions(${target} PRIVATE LATEBIND_VERSION="${PROJECT_VERSION}")
    if(ARG_COLD OR target STREQUAL "${name}_cold")
      latebind_compiled_as(${target} ${cold})
    else()
      latebind_compiled_as(${target} HOT)
    endif()
  endforeach()
endfunction()

# The tests that another platform leaves out.
set(latebind_left_out "")
if(WIN32)
  set(latebind_left_out_list ${PROJECT_SOURCE_DIR}/tests/platforms/not_on_windows.txt)
elseif(CMAKE_CROSSCOMPILING)
  set(latebind_left_out_list ${PROJECT_SOURCE_DIR}/tests/platforms/aarch64/not_emulated.txt)
endif()
if(latebind_left_out_list)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${latebind_left_out_list})
  file(STRINGS ${latebind_left_out_list} latebind_left_out REGEX "^[^# ]")
  list(TRANSFORM latebind_left_out REPLACE " .*" "")
endif()

# Adds what a program needs besides its code: on Windows, its manifest.
function(latebind_program_of name)
  if(WIN32)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/windows/program.rc)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/windows)
  endif()
endfunction()

# latebind_cost(TEST): sets a test's duration in seconds, so that ctest starts the longest first even in a new build
# folder, which has no record of earlier runs. For tests above 15 s on two processors.
set(latebind_costs
  gpu.webgpu=80 python.bulk.ray=70 python.bulk.files=58 onnxruntime.provider=54 cli.bench=50 lb_conformance_tests=100
  onnxruntime.conformance_models=47 python.bulk.spark=42 onnxruntime.targets=40 python.wheel=40 python.calls=40
  server.schema=36 lb_onnxruntime_real_tests=33 onnxruntime.soak=33 python.embed=32 python.garbage=29
  lb_embedding_real_tests=26 server.page=25 tokenizer_oracle_lines=22 tokenizer_oracle_characters=20
  python.integrations.types=22 cli.pull=22 cli.embed=21 cli.pte=18 executorch.example=17 cli.verify=16 cli.compile=16
  tokenizer_oracle_parts=15 tokenizer_oracle_unigram=35 server.http=15 server.clients=15 lb_openvino_tests=30 lb_openvino_real_tests=17
  lb_native_tests=17)
function(latebind_cost test)
  foreach(each IN LISTS latebind_costs)
    if(each MATCHES "^(.*)=([0-9]+)$" AND CMAKE_MATCH_1 STREQUAL test)
      set_tests_properties(${test} PROPERTIES COST ${CMAKE_MATCH_2})
    endif()
  endforeach()
endfunction()

# The code of the tests takes half of the build time, most of which -O3 would waste.
set(latebind_test_options $<$<CONFIG:Release>:-Og>)

# latebind_test(NAME LINK target … [SOURCES …] [LABELS …] [ENVIRONMENT …] [ONE_THREAD] [COMPUTES] [EACH_ALONE]
#               [SANITIZED] [ALONE FILTER …])
# Builds every *_test.cpp of the calling folder, and of its subfolders without a CMakeLists.txt, into one GoogleTest
# program, and adds each of its tests to ctest.
# *_posix_test.cpp and *_windows_test.cpp are only built for these systems. Emulated programs, and those labelled real,
# which load the vendors' libraries, are a single test of ctest, because starting them is slow.
#
#   EACH_ALONE  runs each of these tests in a separate process nevertheless
#   ALONE       likewise for the tests that match FILTER: those that fork, in whose children qemu aborts if the process
#               has had threads; they are in *_posix_test.cpp
#   SANITIZED   builds a program labelled real with sanitizers, too; by default it is left out, since the vendors'
#               libraries have no sanitizer builds
#   ONE_THREAD  leaves the program out of the thread sanitizer's build, since no test has a second thread
#   COMPUTES    leaves the program out of the stage windows_system, since it only computes or reads and writes memory,
#               and asks the system for nothing that another layer's tests do not; the target system_tests builds all
#               others
function(latebind_test name)
  cmake_parse_arguments(ARG "ONE_THREAD;COMPUTES;EACH_ALONE;SANITIZED" "" "LINK;SOURCES;LABELS;ENVIRONMENT;ALONE" ${ARGN})
  if(LATEBIND_SANITIZE AND "real" IN_LIST ARG_LABELS)
    if(NOT ARG_SANITIZED)
      return()
    endif()
    list(REMOVE_ITEM ARG_LABELS real)
  endif()
  if(LATEBIND_REAL_SUITES AND "real" IN_LIST ARG_LABELS AND NOT name IN_LIST LATEBIND_REAL_SUITES)
    return()
  endif()
  if(LATEBIND_SANITIZE STREQUAL "thread" AND ARG_ONE_THREAD)
    return()
  endif()
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  file(GLOB in_rooms CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/*_test.cpp)
  foreach(test IN LISTS in_rooms)
    get_filename_component(room ${test} DIRECTORY)
    if(NOT EXISTS ${room}/CMakeLists.txt)
      list(APPEND tests ${test})
    endif()
  endforeach()
  list(FILTER tests EXCLUDE REGEX "_${latebind_other_system}_test\\.cpp$")
  if(NOT tests AND NOT ARG_SOURCES)
    message(FATAL_ERROR "${name}: there is no *_test.cpp in ${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
  add_executable(${name} ${tests} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} latebind_fmt nlohmann_json::nlohmann_json GTest::gmock GTest::gtest
    GTest::gtest_main Threads::Threads)
  target_compile_definitions(${name} PRIVATE LATEBIND_VERSION="${PROJECT_VERSION}"
    LATEBIND_SOURCE_DIR="${LATEBIND_EMULATED_ROOT}${PROJECT_SOURCE_DIR}"
    LATEBIND_BINARY_DIR="${LATEBIND_EMULATED_ROOT}${CMAKE_BINARY_DIR}")
  target_compile_options(${name} PRIVATE ${latebind_test_options})
  # With a C source, CMake would also precompile the headers for C.
  if(TARGET lb_test_headers AND NOT ARG_SOURCES MATCHES "\\.c(;|$)")
    target_precompile_headers(${name} REUSE_FROM lb_test_headers)
  endif()
  latebind_program_of(${name})
  if(ARG_COMPUTES)
    list(APPEND ARG_LABELS computes)
  else()
    add_dependencies(system_tests ${name})
  endif()
  include(GoogleTest)
  # An empty value would vanish from the list and shift the following ones.
  set(properties TIMEOUT 300)
  if(ARG_LABELS)
    # One value that consists of several words.
    string(REPLACE ";" "\\;" labels "${ARG_LABELS}")
    list(APPEND properties LABELS "${labels}")
  endif()
  if(ARG_ENVIRONMENT)
    list(APPEND properties ENVIRONMENT "${ARG_ENVIRONMENT}")
  endif()
  # Loading a vendor's library takes a second, and emulators start slowly: once per program rather than once per test.
  if(("real" IN_LIST ARG_LABELS OR CMAKE_CROSSCOMPILING) AND NOT ARG_EACH_ALONE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties} TIMEOUT 900)
    latebind_cost(${name})
    set(elsewhere ${latebind_left_out})
    if(ARG_ALONE AND NOT WIN32)
      list(JOIN ARG_ALONE ":" alone)
      gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_FILTER "${alone}"
        PROPERTIES ${properties})
      list(APPEND elsewhere ${ARG_ALONE})
    endif()
    if(elsewhere)
      list(JOIN elsewhere ":" filter)
      set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=-${filter}")
    endif()
    return()
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()

# latebind_pytest(NAME SCRIPT LABELS … TIMEOUT SECONDS [PYTHON FOLDER] [ENVIRONMENT NAME=VALUE …])
# Adds a test of ctest that runs SCRIPT with pytest, using the Python of scripts/setup in build/runtime/FOLDER (by
# default the oracle's). It receives the paths of the sources and of the build.
function(latebind_pytest name script)
  cmake_parse_arguments(ARG "" "PYTHON;TIMEOUT" "LABELS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_PYTHON)
    set(ARG_PYTHON oracle)
  endif()
  add_test(NAME ${name}
    COMMAND ${CMAKE_COMMAND} -D PYTHON=${PROJECT_SOURCE_DIR}/build/runtime/${ARG_PYTHON}/bin/python
      -D SCRIPT=${CMAKE_CURRENT_SOURCE_DIR}/${script} -P ${PROJECT_SOURCE_DIR}/cmake/run_pytest.cmake)
  set(environment "LATEBIND_TEST_SOURCE_DIR=${PROJECT_SOURCE_DIR}" "LATEBIND_TEST_BINARY_DIR=${CMAKE_BINARY_DIR}"
    "PYTHONDONTWRITEBYTECODE=1" ${ARG_ENVIRONMENT})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "${environment}")
  latebind_cost(${name})
endfunction()
