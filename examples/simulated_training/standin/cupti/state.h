// What the client asked for: subscriber, enabled callbacks, kinds and API functions, and how the library is set to
// misbehave (SIM_CUPTI_... variables, see README.md of the simulated training).
#pragma once
#include <atomic>
#include <cstdint>

#include "exports.h"
#include "rules.h"

namespace sim {

struct Behaviour {
  std::uint32_t version = CUPTI_API_VERSION;  // SIM_CUPTI_VERSION
  bool taken = false;                         // SIM_CUPTI_TAKEN=1: another tool holds CUPTI from the start
  std::uint64_t taken_ms = 0;                 // SIM_CUPTI_TAKEN_MS=N: it does for so long
  bool no_driver = false;                     // SIM_CUPTI_NO_DRIVER=1: as on a machine without libcuda
  std::uint64_t drop_every = 0;               // SIM_CUPTI_DROP_EVERY=N: each Nth record is dropped; 0: none
  std::uint64_t bad_times = 0;                // SIM_CUPTI_BAD_TIMES=N: each Nth work ends before it starts
  std::uint64_t zero_times = 0;               // SIM_CUPTI_ZERO_TIMES=N: each Nth work has no times
  std::uint64_t busy_percent = 0;             // SIM_CUPTI_BUSY_PCT=N: a thread of this library takes so much of a core
  std::uint64_t unknown_every = 0;            // SIM_CUPTI_UNKNOWN_EVERY=N: behind each Nth work a record nobody knows
};
const Behaviour& behaviour();
// Another tool holds CUPTI now.
bool is_taken();
// An error that sticks ended CUPTI: everything answers so.
bool is_dead();

// Null: no libcuda.so.1 in the process, or SIM_CUPTI_NO_DRIVER. Attaches to it at the first call that finds it.
const Driver* driver();

struct Subscriber {
  CUpti_CallbackFunc callback;
  void* user;
  char name[64];
};
// The one that is subscribed; null: none.
Subscriber* subscriber();

bool callback_enabled(CUpti_CallbackDomain domain, std::uint32_t cbid);
bool kind_enabled(CUpti_ActivityKind kind);
bool anything_enabled();  // a kind, or a single API function
// Synchronization records of queries that found their work unfinished too.
bool all_sync_records();
bool api_enabled(CUpti_CallbackDomain domain, std::uint32_t cbid);
// The number of callback ids of a domain; 0: no such domain.
std::uint32_t callback_count(CUpti_CallbackDomain domain);

std::uint64_t to_cupti(std::uint64_t true_ns);
bool system_thread_ids();

void forget_subscriber();  // for cuptiFinalize
void forget_kinds();
// Everything ends here: kinds, subscriber, buffers.
void die();

// What CUPTI answers before the driver is there; otherwise goes on. After it there must be no call any more.
#define SIM_NEED_DRIVER()                                   \
  sim::check_not_torn_down(__func__);                       \
  if (sim::driver() == nullptr) return CUPTI_ERROR_UNKNOWN; \
  if (sim::is_dead()) return CUPTI_ERROR_NOT_INITIALIZED

}  // namespace sim
