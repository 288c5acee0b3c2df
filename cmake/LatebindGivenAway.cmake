# What is given away: programs and libraries that are linked once more, of what a build has compiled, with the distribution's
# libraries inside, so that they run on other distributions too. Where archives are missing, they are for this machine alone.

# latebind_given_away(TARGET NAME [BUT_TLS])
# TARGET, a program or a library, is built as NAME and only when something asks for it. BUT_TLS: for Debian and its kin, which
# mend OpenSSL and the C++ library themselves.
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
  # Neither the C++ library nor OpenSSL is to be seen by others in the process, who may have another release of it.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL $<$<CONFIG:Release>:-s>)
  # The compiler's own library stays out: every distribution has it, and its archive asks for the newest C library.
  if(NOT self_contained STREQUAL "BUT_TLS")
    target_link_options(${target} PRIVATE -static-libstdc++)
  endif()
endfunction()
