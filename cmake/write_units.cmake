# Part of `cmake --install` and of CPack: writes the units of `source` to `units`, with `program` and `documents`, which are
# relative, below the prefix that they are installed to.
set(prefix "${CMAKE_INSTALL_PREFIX}")
# CPack installs to a folder of its own, and what follows in it is the package's prefix.
if(prefix MATCHES "/_CPack_Packages/[^/]+/[^/]+/[^/]+(.*)$")
  set(prefix "${CMAKE_MATCH_1}")
endif()
foreach(unit latebind.service latebind.socket)
  file(READ "${source}/${unit}" text)
  if(prefix STREQUAL "")
    # An archive is unpacked anywhere: systemd looks for a name in /usr/local/bin and /usr/bin.
    string(REPLACE "=/usr/bin/latebind " "=latebind " text "${text}")
    string(REGEX REPLACE "Documentation=[^\n]*\n" "" text "${text}")
  else()
    string(REPLACE "=/usr/bin/latebind " "=${prefix}/${program} " text "${text}")
    string(REPLACE "file:///usr/share/doc/latebind/" "file://${prefix}/${documents}/" text "${text}")
  endif()
  file(WRITE "${units}/${unit}" "${text}")
endforeach()
