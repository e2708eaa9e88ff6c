// Two libraries of one size with one function at one address, which calls from the same place in it; their frames differ: RELOADED_BYTES.
#include <cstddef>

extern "C" __attribute__((visibility("default"))) int call_through(void (*call)()) {
  volatile char room[RELOADED_BYTES];
  room[0] = 1;
  room[sizeof(room) - 1] = 1;
  call();
  return room[0];
}
