# The version that results carry: the project's, and the commit where this is a git checkout.
find_package(Git QUIET)
set(KVCAST_VERSION "${PROJECT_VERSION}")
if(Git_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${PROJECT_SOURCE_DIR} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(commit)
    string(APPEND KVCAST_VERSION "+${commit}")
  endif()
  if(EXISTS "${PROJECT_SOURCE_DIR}/.git/logs/HEAD") # a new commit is a new version
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/.git/logs/HEAD")
  endif()
endif()
