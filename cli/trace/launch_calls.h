// Finds the call that launched a piece of GPU work by its correlation. Memory is bounded: about a million calls are
// kept in total, and between kFewestCalls and kMostCalls of the newest per process, which is more than can be queued on
// a device at once. A call takes about 48 bytes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cli/base/interning.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli {

struct LaunchCall {
  TrackId track = 0;  // of the calling thread
  StringId name = 0;
  std::int64_t start_ns = 0, end_ns = 0;  // by the process's own clock; end_ns = start_ns if the end is unknown
};

// Times are by the same clock as those of `call`.
LaunchCall launch_call(const Event& call);

// Returns a key that joins a launch and its work within a Process. It separates the correlations of several processes
// in one file.
inline std::uint64_t launch_key(const Track& track, std::uint64_t correlation) {
  return correlation ^ (std::uint64_t{track.launcher} << 40);
}

// Returns false if the trace has no CUDA calls of the process, so the launch times of its GPU work are unknown.
bool records_calls(const Process& process);

class LaunchCalls {
 public:
  static constexpr std::size_t kMostCalls = 1 << 16, kFewestCalls = 1 << 12;

  // The trace has been read: the catalogue contains the number of calls to expect. The catalogue must outlive this
  // object.
  explicit LaunchCalls(const Catalog& catalog);

  // Adds a call that has a correlation. Calls have to arrive in order of their start. If calls with one correlation are
  // nested (a driver call in a runtime call), only the outermost is added. Returns the slot of the call (below
  // kMostCalls), which is valid until another call takes it; empty if the call was not added.
  std::optional<std::uint32_t> add(const Event& call) { return newest_ = place_for(call); }
  // The result of the last add().
  std::optional<std::uint32_t> newest() const { return newest_; }
  // Returns the call that launched the work with this correlation on the track. Null if there is none or it is too old.
  // Valid until the next add().
  const LaunchCall* of(TrackId track, std::uint64_t correlation) const;
  std::optional<std::uint32_t> place_of(TrackId track, std::uint64_t correlation) const;
  const LaunchCall& at(ProcessId process, std::uint32_t place) const { return processes_[process][place]; }
  // Frees the calls of a process that needs no more lookups.
  void forget(ProcessId process) { processes_[process] = Newest<LaunchCall>(most_); }

 private:
  std::optional<std::uint32_t> place_for(const Event& call);

  const Catalog& catalog_;
  std::size_t most_;  // per process
  std::optional<std::uint32_t> newest_;
  std::vector<Newest<LaunchCall>> processes_;
};

}  // namespace cli
