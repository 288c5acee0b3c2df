# latebind_fmt: fmt without the distribution's library. If this version of fmt allows it, its functions are compiled
# once (fmt_library.cpp), otherwise in every file that uses them.
get_target_property(latebind_fmt_folder fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
if(NOT latebind_fmt_folder)
  set(latebind_fmt_folder "")
endif()
try_compile(LATEBIND_FMT_ONCE
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/fmt_probe.cpp ${CMAKE_CURRENT_LIST_DIR}/fmt_library.cpp
  CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${latebind_fmt_folder}"
  CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
if(LATEBIND_FMT_ONCE)
  add_library(latebind_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_library.cpp)
  target_include_directories(latebind_fmt SYSTEM PUBLIC ${latebind_fmt_folder})
  # For core/text/format_to.h.
  target_compile_definitions(latebind_fmt PUBLIC LATEBIND_FMT_ONCE)
else()
  add_library(latebind_fmt INTERFACE)
  target_link_libraries(latebind_fmt INTERFACE fmt::fmt-header-only)
endif()
