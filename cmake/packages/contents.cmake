# CPack reads this before it makes a package, to determine its files. The self-contained binaries, or those linked for
# Debian, replace the ones that `cmake --install` installs.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(linked debian)
elseif(CPACK_GENERATOR STREQUAL "TGZ")
  set(linked portable)
else()
  set(linked linked)
endif()
set(CPACK_INSTALL_CMAKE_PROJECTS "")
foreach(component ${linked} program development documents)
  list(APPEND CPACK_INSTALL_CMAKE_PROJECTS "${CPACK_LATEBIND_BUILD}" latebind ${component} /)
endforeach()
