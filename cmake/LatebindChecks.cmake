# The check that runs in every build besides the compiler's: dependencies between layers only point downwards.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_custom_target(check_layers ALL
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/scripts/check_layers ${PROJECT_SOURCE_DIR}
  COMMENT "Checking the arrows between the layers"
  VERBATIM)
