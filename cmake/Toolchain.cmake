# Compiler flags for every target. One place: modules never set flags of their own.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
# Under sanitizers.
set(CMAKE_CXX_FLAGS_CHECKED "-O1 -g1")
# Of the tests' own files, which run once. Under sanitizers -O1 takes twice as long to compile as -O0 (5.2 and 2.9 s
# for a small test), which is most of what such a build costs.
set(PORTOLAN_TEST_OPTIONS -O1)
if(PORTOLAN_SANITIZE)
  set(PORTOLAN_TEST_OPTIONS -O0)
endif()

# The oldest machines we run on. Faster paths are chosen at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-march=x86-64-v2)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  add_compile_options(-march=armv8-a+crc)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough
                    -fno-omit-frame-pointer -fdiagnostics-color=auto
                    # {.field = x} means: the others as declared.
                    -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these inside inlined library code where nothing is wrong.
  add_compile_options(-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                      -Wno-maybe-uninitialized -Wno-dangling-pointer
                      # Mistakes a source that is compiled together with others for a header.
                      -Wno-subobject-linkage)
endif()

if(PORTOLAN_SANITIZE)
  add_compile_options(-fsanitize=${PORTOLAN_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PORTOLAN_SANITIZE})
endif()
if(PORTOLAN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Archives name no build path, so that two checkouts share ccache and binaries are reproducible.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

find_program(CCACHE ccache)
if(CCACHE)
  # Precompiled headers hide from it which macros and times they saw: they use none that change.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# libstdc++ 12 calls its own deprecated get_temporary_buffer in stable_sort, and clang 19 reports that at the caller.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-deprecated-declarations)
endif()
