# Runs compare_with_oracle.py with RUNTIME (build/runtime), DRIVER (tokenizer_driver) and WHAT.
set(python ${RUNTIME}/oracle/bin/python)
set(tokenizer ${RUNTIME}/model/all-MiniLM-L6-v2/tokenizer.json)
foreach(needed ${python} ${tokenizer})
  if(NOT EXISTS ${needed})
    message(FATAL_ERROR "${needed} is missing: run scripts/setup")
  endif()
endforeach()
execute_process(COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/compare_with_oracle.py ${DRIVER} ${tokenizer} ${WHAT}
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the ids differ from the reference's, or it could not be asked (${result})")
endif()
