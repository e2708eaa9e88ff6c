// What the two files of the sensitive host share.
#pragma once
#include <cstddef>

// One call of NCCL and one range, as NVTX tells them. For threads: takes and returns nothing.
void* call_nccl(void*);
// Runs it in a thread with a stack of so many bytes (0: the usual), to its end. False: there is no such thread.
bool run_thread(void* (*run)(void*), std::size_t stack_bytes, void** result);

// `least` threads come, which no signal reaches; no signal is handled that was not; the thread that was here before
// blocks what it did.
bool signals(long least);
// A thread that records goes on without the kernel, so it waits for no lock either, and without memory. `count` events.
bool undisturbed(long count);
