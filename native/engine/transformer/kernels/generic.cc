// Any processor: 16-byte vectors, which every 64-bit one has.
#define VERBATIM_KERNELS generic
#define VERBATIM_KERNELS_NAME "generic"
#define VERBATIM_VECTOR_BYTES 16
#include "transformer/kernels/impl.h"
