# Optional parts of a build, which depend on what is installed. Every build checks again, so that the order of
# installing and building does not matter. What is left out is listed when configuring ends and in left_out.txt in the
# build folder, which scripts/test reads.

# The pinned versions determine where to look.
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/scripts/versions.env)

# latebind_present(VARIABLE PATTERN…): lists the files and folders that exist now. If that changes, the next build
# configures again.
function(latebind_present variable)
  file(GLOB found LIST_DIRECTORIES true CONFIGURE_DEPENDS ${ARGN})
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# latebind_left_out(WHAT WHY): records an optional part that this machine could have.
function(latebind_left_out what why)
  set_property(GLOBAL APPEND PROPERTY latebind_left_out "${what}: ${why}")
endfunction()

function(latebind_say_what_is_left_out)
  get_property(left_out GLOBAL PROPERTY latebind_left_out)
  list(TRANSFORM left_out APPEND "\n" OUTPUT_VARIABLE lines)
  list(JOIN lines "" text)
  file(WRITE ${CMAKE_BINARY_DIR}/left_out.txt "${text}")
  foreach(line IN LISTS left_out)
    message(NOTICE "Left out: ${line}")
  endforeach()
endfunction()
