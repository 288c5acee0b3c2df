# Part of `cmake --install` and of CPack: writes the units of `units_source` to `units_folder`, with `units_program` and
# `units_documents`, which are relative, below the prefix that they are installed to. (A variable with the name of a component
# would be taken for it where the components are told apart.)
set(prefix "${CMAKE_INSTALL_PREFIX}")
# CPack installs to a folder of its own, and what follows in it is the package's prefix.
if(prefix MATCHES "/_CPack_Packages/[^/]+/[^/]+/[^/]+(.*)$")
  set(prefix "${CMAKE_MATCH_1}")
endif()
foreach(unit latebind.service latebind.socket)
  file(READ "${units_source}/${unit}" text)
  if(prefix STREQUAL "")
    # An archive is unpacked anywhere: systemd looks for a name in /usr/local/bin and /usr/bin.
    string(REPLACE "=/usr/bin/latebind " "=latebind " text "${text}")
    string(REGEX REPLACE "Documentation=[^\n]*\n" "" text "${text}")
  else()
    string(REPLACE "=/usr/bin/latebind " "=${prefix}/${units_program} " text "${text}")
    string(REPLACE "file:///usr/share/doc/latebind/" "file://${prefix}/${units_documents}/" text "${text}")
  endif()
  file(WRITE "${units_folder}/${unit}" "${text}")
endforeach()
