# What every build checks besides what the compiler does: that dependencies between the layers go downwards only.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_custom_target(check_layers ALL
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/scripts/check_layers ${PROJECT_SOURCE_DIR}
  COMMENT "Checking the arrows between the layers"
  VERBATIM)
