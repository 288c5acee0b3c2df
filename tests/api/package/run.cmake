# Installs the build to a fresh prefix, then configures, builds and runs a project that uses it.
# For another machine: with its TOOLCHAIN, and run by the words of EMULATOR.
set(prefix ${WORK_DIR}/prefix)
separate_arguments(EMULATOR)
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${prefix})
set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()
if(TOOLCHAIN)
  # Packages for another machine are not looked for on this one: it has to be named.
  set(compilers -DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN} -Dlatebind_DIR=${prefix}/lib/cmake/latebind)
  # Where Windows finds a library is its PATH, not the program. Wine alone reads this.
  set(ENV{WINEPATH} Z:${prefix}/bin)
else()
  set(compilers -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
endif()
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/build -G ${GENERATOR} ${compilers} -DCMAKE_CXX_FLAGS=${flags}
  -DCMAKE_C_FLAGS=${flags} -DWANTED_VERSION=${VERSION})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${EMULATOR} ${WORK_DIR}/build/consumer${SUFFIX})
if(NOT output MATCHES "${VERSION}")
  message(FATAL_ERROR "the program says '${output}', not version ${VERSION}")
endif()
run(${EMULATOR} ${prefix}/bin/latebind${SUFFIX} --version)
if(NOT output MATCHES "${VERSION}")
  message(FATAL_ERROR "latebind --version says '${output}', not ${VERSION}")
endif()
