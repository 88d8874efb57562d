// Compiles a function for several processors; the one that the program runs on is chosen when it
// starts, so that no older machine meets an instruction that it does not know.
#pragma once

// Sanitizers do not bear the choice, which is made before they are ready.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SLIM_FOR_PROCESSORS \
  __attribute__((target_clones("arch=icelake-server", "arch=haswell", "default")))
#else
#define SLIM_FOR_PROCESSORS
#endif
