# VERBATIM_VULKAN = AUTO | ON | OFF -> VERBATIM_VULKAN_ENABLED. Needs Vulkan's headers and loader, the SPIR-V headers and
# the shader compiler glslc (Debian: libvulkan-dev spirv-headers glslc). The backend compiles some thousand shaders, which
# takes minutes.
set(VERBATIM_VULKAN_ENABLED OFF)
if(NOT VERBATIM_VULKAN MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "VERBATIM_VULKAN is \"${VERBATIM_VULKAN}\"; allowed are AUTO, ON and OFF.")
endif()
if(NOT VERBATIM_VULKAN STREQUAL "OFF")
  set(VERBATIM_VULKAN_MISSING "")
  find_package(Vulkan QUIET)
  find_package(SPIRV-Headers CONFIG QUIET)
  if(NOT Vulkan_INCLUDE_DIR)
    list(APPEND VERBATIM_VULKAN_MISSING "Vulkan's headers")
  endif()
  if(NOT Vulkan_LIBRARY)
    list(APPEND VERBATIM_VULKAN_MISSING "Vulkan's loader")
  endif()
  if(NOT Vulkan_GLSLC_EXECUTABLE)
    list(APPEND VERBATIM_VULKAN_MISSING "glslc")
  endif()
  if(NOT SPIRV-Headers_FOUND)
    list(APPEND VERBATIM_VULKAN_MISSING "the SPIR-V headers")
  endif()
  list(JOIN VERBATIM_VULKAN_MISSING ", " VERBATIM_VULKAN_MISSING)
  if(VERBATIM_VULKAN_MISSING STREQUAL "")
    set(VERBATIM_VULKAN_ENABLED ON)
    message(STATUS "Verbatim: Vulkan; its shaders take some minutes to compile (VERBATIM_VULKAN=OFF builds without them)")
  elseif(VERBATIM_VULKAN STREQUAL "ON")
    message(FATAL_ERROR "VERBATIM_VULKAN=ON needs Vulkan's headers and loader, the SPIR-V headers and glslc (Debian: "
      "libvulkan-dev spirv-headers glslc). Not found: ${VERBATIM_VULKAN_MISSING}. Install them, or build with "
      "VERBATIM_VULKAN=OFF.")
  else()
    message(STATUS "Verbatim: no Vulkan: ${VERBATIM_VULKAN_MISSING} not found")
  endif()
endif()

# To be called when whisper.cpp's targets exist. Its sources stay as they are: what headers older than 1.3.272 lack is
# declared by a file that the compiler includes first, and what older loaders do not export is defined by another.
function(verbatim_complete_vulkan)
  set(source "${VERBATIM_WHISPER_DIR}/ggml/src/ggml-vulkan/ggml-vulkan.cpp")
  set_property(SOURCE "${source}" TARGET_DIRECTORY ggml-vulkan APPEND PROPERTY COMPILE_OPTIONS
    -include "${CMAKE_CURRENT_SOURCE_DIR}/native/vulkan/missing_declarations.h")
  target_sources(ggml-vulkan PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/native/vulkan/missing_functions.cc")
endfunction()
