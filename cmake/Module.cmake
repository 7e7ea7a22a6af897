# A module is a folder: every *.cc in it but *_test.cc is its library, every *_test.cc its test program.
#
#   portolan_module(NAME drum DEPS base io LIBS PkgConfig::LZ4)
#
# DEPS lists all other modules that its files may include: tests/layering compares each #include with it. LIBS are
# third-party targets. TEST_DEPS are modules that only the tests may use.
#
# Several files of a module are compiled as one (PORTOLAN_UNITY at a time): the headers are read once, which halves the
# time of a build. So a name in an unnamed namespace may be used by only one file of its module.
set(PORTOLAN_UNITY 8 CACHE STRING "Files of a module that are compiled as one; 1: each alone")

define_property(GLOBAL PROPERTY PORTOLAN_MODULES BRIEF_DOCS "rows of the module table")
define_property(GLOBAL PROPERTY PORTOLAN_TEST_SOURCES BRIEF_DOCS "every test source that is in a target")
define_property(GLOBAL PROPERTY PORTOLAN_TEST_LABELS BRIEF_DOCS "label and target that tests with this label need")

function(portolan_module)
  cmake_parse_arguments(M "" "NAME" "DEPS;LIBS;TEST_DEPS;TEST_LIBS" ${ARGN})
  if(M_UNPARSED_ARGUMENTS OR NOT M_NAME)
    message(FATAL_ERROR "portolan_module: wrong arguments: ${ARGN}")
  endif()
  set(dir ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cc)
  file(GLOB headers CONFIGURE_DEPENDS ${dir}/*.h)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")

  set(target portolan_${M_NAME})
  list(TRANSFORM M_DEPS PREPEND portolan_ OUTPUT_VARIABLE deps)
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  if(PORTOLAN_UNITY GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${PORTOLAN_UNITY})
  endif()
  # Includes are written from src/ ("disk/drum.h"), and from the root for what is beside it ("sim/world.h").
  set(base ${PROJECT_SOURCE_DIR})
  if(dir MATCHES "^${PROJECT_SOURCE_DIR}/src/")
    set(base ${PROJECT_SOURCE_DIR}/src)
  endif()
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${base} FILES ${headers})
  target_link_libraries(${target} PUBLIC ${deps} ${M_LIBS})
  target_compile_features(${target} PUBLIC cxx_std_23)  # the headers need it

  file(RELATIVE_PATH rel ${PROJECT_SOURCE_DIR} ${dir})
  string(REPLACE ";" " " deps_row "${M_DEPS}")
  string(REPLACE ";" " " test_deps_row "${M_TEST_DEPS}")
  set_property(GLOBAL APPEND PROPERTY PORTOLAN_MODULES "${M_NAME}\t${rel}\t${deps_row}\t${test_deps_row}")

  if(PORTOLAN_TESTS AND tests)
    list(TRANSFORM M_TEST_DEPS PREPEND portolan_ OUTPUT_VARIABLE test_deps)
    portolan_test_program(NAME ${M_NAME}_test SOURCES ${tests} LIBS ${target} ${test_deps} ${M_TEST_LIBS}
                          LABEL ${M_NAME})
  endif()
endfunction()

# portolan_needs(TARGET LABEL...): tests with these labels need the target. ./test builds what the wanted labels need.
function(portolan_needs target)
  add_dependencies(portolan-tests ${target})
  foreach(label ${ARGN})
    set_property(GLOBAL APPEND PROPERTY PORTOLAN_TEST_LABELS "${label}\t${target}")
  endforeach()
endfunction()

# portolan-tests: everything that tests need.
if(PORTOLAN_TESTS)
  add_custom_target(portolan-tests)
  # What every test includes, read once. Tests are compiled for the one run: the libraries under them are the release.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_pch.cc CONTENT "// Only its precompiled headers are used.\n")
  add_library(portolan_test_pch OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_pch.cc)
  target_link_libraries(portolan_test_pch PRIVATE GTest::gtest GTest::gmock)
  target_compile_options(portolan_test_pch PRIVATE ${PORTOLAN_TEST_OPTIONS})
  target_precompile_headers(portolan_test_pch PRIVATE <gmock/gmock.h> <gtest/gtest.h> <algorithm> <chrono> <deque>
    <expected> <filesystem> <fstream> <functional> <map> <memory> <mutex> <optional> <random> <set> <span> <string>
    <string_view> <thread> <unordered_map> <utility> <vector>)
endif()

# A GoogleTest program. Its tests carry LABEL; suites whose name ends in SlowTest carry "slow" instead (CMake's discovery
# takes one label).
function(portolan_test_program)
  cmake_parse_arguments(T "" "NAME;LABEL" "SOURCES;LIBS" ${ARGN})
  add_executable(${T_NAME} EXCLUDE_FROM_ALL ${T_SOURCES})
  target_link_libraries(${T_NAME} PRIVATE ${T_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_include_directories(${T_NAME} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${T_NAME} PRIVATE ${PORTOLAN_TEST_OPTIONS})
  target_precompile_headers(${T_NAME} REUSE_FROM portolan_test_pch)
  portolan_needs(${T_NAME} ${T_LABEL} slow)
  set(common WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DISCOVERY_TIMEOUT 60)
  gtest_discover_tests(${T_NAME} ${common} TEST_FILTER "-*SlowTest.*"
                       TEST_LIST ${T_NAME}_fast PROPERTIES LABELS "${T_LABEL}" TIMEOUT 900)  # the thread sanitizer on a busy machine
  gtest_discover_tests(${T_NAME} ${common} TEST_FILTER "*SlowTest.*"
                       TEST_LIST ${T_NAME}_slow PROPERTIES LABELS "slow" TIMEOUT 900)
  foreach(source ${T_SOURCES})
    file(RELATIVE_PATH rel ${PROJECT_SOURCE_DIR} ${source})
    set_property(GLOBAL APPEND PROPERTY PORTOLAN_TEST_SOURCES ${rel})
  endforeach()
endfunction()

# Writes what the repository checks and ./test read: the module table, the test sources in targets, the labels' targets.
function(portolan_write_module_table)
  get_property(rows GLOBAL PROPERTY PORTOLAN_MODULES)
  string(REPLACE ";" "\n" text "${rows}")
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/modules.tsv CONTENT "${text}\n")
  get_property(tests GLOBAL PROPERTY PORTOLAN_TEST_SOURCES)
  string(REPLACE ";" "\n" text "${tests}")
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/test_sources.txt CONTENT "${text}\n")
  get_property(rows GLOBAL PROPERTY PORTOLAN_TEST_LABELS)
  string(REPLACE ";" "\n" text "${rows}")
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/test_labels.tsv CONTENT "${text}\n")
endfunction()
