# Release binaries: programs and libraries linked once more from the compiled code of a build, with the distribution's
# libraries inside, so that they run on other distributions, too. If archives are missing, they only run on this
# machine.
#
# latebind_given_away(TARGET NAME [BUT_TLS])
# Builds TARGET, a program or a library, as NAME, only on demand. BUT_TLS is for Debian and its derivatives, which
# update OpenSSL and the C++ library themselves.
function(latebind_given_away target name)
  get_property(lacks_archives GLOBAL PROPERTY LATEBIND_LACKS_ARCHIVES)
  if(lacks_archives)
    set(self_contained OFF)
  elseif("BUT_TLS" IN_LIST ARGN)
    set(self_contained BUT_TLS)
  else()
    set(self_contained ON)
  endif()
  set_target_properties(${target} PROPERTIES LATEBIND_SELF_CONTAINED ${self_contained} EXCLUDE_FROM_ALL ON
    OUTPUT_NAME ${name} SKIP_BUILD_RPATH ON INSTALL_RPATH "")
  if(WIN32)
    return()
  endif()
  # Hides the C++ library and OpenSSL from the rest of the process, which may have other versions.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL $<$<CONFIG:Release>:-s>)
  # Excludes the compiler's library: every distribution has it, and its archive needs the newest C library.
  if(NOT self_contained STREQUAL "BUT_TLS")
    target_link_options(${target} PRIVATE -static-libstdc++)
  endif()
endfunction()
