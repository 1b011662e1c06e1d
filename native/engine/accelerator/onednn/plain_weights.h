#pragma once

namespace verbatim::accelerator {

// Makes LoadScope work: from now on ggml's CPU backend offers its own buffer types (CPU_REPACK, ...) only to threads
// outside such a scope. ggml has no setting for it and gets the types by name, so this wraps the function that
// returns them. For the rest of the process; call once, before other threads load models.
void wrap_extra_buffer_types();

}  // namespace verbatim::accelerator
