// libunwind's Ltrace.c, and two things besides that its cache of frames, one per thread, needs in a program that is not ours.
//
// The cache is never emptied: after dlclose(3) another object may lie where one lay, and its frames would be taken for the old
// ones. unwind_forget() empties the calling thread's.
//
// Where the program has used up all thread-specific keys, pthread_setspecific(3) with a number of our own would write into another
// library's. Then there are no stacks.
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static int s_has_key;

static int make_key(pthread_key_t* key, void (*give_back)(void*)) {
  s_has_key = pthread_key_create(key, give_back) == 0;
  return 0;
}

static int set_key(pthread_key_t key, const void* value) { return s_has_key ? pthread_setspecific(key, value) : 0; }

#define pthread_key_create make_key
#define pthread_setspecific set_key
#include "Ltrace.c"

int unwind_has_key(void) {
  pthread_once(&trace_cache_once, &trace_cache_init_once);
  return s_has_key;
}

int unwind_here(void** addresses, int most) {
  const int count = unw_backtrace(addresses, most);
#ifdef __aarch64__
  // Here its fast way gives the byte before the address that is returned to. Instructions have 4.
  for (int i = 0; i < count; ++i) addresses[i] = (void*)(((uintptr_t)addresses[i] + 3) / 4 * 4);
#endif
  return count;
}

void unwind_forget(void) {
  unw_flush_cache(unw_local_addr_space, 0, 0);
  if (tls_cache == NULL) return;
  memset(tls_cache->frames, 0, sizeof(unw_tdep_frame_t) << tls_cache->log_size);
  tls_cache->used = 0;
}
