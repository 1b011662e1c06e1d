# A toolchain file: builds for 64-bit ARM on another processor, with Debian's g++-aarch64-linux-gnu and the libraries of
# a Debian for arm64 in the directory VERBATIM_SYSROOT. test/slow/arm64.test.ts makes one.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# try_compile() reads this file again, without the cache.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES VERBATIM_SYSROOT)
if(NOT IS_DIRECTORY "${VERBATIM_SYSROOT}")
  message(FATAL_ERROR "VERBATIM_SYSROOT is \"${VERBATIM_SYSROOT}\", which is not a directory.")
endif()
set(CMAKE_SYSROOT "${VERBATIM_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH "${VERBATIM_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${VERBATIM_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR}
  "${VERBATIM_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${VERBATIM_SYSROOT}/usr/share/pkgconfig")
# For programs that a build runs, and tests: the instructions of an emulated processor are chosen with QEMU_CPU.
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;${VERBATIM_SYSROOT}")
