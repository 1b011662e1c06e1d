// For any 64-bit processor: vectors of 16 bytes.
#define VERBATIM_KERNELS generic
#define VERBATIM_KERNELS_NAME "generic"
#define VERBATIM_VECTOR_BYTES 16
#define VERBATIM_VNNI 0
#include "transformer/kernels/impl.h"
