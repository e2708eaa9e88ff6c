#include "cli/answers/tables/host_waits.h"

#include "cli/trace/slice.h"

namespace cli {
namespace {

constexpr std::uint8_t kPageableMemory = 1;  // CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE

bool is_pageable(const Facts& facts) {
  const auto* copy = facts.get<CopyFacts>();
  return copy != nullptr && (copy->from_memory == kPageableMemory || copy->to_memory == kPageableMemory);
}

}  // namespace

std::optional<HostWait> HostWaits::of(const Event& call) {
  if (!is_api_call(call.kind) || !is_slice(call) || call.duration_ns < 0 || !names_[call.name].synchronizes) return std::nullopt;
  return outermost({call.track, call.name, call.start_ns, slice_end(call, kLatest_ns), false, false});
}

std::optional<HostWait> HostWaits::of(const GpuWork& work) {
  if (work.call == nullptr || work.call->end_ns < work.end_ns || !blocks(work)) return std::nullopt;
  return outermost({work.call->track, work.call->name, work.call->start_ns, work.call->end_ns, true, names_[work.name].copy == DerivedTrack::copy_h2d});
}

bool HostWaits::blocks(const GpuWork& work) {
  return work.kind == Kind::memcpy && (!names_[work.call->name].is_async || is_pageable(*work.facts));
}

std::optional<HostWait> HostWaits::outermost(const HostWait& wait) {
  const auto [last, is_first] = last_.try_emplace(wait.track, wait);
  if (is_first) return wait;
  const bool within = last->second.start_ns <= wait.start_ns && wait.end_ns <= last->second.end_ns;
  if (within) return std::nullopt;
  last->second = wait;
  return wait;
}

}  // namespace cli
