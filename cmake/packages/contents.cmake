# CPack reads this before it makes a package: which files are in it. Those of another distribution, and those that Debian's
# libraries are linked to, take the place of what `cmake --install` has.
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
