// Who uses this library and what each has asked for, and how the library is set to misbehave (SIM_CUPTI_... variables, see
// README.md of the simulated training).
#pragma once
#include <atomic>
#include <cstdint>

#include "buffer_state.h"
#include "exports.h"
#include "rules.h"

namespace sim {

struct Behaviour {
  std::uint32_t version = CUPTI_API_VERSION;  // SIM_CUPTI_VERSION
  bool taken = false;                         // SIM_CUPTI_TAKEN=1: another tool holds CUPTI from the start
  std::uint64_t taken_ms = 0;                 // SIM_CUPTI_TAKEN_MS=N: it does for so long
  bool no_driver = false;                     // SIM_CUPTI_NO_DRIVER=1: as on a machine without libcuda
  bool old_driver = false;                    // SIM_CUPTI_OLD_DRIVER=1: older than r610
  std::uint64_t drop_every = 0;               // SIM_CUPTI_DROP_EVERY=N: each Nth record is dropped; 0: none
  std::uint64_t bad_times = 0;                // SIM_CUPTI_BAD_TIMES=N: each Nth work ends before it starts
  std::uint64_t zero_times = 0;               // SIM_CUPTI_ZERO_TIMES=N: each Nth work has no times
  std::uint64_t busy_percent = 0;             // SIM_CUPTI_BUSY_PCT=N: a thread of this library takes so much of a core
  const char* replay = nullptr;               // SIM_CUPTI_REPLAY=FILE: the records of a report
  bool replay_pace = false;                   // SIM_CUPTI_REPLAY_PACE=1: in the time that the report took
  std::uint64_t unknown_every = 0;            // SIM_CUPTI_UNKNOWN_EVERY=N: behind each Nth work a record nobody knows
};
const Behaviour& behaviour();
// Another tool holds CUPTI now.
bool is_taken();
// An error that sticks ended CUPTI: everything answers so.
bool is_dead();

// Null: no libcuda.so.1 in the process, or SIM_CUPTI_NO_DRIVER. Attaches to it at the first call that finds it.
const Driver* driver();

struct ClientClock;
inline constexpr std::size_t kAttributes = 8;  // that are remembered

// The process as a whole, which is what functions of CUPTI's version 1 are about (number 0), or a subscriber of version 2.
// Never deleted: application threads read the flags at every call, and a callback may still run.
struct Client {
  std::size_t number = 0;
  std::atomic<bool> is_subscribed{false};
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  char name[64] = "";
  std::atomic<bool> occupied{false};  // a thread is in one of the functions that the client serializes

  // Callbacks, by id.
  std::atomic<bool> on_driver[CUPTI_DRIVER_TRACE_CBID_SIZE]{};
  std::atomic<bool> on_runtime[CUPTI_RUNTIME_TRACE_CBID_SIZE]{};
  std::atomic<bool> on_resource[CUPTI_CBID_RESOURCE_SIZE]{};
  std::atomic<bool> on_synchronize[CUPTI_CBID_SYNCHRONIZE_SIZE]{};
#if CUPTI_API_VERSION >= 21  // CUDA 12.3
  std::atomic<bool> on_state[CUPTI_CBID_STATE_SIZE]{};
#endif
  // Records.
  std::atomic<bool> kinds[CUPTI_ACTIVITY_KIND_COUNT]{};
  std::atomic<bool> driver_calls[CUPTI_DRIVER_TRACE_CBID_SIZE]{};
  std::atomic<bool> runtime_calls[CUPTI_RUNTIME_TRACE_CBID_SIZE]{};
  std::atomic<bool> all_sync{true};  // synchronization records of queries that found their work unfinished too
  std::atomic<bool> system_ids{false};
  std::atomic<const ClientClock*> clock{nullptr};  // null: CUPTI's own
  std::uint64_t attributes[kAttributes]{};
  BufferState buffers;
};

Client& process_client();
// A new subscriber of version 2.
Client& add_client(const char* name);
// The subscriber of version 2; null: there is none (any more) with this handle.
Client* subscriber_of(CUpti_SubscriberHandle handle);
// Whose records the truth is about: the subscriber of version 2 that is called "tracetool", else the process.
Client& told();
void tell_of(Client& client);

std::size_t client_count();
Client& client(std::size_t number);
template <typename Each>
void each_client(const Each& each) {
  for (std::size_t i = 0; i < client_count(); ++i) each(client(i));
}

bool callback_enabled(const Client& client, CUpti_CallbackDomain domain, std::uint32_t cbid);
bool kind_enabled(const Client& client, CUpti_ActivityKind kind);
bool anything_enabled(const Client& client);  // a kind, or a single API function
bool api_enabled(const Client& client, CUpti_CallbackDomain domain, std::uint32_t cbid);
// A launch of a graph has one record, and its nodes have none.
bool graphs_are_whole(const Client& client);
// The number of callback ids of a domain; 0: no such domain.
std::uint32_t callback_count(CUpti_CallbackDomain domain);

// What the functions of both versions do, once they know whose it is about.
CUptiResult change_kind(Client& client, CUpti_ActivityKind kind, bool on);
CUptiResult enable_and_dump(Client& client, CUpti_ActivityKind kind);
CUptiResult change_driver_call(Client& client, CUpti_CallbackId cbid, bool on);
CUptiResult change_runtime_call(Client& client, CUpti_CallbackId cbid, bool on);
CUptiResult get_attribute(Client& client, CUpti_ActivityAttribute id, std::size_t* size, void* value);
CUptiResult set_attribute(Client& client, CUpti_ActivityAttribute id, const std::size_t* size, const void* value);
CUptiResult set_clock(Client& client, CUpti_TimestampCallbackFunc callback);  // null: CUPTI's own
CUptiResult set_thread_ids(Client& client, std::uint32_t type);
CUptiResult next_record(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record);
CUptiResult take_dropped(Client& client, std::size_t* dropped);
std::uint64_t now_of(const Client& client);
std::uint64_t to_cupti(const Client& client, std::uint64_t true_ns);

// The only subscriber, with functions of version 1.
CUptiResult subscribe_alone(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user, const char* name);
// A subscriber of version 2 with all that is its own.
void end_subscriber(Client& client);
void forget_subscriber(Client& client);  // with its callbacks
void forget_kinds(Client& client);
// For cuptiFinalize: subscribers of version 2, and which version is in use.
void forget_subscribers();
// Everything ends here: kinds, subscribers, buffers.
void die();

// The two versions do not mix (version_2.cpp). Each says that one of its functions is called; the answer to give where the
// other version is in use. `changes`: it asks for something, and does not only look.
CUptiResult use_version_1(bool changes);
CUptiResult use_version_2(bool changes);
bool has_subscribers();  // of version 2
std::size_t live_clients();

// What CUPTI answers before the driver is there; otherwise goes on. After it there must be no call any more.
#define SIM_NEED_DRIVER()                                   \
  sim::check_not_torn_down(__func__);                       \
  if (sim::driver() == nullptr) return CUPTI_ERROR_UNKNOWN; \
  if (sim::is_dead()) return CUPTI_ERROR_NOT_INITIALIZED

#define SIM_NEED_VERSION_1(changes) \
  if (const CUptiResult refused = sim::use_version_1(changes); refused != CUPTI_SUCCESS) return refused

}  // namespace sim
