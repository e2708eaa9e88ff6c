#include "cli/answers/rules/gap_claims.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "cli/answers/tables/launch_ranges.h"
#include "cli/timeline/select/step_name.h"
#include "cli/trace/event_times.h"

namespace cli::rules {

bool is_data_loading_name(std::string_view range) {
  static constexpr std::array<std::string_view, 7> kWords{"dataloader", "dataloading", "loaddata",      "getbatch",
                                                          "loadbatch",  "nextbatch",   "batchgenerator"};
  std::string plain;
  for (const char c : range) {
    if (c != '_' && c != '-' && c != ' ') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return plain.find(word) != std::string::npos; });
}

KindSet HostActivity::kinds() {
  return kinds_of({Kind::runtime, Kind::driver, Kind::cpu_op, Kind::user_annotation, Kind::nvtx,
                   Kind::garbage_collection, Kind::python_function});
}

void HostActivity::Newest::add(const Range& range) {
  ranges.push_back(range);
  if (ranges.size() <= kMost) return;
  const Range& oldest = ranges.front();
  const std::int64_t now_ns = ranges[1].start_ns;
  looked_at +=
      drop_ended(longer, now_ns, [&](const Range& each) { forgotten_to_ns = std::max(forgotten_to_ns, each.end_ns); });
  if (oldest.end_ns > now_ns && longer.size() < kMost) {
    add_open(longer, oldest);
  } else {
    forgotten_to_ns = std::max(forgotten_to_ns, oldest.end_ns);
  }
  ranges.pop_front();
}

bool HostActivity::loads_data(StringId name) {
  if (name >= loads_data_.size()) loads_data_.resize(name + std::size_t{1});
  if (loads_data_[name] == 0) loads_data_[name] = is_data_loading_name(catalog_.strings[name]) ? 2 : 1;
  return loads_data_[name] == 2;
}

void HostActivity::event(const Event& event) {
  if (!is_slice(event) || catalog_.tracks[event.track].kind != TrackKind::thread) return;
  if (event.track >= threads_.size()) threads_.resize(event.track + std::size_t{1});
  if (!threads_[event.track]) {
    threads_[event.track] = std::make_unique<Thread>();
    known_threads_.push_back(event.track);
  }
  Thread& thread = *threads_[event.track];
  Range range{event.start_ns, slice_end(event, kLatest_ns), event.name};
  if (event.kind == Kind::python_function) return thread.functions.add(range);
  thread.ranges.add(range);
  if (is_api_call(event.kind) || event.kind == Kind::garbage_collection) return;
  thread.has_operators = true;
  if (!loads_data(event.name)) return;
  range.last_end_ns = std::max(range.end_ns, thread.loads.empty() ? range.end_ns : thread.loads.back().last_end_ns);
  thread.loads.push_back(range);
  if (thread.loads.size() > kMost) thread.loads.pop_front();
}

std::string HostActivity::text(TrackId thread, std::int64_t ns, std::int64_t around_ns) const {
  const std::string_view unknown = "host state unknown";
  if (!is_known(thread)) return std::string(unknown);
  const Thread& known = *threads_[thread];
  const Range *inner = nullptr, *outer = nullptr, *function = nullptr;
  known.ranges.each_at(ns, [&](const Range& range) {
    if (step_name(catalog_.strings[range.name])) return;
    if (outer == nullptr) outer = &range;
    inner = &range;
  });
  known.functions.each_at(ns, [&](const Range& range) {
    const std::int64_t within_ns =
        std::min(range.end_ns, ns + around_ns / 2) - std::max(range.start_ns, ns - around_ns / 2);
    if (2 * within_ns >= around_ns) function = &range;
  });
  if (function != nullptr && (inner == nullptr || inner->start_ns <= function->start_ns)) inner = function;
  if (outer == nullptr) outer = inner;
  if (outer == nullptr)
    return std::string(known.has_operators && ns >= known.ranges.forgotten_to_ns ? "outside of all operators"
                                                                                 : unknown);
  const auto name = [&](const Range& range) { return "in " + std::string(catalog_.strings[range.name]); };
  return inner == outer ? name(*outer) : name(*outer) + ", " + name(*inner);
}

std::int64_t HostActivity::loading_ns(TrackId thread, std::int64_t from_ns, std::int64_t to_ns) const {
  std::int64_t sum_ns = 0;
  each_loading(thread, from_ns, to_ns,
               [&](std::int64_t start_ns, std::int64_t end_ns) { sum_ns += end_ns - start_ns; });
  return sum_ns;
}

std::optional<StringId> HostActivity::loading(TrackId thread) const {
  if (!is_known(thread) || threads_[thread]->loads.empty()) return std::nullopt;
  return threads_[thread]->loads.back().name;
}

namespace {

constexpr std::uint8_t kPageableKind = 1;  // CUpti_ActivityMemoryKind

}  // namespace

bool is_from_pageable(const GpuWork& work) {
  const auto* copy = work.facts->get<CopyFacts>();
  return copy != nullptr && copy->from_memory == kPageableKind;
}

void GapClaims::event(const Event& event) {
  activity_.event(event);
  allocations_.event(event);
  optimizers_.event(event);
}

void GapClaims::end_of(ProcessId process) {
  activity_.end_of(process);
  allocations_.end_of(process);
  optimizers_.end_of(process);
  after_optimizer_.erase(after_optimizer_.lower_bound({process, INT64_MIN}),
                         after_optimizer_.lower_bound({process + 1, INT64_MIN}));
}

void GapClaims::work(const GpuWork& work) { after_optimizer_[{work.process, work.device}] = optimizers_.has(work); }

void GapClaims::claim_span(GapOwner owner, std::int64_t from_ns, std::int64_t to_ns) {
  std::int64_t at_ns = from_ns;
  for (const Span& each : taken_) {  // sorted by start and disjoint
    if (each.to_ns <= at_ns) continue;
    if (each.from_ns >= to_ns) break;
    ns_[static_cast<std::size_t>(owner)] += std::max<std::int64_t>(0, each.from_ns - at_ns);
    at_ns = each.to_ns;
  }
  ns_[static_cast<std::size_t>(owner)] += std::max<std::int64_t>(0, to_ns - at_ns);
  if (from_ns >= to_ns) return;
  Span whole{from_ns, to_ns};
  std::erase_if(taken_, [&](const Span& each) {
    if (each.to_ns < whole.from_ns || each.from_ns > whole.to_ns) return false;
    whole = {std::min(whole.from_ns, each.from_ns), std::max(whole.to_ns, each.to_ns)};
    return true;
  });
  taken_.insert(std::upper_bound(taken_.begin(), taken_.end(), whole,
                                 [](const Span& a, const Span& b) { return a.from_ns < b.from_ns; }),
                whole);
}

bool GapClaims::blocks_to_device(const GpuWork& work) {
  if (work.kind != Kind::memcpy || names_[work.name].copy != DerivedTrack::copy_h2d) return false;
  return is_from_pageable(work) ||
         (work.call != nullptr && !names_[work.call->name].is_async && !names_[work.call->name].launches_graph);
}

GapClaims::Holder GapClaims::holder_of(const DeviceGap& gap) const {
  if (const std::int64_t ns = allocations_.call_ns(gap.process, gap.from_ns); ns > 0)
    return {GapOwner::allocation, std::min(gap.to_ns, gap.from_ns + ns)};
  if (!gap.wait) return {std::nullopt, gap.from_ns};
  return {gap.wait->for_copy && gap.wait->to_device ? GapOwner::blocking_copy : GapOwner::host_sync,
          gap.waited_to_ns()};
}

GapClaims::Span GapClaims::span_of(GapOwner owner, std::int64_t from_ns, std::int64_t to_ns) const {
  if (!holder_.owner || owner == GapOwner::garbage_collection || owner == GapOwner::data_loading)
    return {from_ns, to_ns};
  const std::int64_t held_to_ns = std::clamp(holder_.to_ns, from_ns, to_ns);
  return owner == *holder_.owner ? Span{from_ns, held_to_ns} : Span{held_to_ns, to_ns};
}

void GapClaims::claim(const DeviceGap& gap, std::int64_t from_ns, std::int64_t to_ns) {
  ns_ = without_optimizer_ns_ = {};
  taken_.clear();
  if (gap.collections != nullptr) {
    for (std::size_t i = 0; i < gap.part_count; ++i) {
      const DeviceGap::Part& part = gap.parts[i];
      if (part.cause != IdleCause::after_sync && part.cause != IdleCause::host_late) continue;
      gap.collections->each_within(std::max(from_ns, part.from_ns), std::min(to_ns, part.to_ns),
                                   [&](std::int64_t start_ns, std::int64_t end_ns) {
                                     claim_span(GapOwner::garbage_collection, start_ns, end_ns);
                                   });
    }
  }
  allocations_.each_within(gap.process, from_ns, to_ns, [&](const LateAllocations::Call& call) {
    claim_span(GapOwner::allocation, std::max(from_ns, call.start_ns), std::min(to_ns, call.end_ns));
  });
  if (gap.next->call != nullptr) {
    activity_.each_loading(
        gap.next->call->track, from_ns, std::min(to_ns, gap.next->call->start_ns),
        [&](std::int64_t start_ns, std::int64_t end_ns) { claim_span(GapOwner::data_loading, start_ns, end_ns); });
  }
  std::int64_t named_ns = 0;
  for (const std::int64_t ns : ns_) named_ns += ns;

  holder_ = holder_of(gap);
  if (holder_.owner && 2 * named_ns < to_ns - from_ns)
    claim_span(*holder_.owner, from_ns, std::min(to_ns, holder_.to_ns));
  const Times named = ns_;
  const bool blocks = blocks_to_device(*gap.next);
  for (std::size_t i = 0; i < gap.part_count; ++i) {
    const DeviceGap::Part& part = gap.parts[i];
    const std::int64_t part_from_ns = std::max({from_ns, holder_.to_ns, part.from_ns}),
                       part_to_ns = std::min(to_ns, part.to_ns);
    const auto owner = [&]() -> std::optional<GapOwner> {
      switch (part.cause) {
        case IdleCause::copy:
          return blocks ? std::optional(GapOwner::blocking_copy) : std::nullopt;
        case IdleCause::launch:
        case IdleCause::queued:
          return GapOwner::launches;
        case IdleCause::host_late:
          return GapOwner::host_late;
        case IdleCause::unexplained:
          return GapOwner::unexplained;
        default:
          return std::nullopt;
      }
    }();
    if (owner && part_from_ns < part_to_ns) claim_span(*owner, part_from_ns, part_to_ns);
  }
  if (!after_optimizer_[{gap.process, gap.device}] || !optimizers_.has(*gap.next)) return;
  for (const GapOwner owner : {GapOwner::launches, GapOwner::host_late}) {
    const auto i = static_cast<std::size_t>(owner);
    without_optimizer_ns_[i] = ns_[i];
    ns_[static_cast<std::size_t>(GapOwner::optimizer)] += ns_[i];
    ns_[i] = named[i];
  }
}

}  // namespace cli::rules
