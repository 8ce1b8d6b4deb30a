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
endfunction()

# What libFuzzer is to cover: the library and the fuzz targets. In the program and the tests the
# counters would only cost time.
function(hvtlb_covered target)
  if(HVTLB_LIBFUZZER)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# hvtlb_parse_once(TARGET HEADERS... | REUSE_FROM OTHER): heavy template headers, parsed once. With clang
# only: GCC instantiates again in every file what is pending in a precompiled header, and is slower.
function(hvtlb_parse_once target)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    if(ARGV1 STREQUAL REUSE_FROM)
      target_precompile_headers(${target} REUSE_FROM ${ARGV2})
    else()
      target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
  endif()
endfunction()

# Code whose speed does not matter and whose headers are heavy (command line, JSON, most tests) is not
# optimised: half the time of ./check would go there.
function(hvtlb_fast_to_compile target)
  target_compile_options(${target} PRIVATE -O0)
endfunction()

# Of an inline function or a template that several files have, the linker keeps the first it meets.
# The library comes first, so that what it shares with code that is not optimised stays optimised:
# the scenario tests under the sanitizers take less than half of the time, and the program is faster.
function(hvtlb_library_first target)
  target_link_options(${target} PRIVATE
    LINKER:--whole-archive $<TARGET_FILE:hvtlb> LINKER:--no-whole-archive)
endfunction()
