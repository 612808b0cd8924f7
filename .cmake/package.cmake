# Installs the program, the library libkvcast, data, man pages, shell completion and docs, and packs all of it into a .deb: `cpack`.
include(GNUInstallDirs)
set(data ${CMAKE_INSTALL_DATADIR}/kvcast)
set(doc ${CMAKE_INSTALL_DATADIR}/doc/kvcast)

install(TARGETS kvcast RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# libkvcast: the library, its header, its pkg-config file (kernels_package.cmake knows the folder) and its examples.
if(TARGET kvcast_library)
  install(TARGETS kvcast_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES scenarios/library/kvcast.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY scenarios/library/examples DESTINATION ${doc})
  configure_file(.cmake/kvcast.pc.in package/kvcast.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/kvcast.pc DESTINATION ${pkgconfig})
endif()

# The layout of the source tree; sim/base/files/data_dir.h finds it beside the program's folder.
foreach(folder hardware papers examples)
  install(DIRECTORY scenarios/${folder} DESTINATION ${data}/scenarios FILES_MATCHING PATTERN "*.lua" PATTERN "*.csv")
endforeach()
install(DIRECTORY validate/papers validate/measured validate/mechanisms validate/carried DESTINATION ${data}/validate
  FILES_MATCHING PATTERN "*.csv" PATTERN "*.lua")
install(FILES scenarios/output/export/result.schema.json DESTINATION ${data})
install(FILES validate/accuracy.csv validate/carried_over.csv DESTINATION ${data}/validate)
install(DIRECTORY plots DESTINATION ${data} FILES_MATCHING PATTERN "*.gp")

install(FILES README.md CHANGELOG.md DESTINATION ${doc})
install(FILES LICENSE DESTINATION ${doc} RENAME copyright)
install(DIRECTORY docs/ DESTINATION ${doc}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")

# Programs in the build tree find the data of the source tree through this file.
string(FIND ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/ place)
set(source ${PROJECT_SOURCE_DIR})
if(place EQUAL 0)
  file(RELATIVE_PATH source ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
endif()
file(WRITE ${PROJECT_BINARY_DIR}/kvcast-data "${source}\n")

# Man pages and shell completion, which the program writes from the tables of --help.
set(generated ${PROJECT_BINARY_DIR}/generated)
if(NOT CMAKE_CROSSCOMPILING)
  add_custom_command(OUTPUT ${generated}/stamp
    COMMAND ${PROJECT_SOURCE_DIR}/scenarios/cli/generate.sh $<TARGET_FILE:kvcast> ${generated}
    COMMAND ${CMAKE_COMMAND} -E touch ${generated}/stamp
    DEPENDS kvcast ${PROJECT_SOURCE_DIR}/scenarios/cli/generate.sh VERBATIM)
  add_custom_target(kvcast_generated ALL DEPENDS ${generated}/stamp)
  install(DIRECTORY ${generated}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${generated}/bash/kvcast DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${generated}/zsh/_kvcast DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${generated}/fish/kvcast.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# docs/reference.md comes from the tables, too, and is committed; this refreshes it.
add_custom_target(reference COMMAND kvcast --help=markdown > ${PROJECT_SOURCE_DIR}/docs/reference.md VERBATIM)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kvcast)
set(CPACK_PACKAGE_VENDOR "the kvcast authors")
set(CPACK_PACKAGE_CONTACT "the kvcast authors <kvcast@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "forecasts the performance of in-memory key-value stores")
set(CPACK_PACKAGE_DESCRIPTION
  "kvcast simulates heterogeneous in-memory key-value stores (CPUs, GPUs, FPGAs, NICs) from a description of the\n\
 store, its machines and its load. It answers with throughput, latency, power and the bottleneck.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON) # so that programs that use libkvcast can depend on the package
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox, graphviz")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libssl-dev, libxxhash-dev")
include(CPack)

# The sanitizers' and the bare program's libraries are of no use outside.
if(NOT KVCAST_SANITIZE AND NOT KVCAST_BARE)
  add_test(NAME install_test COMMAND ${PROJECT_SOURCE_DIR}/.cmake/install_test.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
    ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
  set_tests_properties(install_test PROPERTIES LABELS install TIMEOUT 120)
  add_test(NAME deb_test COMMAND ${PROJECT_SOURCE_DIR}/.cmake/deb_test.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(deb_test PROPERTIES LABELS "install;slow" TIMEOUT 300)
endif()
