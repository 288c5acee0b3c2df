# Part of `cmake --install` and CPack: writes the units of `units_source` to `units_folder`, with the paths
# `units_program` and `units_documents`, which are relative to the installation prefix. (Variables must not have a
# component's name, because packaging by component would confuse them.)
set(prefix "${CMAKE_INSTALL_PREFIX}")
# CPack installs to a temporary folder, whose content begins with the package's prefix.
if(prefix MATCHES "/_CPack_Packages/[^/]+/[^/]+/[^/]+(.*)$")
  set(prefix "${CMAKE_MATCH_1}")
endif()
foreach(unit latebind.service latebind.socket)
  file(READ "${units_source}/${unit}" text)
  if(prefix STREQUAL "")
    # An archive can be unpacked anywhere; systemd searches /usr/local/bin and /usr/bin for a name.
    string(REPLACE "=/usr/bin/latebind " "=latebind " text "${text}")
    string(REGEX REPLACE "Documentation=[^\n]*\n" "" text "${text}")
  else()
    string(REPLACE "=/usr/bin/latebind " "=${prefix}/${units_program} " text "${text}")
    string(REPLACE "file:///usr/share/doc/latebind/" "file://${prefix}/${units_documents}/" text "${text}")
  endif()
  file(WRITE "${units_folder}/${unit}" "${text}")
endforeach()
