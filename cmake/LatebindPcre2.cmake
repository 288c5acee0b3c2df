# Builds PCRE2's library for bytes from the distribution's sources, for platforms without a package, following PCRE2's
# instructions for building without autotools (NON-AUTOTOOLS-BUILD). Without Unicode, which Latebind provides.
latebind_present(pcre2 ${PROJECT_SOURCE_DIR}/build/runtime/sources/pcre2-*/src/pcre2_match.c)
if(NOT pcre2)
  message(FATAL_ERROR "PCRE2's sources are missing below build/runtime/sources: run scripts/setup platforms")
endif()
list(GET pcre2 0 pcre2)
get_filename_component(pcre2_source ${pcre2} DIRECTORY)
get_filename_component(pcre2_folder ${pcre2_source} DIRECTORY)
set(latebind_pcre2_licence ${pcre2_folder}/LICENCE)
set(pcre2_made ${CMAKE_BINARY_DIR}/dependencies/pcre2)
configure_file(${pcre2_source}/pcre2.h.generic ${pcre2_made}/pcre2.h COPYONLY)
configure_file(${pcre2_source}/config.h.generic ${pcre2_made}/config.h COPYONLY)
configure_file(${pcre2_source}/pcre2_chartables.c.dist ${pcre2_made}/pcre2_chartables.c COPYONLY)
set(sources ${pcre2_made}/pcre2_chartables.c)
foreach(part auto_possess compile config context error extuni find_bracket jit_compile maketables match match_data newline ord2utf
    pattern_info script_run string_utils study tables ucd valid_utf xclass)
  list(APPEND sources ${pcre2_source}/pcre2_${part}.c)
endforeach()
add_library(latebind_pcre2_static STATIC ${sources})
target_include_directories(latebind_pcre2_static SYSTEM PUBLIC ${pcre2_made})
target_include_directories(latebind_pcre2_static PRIVATE ${pcre2_source})
target_compile_definitions(latebind_pcre2_static PUBLIC PCRE2_STATIC
  PRIVATE HAVE_CONFIG_H HAVE_INTTYPES_H HAVE_LIMITS_H HAVE_MEMMOVE HAVE_STDINT_H HAVE_STDLIB_H HAVE_STRING_H
    PCRE2_CODE_UNIT_WIDTH=8 SUPPORT_PCRE2_8 SUPPORT_JIT)
# Warnings in third-party code are ignored.
target_compile_options(latebind_pcre2_static PRIVATE -w)
set_target_properties(latebind_pcre2_static PROPERTIES UNITY_BUILD OFF)
