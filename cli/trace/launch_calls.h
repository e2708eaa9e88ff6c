// The call that launched a piece of GPU work, found by its correlation. Bounded: about a million calls in all are kept, of
// each process the newest kMostCalls at most and kFewestCalls at least, which is more than wait for a device at once. A call
// takes about 48 bytes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/base/interning.h"

namespace cli {

struct LaunchCall {
  TrackId track = 0;  // the thread
  StringId name = 0;
  std::int64_t start_ns = 0, end_ns = 0;  // by the process's own clock; end_ns = start_ns where the end is not known
};

// Of a call, by the clock of its times.
LaunchCall launch_call(const Event& call);

// What joins a launch and its work within a Process: correlations of several processes in one file are apart.
inline std::uint64_t launch_key(const Track& track, std::uint64_t correlation) { return correlation ^ (std::uint64_t{track.launcher} << 40); }

// False if no CUDA call of the process is in the trace: nothing says when its GPU work was launched.
bool records_calls(const Process& process);

class LaunchCalls {
 public:
  static constexpr std::size_t kMostCalls = 1 << 16, kFewestCalls = 1 << 12;

  // Of a trace that was read: it tells how many calls will come. The catalogue outlives it.
  explicit LaunchCalls(const Catalog& catalog);

  // A call with a correlation, by start. Of calls within each other with one correlation (the driver's, in the runtime's)
  // the outermost counts. Its place, below kMostCalls, which it has until another one takes it; none: it does not count.
  std::optional<std::uint32_t> add(const Event& call) { return newest_ = place_for(call); }
  // Of the one that was added last, as add() said.
  std::optional<std::uint32_t> newest() const { return newest_; }
  // Of what is on the track. Null: there is none, or it is too long ago. Until the next add().
  const LaunchCall* of(TrackId track, std::uint64_t correlation) const;
  std::optional<std::uint32_t> place_of(TrackId track, std::uint64_t correlation) const;
  const LaunchCall& at(ProcessId process, std::uint32_t place) const { return processes_[process][place]; }
  // No more of this process is asked for.
  void forget(ProcessId process) { processes_[process] = Newest<LaunchCall>(most_); }

 private:
  std::optional<std::uint32_t> place_for(const Event& call);

  const Catalog& catalog_;
  std::size_t most_;  // of a process
  std::optional<std::uint32_t> newest_;
  std::vector<Newest<LaunchCall>> processes_;
};

}  // namespace cli
