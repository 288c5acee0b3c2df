# Runs SCRIPT with the PYTHON of scripts/setup, or prints what to type if that is missing.
if(NOT EXISTS ${PYTHON})
  message(FATAL_ERROR "${PYTHON} is missing; run scripts/setup")
endif()
execute_process(COMMAND ${PYTHON} -m pytest -q --maxfail=10 -p no:cacheprovider ${SCRIPT} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${SCRIPT} failed")
endif()
