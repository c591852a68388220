# Warnings for weir's own targets only; a project that includes weir keeps its own flags.
function(weir_set_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow)
  if(WEIR_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
