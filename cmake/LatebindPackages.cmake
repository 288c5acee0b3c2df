# What users install besides programs and libraries, and the archives that CPack makes: `cpack` in a build folder, or
# scripts/package. The components are linked (the program and the library), program (its other files), development
# (headers, CMake package) and documents; in packages, portable and debian replace linked.
set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/latebind)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${documents} COMPONENT documents)
install(DIRECTORY docs/ DESTINATION ${documents}/docs COMPONENT documents FILES_MATCHING PATTERN "*.md")
# A sample project, installed unchanged.
install(FILES examples/CMakeLists.txt examples/embed.c examples/job.c examples/nearest.cpp examples/stream.c
  examples/tokens.c examples/sentences.txt DESTINATION ${documents}/examples COMPONENT documents)
install(DIRECTORY examples/backend-plugin examples/backend-plugin-rust DESTINATION ${documents}/examples COMPONENT documents)
install(FILES examples/executorch/embed.cpp examples/executorch/CMakeLists.txt DESTINATION ${documents}/examples/executorch
  COMPONENT documents)
if(NOT WIN32)
  # `latebind serve` as a service: the systemd units, which are not enabled, and samples for other systems. They contain
  # the program's path, which is only known at installation.
  install(CODE "
    set(units_source \"${PROJECT_SOURCE_DIR}/deploy/systemd\")
    set(units_folder \"${CMAKE_BINARY_DIR}/systemd\")
    set(units_program \"${CMAKE_INSTALL_BINDIR}/latebind\")
    set(units_documents \"${documents}\")
    include(\"${PROJECT_SOURCE_DIR}/cmake/write_units.cmake\")" COMPONENT program)
  install(FILES ${CMAKE_BINARY_DIR}/systemd/latebind.service ${CMAKE_BINARY_DIR}/systemd/latebind.socket
    DESTINATION lib/systemd/system COMPONENT program)
  install(DIRECTORY deploy/ DESTINATION ${documents}/deploy COMPONENT documents
    PATTERN "latebind.service" EXCLUDE PATTERN "latebind.socket" EXCLUDE)
  # Where Debian expects a licence.
  install(FILES LICENSE DESTINATION ${documents} RENAME copyright COMPONENT documents)
endif()

# Self-contained binaries for packages. `cmake --install` installs those linked to this distribution's libraries.
add_custom_target(packed_files)
add_dependencies(packed_files latebind)
if(WIN32)
  add_dependencies(packed_files latebind_program)
elseif(NOT LATEBIND_SANITIZE)
  add_dependencies(packed_files latebind_pages)
  foreach(kind portable debian)
    set(but_tls "")
    if(kind STREQUAL "debian")
      set(but_tls BUT_TLS)
    endif()
    add_library(latebind_${kind}_library SHARED $<TARGET_OBJECTS:lb_c_interface>)
    target_link_libraries(latebind_${kind}_library PRIVATE lb_app_jobs lb_app lb_embedding lb_core latebind_fmt)
    # Hides the functions of the linked C++ library, because the host may have another one.
    target_link_options(latebind_${kind}_library PRIVATE -Wl,-z,nodelete
      -Wl,--version-script,${PROJECT_SOURCE_DIR}/python/exports.map)
    set_target_properties(latebind_${kind}_library PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${latebind_soversion})
    add_executable(latebind_${kind}_program $<TARGET_OBJECTS:lb_main>)
    target_link_libraries(latebind_${kind}_program PRIVATE lb_cli)
    foreach(part library program)
      set(target latebind_${kind}_${part})
      latebind_given_away(${target} latebind ${but_tls})
      set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/packed/${kind}
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/packed/${kind})
      install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${kind} EXCLUDE_FROM_ALL
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${kind} NAMELINK_SKIP EXCLUDE_FROM_ALL)
      add_dependencies(packed_files ${target})
    endforeach()
  endforeach()
endif()

# The licences of linked libraries require their texts to be distributed; they are taken from the distribution's
# packages. Boost's does not require it for compiled code.
set(packages libfmt-dev libhwy-dev libsimdjson-dev libtomlplusplus-dev libxxhash-dev)
if(WIN32)
  # Also what every program for Windows contains of its compiler.
  list(APPEND packages mingw-w64-x86-64-dev gcc-mingw-w64-base)
else()
  list(APPEND packages libpcre2-dev libssl-dev libutf8proc-dev)
endif()
# Not the list itself, because a build folder would cache it.
set(LATEBIND_NOTICES_OF "" CACHE STRING "Packages of the distribution whose code is compiled in, instead of Debian's")
mark_as_advanced(LATEBIND_NOTICES_OF)
set(compiled_in ${packages})
if(LATEBIND_NOTICES_OF)
  set(compiled_in ${LATEBIND_NOTICES_OF})
endif()
if(LATEBIND_HAS_PTE)
  list(APPEND compiled_in libflatbuffers-dev)
endif()

# latebind_notices(FILE PACKAGE…): collects the licences of these packages in one file.
function(latebind_notices file)
  set(notices "Latebind contains code of these libraries.\n")
  set(licences "")
  foreach(package IN LISTS ARGN)
    set(licence /usr/share/doc/${package}/copyright)
    # In cross builds, header-only libraries are this machine's packages.
    if(EXISTS ${CMAKE_SYSROOT}${licence})
      set(licence ${CMAKE_SYSROOT}${licence})
    endif()
    list(APPEND licences ${licence})
  endforeach()
  list(APPEND licences ${latebind_utf8proc_licence} ${latebind_pcre2_licence})
  foreach(licence IN LISTS licences)
    if(EXISTS ${licence})
      file(READ ${licence} text)
      get_filename_component(package ${licence} DIRECTORY)
      get_filename_component(package ${package} NAME)
      string(APPEND notices "\n\n======== ${package} ========\n\n${text}")
    else()
      latebind_left_out("packages" "the licence ${licence} of what is compiled in is missing")
    endif()
  endforeach()
  file(WRITE ${file} "${notices}")
endfunction()

latebind_notices(${CMAKE_BINARY_DIR}/NOTICES ${compiled_in})
install(FILES ${CMAKE_BINARY_DIR}/NOTICES DESTINATION ${documents} COMPONENT documents)

string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  set(architecture aarch64)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(architecture x86_64)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
else()
  set(architecture ${CMAKE_SYSTEM_PROCESSOR})
endif()

set(CPACK_PACKAGE_NAME latebind)
set(CPACK_PACKAGE_VENDOR "Latebind")
set(CPACK_PACKAGE_CONTACT "Latebind maintainers <maintainers@latebind.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Text embeddings and models on accelerators that are bound at run time")
set(CPACK_PACKAGE_DESCRIPTION "Turns text into vectors and runs ONNX and OpenVINO models on the CPUs, GPUs
and NPUs that are there, through OpenVINO or ONNX Runtime. Neither is needed
to install it and neither is contained: they are opened at run time.
.
The program latebind, its shared library with a C and a C++ interface, and examples.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME latebind-${PROJECT_VERSION}-${system}-${architecture})
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
# Uses all processors, because compression dominates.
set(CPACK_THREADS 0)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_LATEBIND_BUILD ${CMAKE_BINARY_DIR})
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/packages/contents.cmake)

if(WIN32)
  set(CPACK_GENERATOR ZIP)
else()
  set(CPACK_GENERATOR TGZ DEB)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/packages/postinst
    ${PROJECT_SOURCE_DIR}/cmake/packages/prerm ${PROJECT_SOURCE_DIR}/cmake/packages/postrm)
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  # libcurl is opened at run time, for downloading models. OpenVINO's package of this name is Intel's.
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libcurl4, ca-certificates")
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openvino, python3-pip")
  if(CMAKE_CROSSCOMPILING)
    # dpkg-shlibdeps queries installed packages, which the other architecture's are not. These are its results for
    # x86_64; a test compares them with what the files need.
    set(CPACK_DEBIAN_PACKAGE_DEPENDS
      "libc6 (>= 2.34), libgcc-s1 (>= 3.0), libssl3 (>= 3.0.0), libstdc++6 (>= 12)")
  else()
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  endif()
endif()
include(CPack)
