#pragma once

namespace verbatim::accelerator {

// Lets LoadScope act: from now on ggml's CPU backend names the buffer types of its own (CPU_REPACK, AMX, ...)
// only to threads that are in no such scope. ggml asks for them by name and has no setting for it, so the
// function that answers is wrapped. For the rest of the process; once, before other threads load models.
void wrap_extra_buffer_types();

}  // namespace verbatim::accelerator
