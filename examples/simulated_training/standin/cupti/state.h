// What the client asked for: subscriber, enabled callbacks, kinds and API functions, and how the library is set to
// misbehave (SIM_CUPTI_... variables, see README.md of the simulated training).
#pragma once
#include <atomic>
#include <cstdint>

#include "exports.h"

namespace sim {

struct Behaviour {
  std::uint32_t version = CUPTI_API_VERSION;  // SIM_CUPTI_VERSION
  bool taken = false;                         // SIM_CUPTI_TAKEN=1: another tool holds CUPTI from the start
  bool no_driver = false;                     // SIM_CUPTI_NO_DRIVER=1: as on a machine without libcuda
  std::uint64_t drop_every = 0;               // SIM_CUPTI_DROP_EVERY=N: each Nth record is dropped; 0: none
};
const Behaviour& behaviour();

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
bool api_enabled(CUpti_CallbackDomain domain, std::uint32_t cbid);
// The number of callback ids of a domain; 0: no such domain.
std::uint32_t callback_count(CUpti_CallbackDomain domain);

std::uint64_t to_cupti(std::uint64_t true_ns);
bool system_thread_ids();

void forget_subscriber();  // for cuptiFinalize
void forget_kinds();

// What CUPTI answers before the driver is there; otherwise goes on.
#define SIM_NEED_DRIVER() \
  if (sim::driver() == nullptr) return CUPTI_ERROR_UNKNOWN

}  // namespace sim
