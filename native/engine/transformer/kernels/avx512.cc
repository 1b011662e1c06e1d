// Compiled with AVX-512 F, BW, DQ, VL and VNNI if the compiler targets x86-64; empty elsewhere.
#if defined(__AVX512F__) && defined(__AVX512VNNI__)
#define VERBATIM_KERNELS avx512
#define VERBATIM_KERNELS_NAME "avx512"
#define VERBATIM_VECTOR_BYTES 64
#define VERBATIM_VNNI 1
#include "transformer/kernels/impl.h"
#endif
