// AddressSanitizer's settings for every fuzz target. Freed memory is reused soon; otherwise a run would spend its time
// on new pages, which the kernel has to clear.
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=4:malloc_context_size=4"; }
