# whisper.cpp and its ggml, static, unpatched. Its own command-line tools are built on demand (target whisper-cli) for
# parity checks.
if(NOT EXISTS "${VERBATIM_WHISPER_DIR}/CMakeLists.txt")
  message(FATAL_ERROR "No whisper.cpp at ${VERBATIM_WHISPER_DIR}. Run \"npm ci\", or set VERBATIM_WHISPER_DIR.")
endif()
# In the cache: whisper.cpp requires so old a CMake (3.5) that its option() would override a plain variable.
set(BUILD_SHARED_LIBS OFF CACHE BOOL "" FORCE)
set(GGML_CUDA ${VERBATIM_CUDA_ENABLED} CACHE BOOL "" FORCE)
set(GGML_VULKAN ${VERBATIM_VULKAN_ENABLED} CACHE BOOL "" FORCE)
set(WHISPER_BUILD_TESTS OFF CACHE BOOL "" FORCE)
set(WHISPER_BUILD_EXAMPLES ON CACHE BOOL "" FORCE)
set(WHISPER_BUILD_SERVER ON CACHE BOOL "" FORCE)
# With CMAKE_JS_VERSION set, whisper.cpp would build its own addon instead of its command-line tools.
set(CMAKE_JS_VERSION "")
add_subdirectory("${VERBATIM_WHISPER_DIR}" whisper EXCLUDE_FROM_ALL)
unset(CMAKE_JS_VERSION)
if(VERBATIM_VULKAN_ENABLED)
  verbatim_complete_vulkan()
endif()
# Only oneDNN uses AMX's tiles. ggml and oneDNN would each take their tile configuration for the thread's, and one of the
# two would end the process with an illegal instruction; GCC 12 also drops a part of the one that ggml writes.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  target_compile_options(ggml-cpu PRIVATE -mno-amx-tile -mno-amx-int8 -mno-amx-bf16)
endif()

# No warnings from whisper.cpp's headers.
foreach(target whisper parakeet ggml ggml-base ggml-cpu)
  set_target_properties(${target} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES
    "$<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>")
endforeach()

# ggml's internal headers, for code that implements a ggml backend device.
add_library(verbatim_ggml_backend INTERFACE)
target_include_directories(verbatim_ggml_backend SYSTEM INTERFACE "${VERBATIM_WHISPER_DIR}/ggml/src")
