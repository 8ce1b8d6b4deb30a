# Warnings and sanitizers, the same for every target.
function(hvtlb_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
  if(HVTLB_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(HVTLB_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${HVTLB_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${HVTLB_SANITIZE})
  endif()
  if(HVTLB_LIBFUZZER)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# Code whose speed does not matter and whose headers are heavy (command line, JSON, most tests) is not
# optimised: half the time of ./check would go there.
function(hvtlb_fast_to_compile target)
  target_compile_options(${target} PRIVATE -O0)
endfunction()
