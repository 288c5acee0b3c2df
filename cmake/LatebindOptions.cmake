# Compiler settings for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# The same commands from every entry point, so that no build repeats another's work.
find_program(LATEBIND_CCACHE ccache)
mark_as_advanced(LATEBIND_CCACHE)
foreach(language C CXX)
  if(LATEBIND_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER ccache)
  endif()
endforeach()

add_compile_options(-Wall -Wextra -Wconversion -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 mistakes `"text" + std::string` for overlapping memory (bug 105651).
  add_compile_options(-Wno-restrict)
endif()
if(LATEBIND_WARNINGS_AS_ERRORS)
  add_compile_options(-Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Warnings of gcc's flow analysis depend on what it inlines, and a few are wrong on some machines only. They are
    # shown, but they do not end a build.
    foreach(warning array-bounds dangling-pointer free-nonheap-object maybe-uninitialized stringop-overflow
        stringop-overread use-after-free)
      add_compile_options(-Wno-error=${warning})
    endforeach()
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_UNITY_BUILD)
  # In KiB: how far gcc's memory grows before it collects garbage. The default begins at 256 MB and doubles, which takes
  # a tenth of the time of a unity batch and saves a quarter of its 1 GB. Not for single files: clang-tidy reads their
  # commands and rejects the option.
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()
# Separate sections for every object, so that the linker drops what a program does not use.
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections -Wl,--as-needed)

if(WIN32)
  enable_language(RC)
endif()

if(LATEBIND_SANITIZE)
  add_compile_options(-fsanitize=${LATEBIND_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LATEBIND_SANITIZE})
  # With sanitizers, gcc's flow analysis warns about the standard library (GCC manual, -fsanitize).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
