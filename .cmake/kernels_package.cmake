# Installs the kernels as a library: headers, archives, a CMake package (find_package(kvcast) gives kvcast::kernels and,
# where nvcc was there, kvcast::kernels_cuda) and a pkg-config file, kvcast-kernels. Headers include each other as
# "kernels/...", so consumers get PREFIX/include/kvcast as a folder to look in.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(headers ${CMAKE_INSTALL_INCLUDEDIR}/kvcast)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/kvcast)
set(internal_headers PATTERN "*_internal.h" EXCLUDE PATTERN "*_fixture.h" EXCLUDE PATTERN "bench.h" EXCLUDE
  PATTERN "access_baselines.h" EXCLUDE PATTERN "kvdirect/bucket.h" EXCLUDE)
if(NOT KVCAST_HAVE_CUDA)
  list(APPEND internal_headers PATTERN "*_cuda.h" EXCLUDE PATTERN "cuda_probe.h" EXCLUDE)
endif()
install(DIRECTORY kernels/ DESTINATION ${headers}/kernels FILES_MATCHING PATTERN "*.h" ${internal_headers})

set_target_properties(kvc_kernels PROPERTIES EXPORT_NAME kernels OUTPUT_NAME kvcast_kernels)
target_include_directories(kvc_kernels INTERFACE $<INSTALL_INTERFACE:${headers}>)
install(TARGETS kvc_kernels EXPORT kvcast_kernels ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT kvcast_kernels NAMESPACE kvcast:: DESTINATION ${package} FILE kvcastKernels.cmake)
if(KVCAST_HAVE_CUDA)
  # A set of its own: consumers without CUDA's toolkit still get kvcast::kernels.
  set_target_properties(kvc_kernels_cuda PROPERTIES EXPORT_NAME kernels_cuda OUTPUT_NAME kvcast_kernels_cuda)
  target_link_libraries(kvc_kernels_cuda INTERFACE $<INSTALL_INTERFACE:CUDA::cudart_static>)
  install(TARGETS kvc_kernels_cuda EXPORT kvcast_kernels_cuda ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT kvcast_kernels_cuda NAMESPACE kvcast:: DESTINATION ${package} FILE kvcastKernelsCuda.cmake)
endif()

set(needed_modules "")
if(LIBCRYPTO_FOUND AND LIBXXHASH_FOUND)
  set(needed_modules "libcrypto libxxhash")
endif()
configure_package_config_file(.cmake/kvcastConfig.cmake.in package/kvcastConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(package/kvcastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/kvcastConfig.cmake ${PROJECT_BINARY_DIR}/package/kvcastConfigVersion.cmake
  DESTINATION ${package})

# The prefix follows from where the file lies, so that an installed tree can be moved.
set(pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH prefix_from_pkgconfig /prefix/${pkgconfig} /prefix)
configure_file(.cmake/kvcast-kernels.pc.in package/kvcast-kernels.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/kvcast-kernels.pc DESTINATION ${pkgconfig})
