# What a build has only where something is installed. Every build looks again, so that the order in which things are
# installed and built makes no difference; and whatever is left out is listed at the end of configuring, and in the file
# left_out.txt of the build folder, which scripts/test reads.

# What is pinned there decides where things are looked for.
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/scripts/versions.env)

# latebind_present(VARIABLE PATTERN…): the files and folders that are there now. When others are there, the next build
# configures again.
function(latebind_present variable)
  file(GLOB found LIST_DIRECTORIES true CONFIGURE_DEPENDS ${ARGN})
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# latebind_left_out(WHAT WHY): for what this machine could have.
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
