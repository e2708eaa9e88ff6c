#include "cli/model/launch_calls.h"

#include "cli/model/slice.h"

namespace cli {

namespace {

std::uint64_t calls_of(const Process& process) {
  return process.counts[static_cast<std::size_t>(Kind::runtime)] + process.counts[static_cast<std::size_t>(Kind::driver)];
}

}  // namespace

bool records_calls(const Process& process) { return calls_of(process) > 0; }

LaunchCalls::LaunchCalls(const Catalog& catalog) : LaunchCalls(catalog.processes.size()) {
  for (std::size_t id = 0; id < processes_.size(); ++id) processes_[id] = Newest<LaunchCall>(most_, calls_of(catalog.processes[id]));
}

LaunchCall launch_call(const Event& call) {
  return {call.track, call.name, call.start_ns, call.duration_ns < 0 ? call.start_ns : slice_end(call, kLatest_ns)};
}

std::optional<std::uint32_t> LaunchCalls::place_for(ProcessId process, const Event& call) {
  Newest<LaunchCall>& calls = processes_[process];
  const auto known = calls.find(call.correlation);
  if (known != Newest<LaunchCall>::kNone) {
    const LaunchCall& outer = calls[known];
    if (outer.track == call.track && call.start_ns <= outer.end_ns) return std::nullopt;
  }
  return calls.add(call.correlation, launch_call(call), known);
}

const LaunchCall* LaunchCalls::of(ProcessId process, std::uint64_t correlation) const {
  const auto place = place_of(process, correlation);
  return place ? &processes_[process][*place] : nullptr;
}

std::optional<std::uint32_t> LaunchCalls::place_of(ProcessId process, std::uint64_t correlation) const {
  if (correlation == 0) return std::nullopt;
  const auto place = processes_[process].find(correlation);
  return place == Newest<LaunchCall>::kNone ? std::nullopt : std::optional(place);
}

}  // namespace cli
