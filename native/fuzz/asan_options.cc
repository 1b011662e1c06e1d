// How AddressSanitizer is set in every fuzz target. Memory that is given back is used again soon: untouched
// pages, which the kernel has to clear, are what a run would spend its time on.
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=4:malloc_context_size=4"; }
