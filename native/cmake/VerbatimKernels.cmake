# The transformer kernels are compiled once per instruction set and chosen at run time.
set(VERBATIM_KERNEL_DIR "${CMAKE_CURRENT_SOURCE_DIR}/native/engine/transformer/kernels")
set_source_files_properties("${VERBATIM_KERNEL_DIR}/generic.cc" PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set_source_files_properties("${VERBATIM_KERNEL_DIR}/avx2.cc" PROPERTIES
    COMPILE_OPTIONS "-O3;-ffp-contract=fast;-mavx2;-mfma")
  set_source_files_properties("${VERBATIM_KERNEL_DIR}/avx_vnni.cc" PROPERTIES
    COMPILE_OPTIONS "-O3;-ffp-contract=fast;-mavx2;-mfma;-mavxvnni")
  set_source_files_properties("${VERBATIM_KERNEL_DIR}/avx512.cc" PROPERTIES
    COMPILE_OPTIONS
    "-O3;-ffp-contract=fast;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vnni;-mprefer-vector-width=512")
  set_source_files_properties("${VERBATIM_KERNEL_DIR}/kernels.cc" PROPERTIES COMPILE_DEFINITIONS VERBATIM_X86_KERNELS=1)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  # Before registers are given out, gcc would move the loads of a step so far up that sums no longer fit the registers.
  set(neon "-O3;-ffp-contract=fast;-fno-schedule-insns")
  set_source_files_properties("${VERBATIM_KERNEL_DIR}/neon.cc" PROPERTIES COMPILE_OPTIONS "${neon}")
  set_source_files_properties("${VERBATIM_KERNEL_DIR}/neon_dot.cc" PROPERTIES
    COMPILE_OPTIONS "${neon};-march=armv8.2-a+dotprod")
  set_source_files_properties("${VERBATIM_KERNEL_DIR}/neon_i8mm.cc" PROPERTIES
    COMPILE_OPTIONS "${neon};-march=armv8.2-a+dotprod+i8mm")
  set_source_files_properties("${VERBATIM_KERNEL_DIR}/kernels.cc" PROPERTIES COMPILE_DEFINITIONS VERBATIM_ARM_KERNELS=1)
endif()
