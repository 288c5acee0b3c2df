# Every third-party library that Latebind is built with, under the same target names on every platform:
#
#   latebind_fmt  latebind_xxhash  latebind_curl_headers  latebind_tomlplusplus  latebind_boost                  headers
#   latebind_utf8proc  latebind_pcre2  latebind_crypto  latebind_simdjson  latebind_tls (not for Windows)      compiled
#   GTest::gtest  GTest::gmock  GTest::gtest_main  nlohmann_json::nlohmann_json                                the tests'
#
# For Linux they are the distribution's packages, or those in the sysroot of the target architecture. For Windows, the
# headers are the distribution's, because they are the same for every platform, and what must be compiled is compiled
# here from the distribution's sources: GoogleTest from its source package, utf8proc, PCRE2 and simdjson from what
# scripts/setup unpacks below build/runtime/sources. Vendors' libraries are not among them, since they are opened at run
# time.
set(THREADS_PREFER_PTHREAD_FLAG OFF)
find_package(Threads REQUIRED)

# The target platforms for which the distribution has no packages.
if(WIN32)
  set(latebind_dependencies_from_source ON)
else()
  set(latebind_dependencies_from_source OFF)
endif()

# header_folder(VARIABLE NAME FILE): makes a folder that contains only a link to the library's headers (NAME, a folder
# or a file). With the distribution's whole include folder, the compiler would find the headers of this machine's C
# library.
function(header_folder variable name file)
  find_path(latebind_${name}_headers ${file} REQUIRED NO_CMAKE_FIND_ROOT_PATH NO_CACHE
    PATHS /usr/include /usr/local/include PATH_SUFFIXES ${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu)
  set(folder ${CMAKE_BINARY_DIR}/dependencies/${name})
  get_filename_component(first ${file} DIRECTORY)
  if(NOT first)
    set(first ${file})
  endif()
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${latebind_${name}_headers}/${first} ${folder}/${first} SYMBOLIC)
  set(${variable} ${folder} PARENT_SCOPE)
endfunction()

# header_library(TARGET NAME FILE): makes an interface target of such a folder.
function(header_library target name file)
  header_folder(folder ${name} ${file})
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${folder})
endfunction()

header_library(latebind_highway hwy hwy/highway.h)
if(latebind_dependencies_from_source)
  header_library(fmt::fmt-header-only fmt fmt/format.h)
  target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
  header_library(latebind_tomlplusplus toml++ toml++/toml.h)
  header_library(latebind_xxhash xxhash xxhash.h)
  header_library(latebind_curl_headers curl curl/curl.h)
  header_library(latebind_boost boost boost/asio.hpp)
else()
  find_package(fmt REQUIRED)
  find_path(LATEBIND_XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
  # Only the headers of libcurl are needed: the library is opened at run time
  # (docs/decisions/0011-libcurl-at-run-time.md).
  find_path(LATEBIND_CURL_INCLUDE_DIR curl/curl.h DOC "Folder with curl/curl.h")
  if(NOT LATEBIND_CURL_INCLUDE_DIR)
    message(FATAL_ERROR "libcurl's headers are missing: run scripts/setup build, or install libcurl4-openssl-dev")
  endif()
  find_path(LATEBIND_BOOST_INCLUDE_DIR boost/asio.hpp REQUIRED)
  mark_as_advanced(LATEBIND_XXHASH_INCLUDE_DIR LATEBIND_BOOST_INCLUDE_DIR)
  add_library(latebind_tomlplusplus INTERFACE IMPORTED GLOBAL)
  foreach(name xxhash curl boost)
    string(TOUPPER ${name} upper)
    set(target latebind_${name})
    if(name STREQUAL "curl")
      set(target latebind_curl_headers)
    endif()
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    # Excludes the compiler's own folders, whose order matters.
    if(NOT LATEBIND_${upper}_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      target_include_directories(${target} SYSTEM INTERFACE ${LATEBIND_${upper}_INCLUDE_DIR})
    endif()
  endforeach()
endif()

# Asio's sockets, which need no compiled part of Boost.
target_compile_definitions(latebind_boost INTERFACE BOOST_ALL_NO_LIB BOOST_ASIO_NO_DEPRECATED)
if(WIN32)
  target_link_libraries(latebind_boost INTERFACE ws2_32 mswsock)
  # For a comparison in Asio that is inlined with a literal.
  target_compile_options(latebind_boost INTERFACE -Wno-string-compare)
endif()
if(LATEBIND_SANITIZE STREQUAL "thread")
  # The thread sanitizer does not support fences. Besides Asio's locks, nothing here relies on them.
  target_compile_definitions(latebind_boost INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()

include(LatebindFmt)

# latebind_linked(TARGET LIBRARY ARCHIVE [TLS]): makes users of TARGET link LIBRARY, or ARCHIVE (a file or a target) if
# they have the property LATEBIND_SELF_CONTAINED, since they must run on distributions without the library. With TLS,
# the archive is not used by targets that are BUT_TLS.
function(latebind_linked target library archive)
  if(NOT TARGET ${archive})
    string(MAKE_C_IDENTIFIER "LATEBIND_${archive}" variable)
    find_library(${variable} ${archive})
    mark_as_advanced(${variable})
    if(NOT ${variable})
      latebind_left_out("packages" "to run on other distributions they need ${archive}, which is missing; type scripts/setup package")
      set_property(GLOBAL PROPERTY LATEBIND_LACKS_ARCHIVES ON)
      target_link_libraries(${target} INTERFACE ${library})
      return()
    endif()
    set(archive ${${variable}})
  endif()
  set(contained $<BOOL:$<TARGET_PROPERTY:LATEBIND_SELF_CONTAINED>>)
  if("TLS" IN_LIST ARGN)
    set(contained $<AND:${contained},$<NOT:$<STREQUAL:$<TARGET_PROPERTY:LATEBIND_SELF_CONTAINED>,BUT_TLS>>>)
  endif()
  target_link_libraries(${target} INTERFACE $<IF:${contained},${archive},${library}>)
endfunction()

# Unicode tables, for the tokenizer.
add_library(latebind_utf8proc INTERFACE)
if(latebind_dependencies_from_source)
  latebind_present(utf8proc ${PROJECT_SOURCE_DIR}/build/runtime/sources/utf8proc-*/utf8proc.c)
  if(NOT utf8proc)
    message(FATAL_ERROR "utf8proc's sources are missing below build/runtime/sources: run scripts/setup platforms")
  endif()
  list(GET utf8proc 0 utf8proc)
  get_filename_component(utf8proc_folder ${utf8proc} DIRECTORY)
  set(latebind_utf8proc_licence ${utf8proc_folder}/LICENSE.md)
  add_library(latebind_utf8proc_static STATIC ${utf8proc})
  target_include_directories(latebind_utf8proc_static SYSTEM PUBLIC ${utf8proc_folder})
  target_compile_definitions(latebind_utf8proc_static PUBLIC UTF8PROC_STATIC)
  # Warnings in third-party code are ignored.
  target_compile_options(latebind_utf8proc_static PRIVATE -w)
  target_link_libraries(latebind_utf8proc INTERFACE latebind_utf8proc_static)
else()
  latebind_linked(latebind_utf8proc utf8proc libutf8proc.a)
endif()

# Regular expressions over bytes, for the tokenizer. Always an archive, so that users need not install the library.
add_library(latebind_pcre2 INTERFACE)
if(latebind_dependencies_from_source)
  include(LatebindPcre2)
  target_link_libraries(latebind_pcre2 INTERFACE latebind_pcre2_static)
else()
  find_path(LATEBIND_PCRE2_INCLUDE_DIR pcre2.h REQUIRED)
  find_library(LATEBIND_PCRE2_ARCHIVE libpcre2-8.a)
  mark_as_advanced(LATEBIND_PCRE2_INCLUDE_DIR LATEBIND_PCRE2_ARCHIVE)
  if(NOT LATEBIND_PCRE2_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    target_include_directories(latebind_pcre2 SYSTEM INTERFACE ${LATEBIND_PCRE2_INCLUDE_DIR})
  endif()
  if(LATEBIND_PCRE2_ARCHIVE)
    target_link_libraries(latebind_pcre2 INTERFACE ${LATEBIND_PCRE2_ARCHIVE})
  else()
    latebind_linked(latebind_pcre2 pcre2-8 libpcre2-8.a)
  endif()
endif()

# JSON. The distribution has no archive of the library.
add_library(latebind_simdjson INTERFACE)
latebind_present(simdjson ${PROJECT_SOURCE_DIR}/build/runtime/sources/simdjson-*/singleheader/simdjson.cpp)
if(simdjson)
  list(GET simdjson 0 simdjson)
  get_filename_component(simdjson_folder ${simdjson} DIRECTORY)
  add_library(latebind_simdjson_static STATIC EXCLUDE_FROM_ALL ${simdjson})
  target_include_directories(latebind_simdjson_static SYSTEM PUBLIC ${simdjson_folder})
  target_compile_options(latebind_simdjson_static PRIVATE -w)
elseif(latebind_dependencies_from_source)
  message(FATAL_ERROR "simdjson's sources are missing below build/runtime/sources: run scripts/setup platforms")
endif()
if(latebind_dependencies_from_source)
  target_link_libraries(latebind_simdjson INTERFACE latebind_simdjson_static)
else()
  find_path(LATEBIND_SIMDJSON_INCLUDE_DIR simdjson.h REQUIRED)
  find_library(LATEBIND_SIMDJSON_LIBRARY simdjson REQUIRED)
  mark_as_advanced(LATEBIND_SIMDJSON_INCLUDE_DIR LATEBIND_SIMDJSON_LIBRARY)
  # See above.
  if(NOT LATEBIND_SIMDJSON_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    target_include_directories(latebind_simdjson SYSTEM INTERFACE ${LATEBIND_SIMDJSON_INCLUDE_DIR})
  endif()
  latebind_linked(latebind_simdjson ${LATEBIND_SIMDJSON_LIBRARY} latebind_simdjson_static)
endif()

# Digests: the system's on Windows. TLS: unavailable on Windows.
add_library(latebind_crypto INTERFACE)
if(WIN32)
  target_link_libraries(latebind_crypto INTERFACE bcrypt)
else()
  find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)
  latebind_linked(latebind_crypto OpenSSL::Crypto libcrypto.a TLS)
  add_library(latebind_tls INTERFACE)
  latebind_linked(latebind_tls OpenSSL::SSL libssl.a TLS)
  target_link_libraries(latebind_tls INTERFACE latebind_crypto)
endif()

if(LATEBIND_BUILD_TESTS)
  # The other reader of JSON, with which tests compare that of core/json.
  if(latebind_dependencies_from_source)
    header_library(nlohmann_json::nlohmann_json nlohmann nlohmann/json.hpp)
    find_path(latebind_googletest googletest/CMakeLists.txt REQUIRED NO_CMAKE_FIND_ROOT_PATH PATHS /usr/src
      PATH_SUFFIXES googletest DOC "Sources of GoogleTest: the distribution's package googletest")
    mark_as_advanced(latebind_googletest)
    foreach(name gtest gmock)
      string(REPLACE gtest googletest folder ${name})
      string(REPLACE gmock googlemock folder ${folder})
      add_library(latebind_${name} STATIC ${latebind_googletest}/${folder}/src/${name}-all.cc)
      target_include_directories(latebind_${name} SYSTEM PUBLIC ${latebind_googletest}/${folder}/include)
      target_include_directories(latebind_${name} PRIVATE ${latebind_googletest}/${folder})
      target_compile_options(latebind_${name} PRIVATE -w)
      target_link_libraries(latebind_${name} PUBLIC Threads::Threads)
      add_library(GTest::${name} ALIAS latebind_${name})
    endforeach()
    target_link_libraries(latebind_gmock PUBLIC latebind_gtest)
    add_library(latebind_gtest_main STATIC ${latebind_googletest}/googletest/src/gtest_main.cc)
    target_compile_options(latebind_gtest_main PRIVATE -w)
    target_link_libraries(latebind_gtest_main PUBLIC latebind_gtest)
    add_library(GTest::gtest_main ALIAS latebind_gtest_main)
  else()
    find_package(nlohmann_json REQUIRED)
    find_package(GTest REQUIRED)
  endif()
elseif(LATEBIND_BUILD_FUZZERS)
  # A fuzz target compares the two readers.
  find_package(nlohmann_json REQUIRED)
endif()
