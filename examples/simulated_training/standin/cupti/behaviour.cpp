#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "../true_clock.h"
#include "bridge_calls.h"
#include "buffers.h"
#include "state.h"

namespace sim {
namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr && text[0] != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
}

Behaviour read_behaviour() {
  Behaviour read;
  read.version = static_cast<std::uint32_t>(number_of("SIM_CUPTI_VERSION", read.version));
  read.taken = number_of("SIM_CUPTI_TAKEN", 0) != 0;
  read.no_driver = number_of("SIM_CUPTI_NO_DRIVER", 0) != 0;
  read.old_driver = number_of("SIM_CUPTI_OLD_DRIVER", 0) != 0;
  read.taken_ms = number_of("SIM_CUPTI_TAKEN_MS", 0);
  read.bad_times = number_of("SIM_CUPTI_BAD_TIMES", 0);
  read.zero_times = number_of("SIM_CUPTI_ZERO_TIMES", 0);
  read.busy_percent = number_of("SIM_CUPTI_BUSY_PCT", 0);
  read.unknown_every = number_of("SIM_CUPTI_UNKNOWN_EVERY", 0);
  read.replay = std::getenv("SIM_CUPTI_REPLAY");
  read.replay_pace = number_of("SIM_CUPTI_REPLAY_PACE", 0) != 0;
  read.drop_every = number_of("SIM_CUPTI_DROP_EVERY", 0);
  return read;
}

// The driver that this process has; CUPTI never loads one.
const Driver* attach() {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  using Attach = const Driver* (*)(const Bridge*);
  const auto entry = reinterpret_cast<Attach>(dlsym(library, "simulated_driver_attach"));
  return entry != nullptr ? entry(&bridge_calls()) : nullptr;
}

std::mutex s_attaching;
std::atomic<const Driver*> s_attached{nullptr};
std::atomic<bool> s_dead{false};

}  // namespace

const Behaviour& behaviour() {
  static const Behaviour read = read_behaviour();
  return read;
}

bool is_taken() {
  static const std::uint64_t s_begin_ns = true_ns();
  if (behaviour().taken) return true;
  return behaviour().taken_ms != 0 && true_ns() < s_begin_ns + behaviour().taken_ms * 1'000'000;
}

bool is_dead() { return s_dead.load(std::memory_order_acquire); }

void die() {
  s_dead.store(true, std::memory_order_release);
  each_client([](Client& each) {
    forget_kinds(each);
    forget_subscriber(each);
  });
  close_buffers();
}

const Driver* driver() {
  if (behaviour().no_driver) return nullptr;
  if (const Driver* known = s_attached.load(std::memory_order_acquire)) return known;
  const std::lock_guard lock(s_attaching);
  if (s_attached.load(std::memory_order_relaxed) == nullptr) s_attached.store(attach(), std::memory_order_release);
  return s_attached.load(std::memory_order_relaxed);
}

}  // namespace sim
