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

if(EXISTS ${prefix}/lib/systemd)
  file(READ ${prefix}/lib/systemd/system/latebind.service unit)
  if(NOT unit MATCHES "\nExecStart=${prefix}/bin/latebind serve " OR unit MATCHES "/usr/" OR
     NOT EXISTS ${prefix}/share/doc/latebind/deploy/README.md)
    message(FATAL_ERROR "the unit is for another prefix than ${prefix}:\n${unit}")
  endif()
endif()

# run_and_expect(PATTERN COMMAND…): it succeeds, and says so.
function(run_and_expect pattern)
  run(${ARGN})
  if(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "${ARGN}\nsays '${output}', not ${pattern}")
  endif()
endfunction()

set(options -G ${GENERATOR} ${compilers} -DCMAKE_CXX_FLAGS=${flags} -DCMAKE_C_FLAGS=${flags})

# With CMake: a project of C and C++, one of C alone, and the examples that were installed.
foreach(languages "C CXX" C)
  string(REPLACE " " "-" name "${languages}")
  run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/${name} ${options} -DWANTED_VERSION=${VERSION}
    "-DWANTED_LANGUAGES=${languages}")
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/${name})
  run_and_expect(${VERSION} ${EMULATOR} ${WORK_DIR}/${name}/consumer${SUFFIX})
endforeach()
run(${CMAKE_COMMAND} -S ${prefix}/share/doc/latebind/examples -B ${WORK_DIR}/examples ${options})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/examples)
run_and_expect("compile {model" ${EMULATOR} ${WORK_DIR}/examples/job_c${SUFFIX})
run_and_expect(${VERSION} ${EMULATOR} ${prefix}/bin/latebind${SUFFIX} --version)

# A compiler that is told an older standard says what to do, and nothing else.
execute_process(COMMAND ${CXX_COMPILER} -std=c++17 -fsyntax-only -I${prefix}/include ${SOURCE_DIR}/old.cpp
  RESULT_VARIABLE result ERROR_VARIABLE output)
string(REGEX MATCHALL "error:" errors "${output}")
list(LENGTH errors count)
if(result EQUAL 0 OR NOT count EQUAL 1 OR NOT output MATCHES "latebind.hpp needs C\\+\\+20: compile with -std=c\\+\\+20")
  message(FATAL_ERROR "with C++17 the header says '${output}'")
endif()

# With pkg-config, from a prefix that was moved. Not for another machine: what a program needs beside the library to start
# there is in the toolchain file, which CMake alone reads.
if(PKG_CONFIG AND NOT TOOLCHAIN)
  file(RENAME ${prefix} ${WORK_DIR}/moved)
  set(prefix ${WORK_DIR}/moved)
  set(ENV{PKG_CONFIG_LIBDIR} ${prefix}/lib/pkgconfig)
  set(ENV{LD_LIBRARY_PATH} ${prefix}/lib)
  set(ENV{WINEPATH} Z:${prefix}/bin)
  run_and_expect("^${VERSION}\n$" ${PKG_CONFIG} --modversion latebind)
  run(${PKG_CONFIG} --cflags --libs latebind)
  separate_arguments(words UNIX_COMMAND "${output}")
  run(${C_COMPILER} ${flags} ${SOURCE_DIR}/plain_main.c ${SOURCE_DIR}/plain.c -o ${WORK_DIR}/in_c${SUFFIX} ${words})
  run_and_expect(${VERSION} ${EMULATOR} ${WORK_DIR}/in_c${SUFFIX})
  run(${C_COMPILER} ${flags} -c ${SOURCE_DIR}/plain.c -o ${WORK_DIR}/plain.o ${words})
  run(${CXX_COMPILER} ${flags} -std=c++20 ${SOURCE_DIR}/consumer.cpp ${WORK_DIR}/plain.o -o ${WORK_DIR}/in_cpp${SUFFIX}
    ${words})
  run_and_expect(${VERSION} ${EMULATOR} ${WORK_DIR}/in_cpp${SUFFIX})
endif()
