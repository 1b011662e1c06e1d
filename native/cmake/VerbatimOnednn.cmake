# VERBATIM_ONEDNN = AUTO | ON | OFF -> VERBATIM_ONEDNN_ENABLED, target verbatim_onednn. Wanted: oneDNN 2 from 2.6
# on (Debian's libdnnl-dev) that runs on OpenMP, whose threads it then shares with ggml. Its own CMake package is
# not used: it asks for OpenCL's headers, too.
set(VERBATIM_ONEDNN_ENABLED OFF)
if(NOT VERBATIM_ONEDNN MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "VERBATIM_ONEDNN is \"${VERBATIM_ONEDNN}\"; allowed are AUTO, ON and OFF.")
endif()
if(NOT VERBATIM_ONEDNN STREQUAL "OFF")
  find_path(VERBATIM_ONEDNN_INCLUDE oneapi/dnnl/dnnl.hpp)
  find_library(VERBATIM_ONEDNN_LIBRARY dnnl)
  find_package(OpenMP QUIET COMPONENTS CXX)
  set(VERBATIM_ONEDNN_VERSION "none")
  set(VERBATIM_ONEDNN_ON_OPENMP "")
  if(VERBATIM_ONEDNN_INCLUDE AND VERBATIM_ONEDNN_LIBRARY)
    file(STRINGS "${VERBATIM_ONEDNN_INCLUDE}/oneapi/dnnl/dnnl_version.h" lines REGEX "define DNNL_VERSION_M(AJOR|INOR) ")
    string(REGEX REPLACE ".*MAJOR +([0-9]+).*MINOR +([0-9]+).*" "\\1.\\2" VERBATIM_ONEDNN_VERSION "${lines}")
    file(STRINGS "${VERBATIM_ONEDNN_INCLUDE}/oneapi/dnnl/dnnl_config.h" VERBATIM_ONEDNN_ON_OPENMP
      REGEX "define DNNL_CPU_RUNTIME DNNL_RUNTIME_OMP")
  endif()
  if(OpenMP_CXX_FOUND AND VERBATIM_ONEDNN_ON_OPENMP AND VERBATIM_ONEDNN_VERSION VERSION_GREATER_EQUAL 2.6
      AND VERBATIM_ONEDNN_VERSION VERSION_LESS 3)
    set(VERBATIM_ONEDNN_ENABLED ON)
    message(STATUS "Verbatim: oneDNN ${VERBATIM_ONEDNN_VERSION}")
  elseif(VERBATIM_ONEDNN STREQUAL "ON")
    message(FATAL_ERROR "VERBATIM_ONEDNN=ON needs OpenMP and oneDNN 2 from 2.6 on, built for OpenMP (Debian: "
      "libdnnl-dev). oneDNN: ${VERBATIM_ONEDNN_VERSION}, OpenMP: ${OpenMP_CXX_FOUND}.")
  else()
    message(STATUS "Verbatim: no oneDNN 2: whisper.cpp's own matrix products")
  endif()
endif()
if(VERBATIM_ONEDNN_ENABLED)
  add_library(verbatim_onednn INTERFACE)
  target_include_directories(verbatim_onednn SYSTEM INTERFACE "${VERBATIM_ONEDNN_INCLUDE}"
    "${VERBATIM_WHISPER_DIR}/ggml/src")
  target_link_libraries(verbatim_onednn INTERFACE "${VERBATIM_ONEDNN_LIBRARY}" OpenMP::OpenMP_CXX)
  target_compile_definitions(verbatim_onednn INTERFACE VERBATIM_ONEDNN=1)
endif()
