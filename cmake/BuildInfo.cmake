# Writes OUT with version, commit and build type, only when they changed. Run at build time by src/cli.
set(commit "unknown")
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed EQUAL 0)
    set(commit ${described})
  endif()
endif()
if(SANITIZE)
  set(BUILD_TYPE "${BUILD_TYPE} (${SANITIZE})")
endif()
set(text "// Made by cmake/BuildInfo.cmake.
#pragma once
#define PORTOLAN_VERSION \"${VERSION}\"
#define PORTOLAN_COMMIT \"${commit}\"
#define PORTOLAN_BUILD_TYPE \"${BUILD_TYPE}\"
")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUT} "${text}")
endif()
