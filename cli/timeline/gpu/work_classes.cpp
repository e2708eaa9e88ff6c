#include "cli/timeline/gpu/work_classes.h"

#include <algorithm>
#include <limits>

#include "cli/timeline/gpu/name_rules.h"
#include "cli/trace/event_times.h"
#include "cli/trace/names.h"

namespace cli {

namespace {

constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

// Returns null for other kinds of work.
const GraphNode* graph_node(const Facts& facts) {
  if (const auto* kernel = facts.get<KernelFacts>()) return &kernel->graph;
  if (const auto* copy = facts.get<CopyFacts>()) return &copy->graph;
  if (const auto* set = facts.get<SetFacts>()) return &set->graph;
  return nullptr;
}

}  // namespace

WorkClasses::WorkClasses(const Catalog& catalog, const NameRules* own)
    : catalog_(catalog),
      own_(own),
      names_(catalog.strings),
      nccl_end_ns_(catalog.tracks.size(), std::numeric_limits<std::int64_t>::min()),
      launches_(catalog.processes.size()) {
  for (ProcessId id = 0; id < catalog.processes.size(); ++id) any_recording_ = any_recording_ || is_recording(id);
}

KindSet WorkClasses::kinds() {
  return kinds_of(
      {Kind::kernel, Kind::memcpy, Kind::memset, Kind::graph, Kind::runtime, Kind::driver, Kind::nccl, Kind::nvtx});
}

void WorkClasses::event(const Event& event) {
  if (!any_recording_) return;
  const bool may_launch = event.kind == Kind::nccl || event.kind == Kind::nvtx;
  if (!may_launch && !(is_api_call(event.kind) && event.correlation != 0)) return;
  const ProcessId process = catalog_.tracks[event.track].process;
  if (!is_recording(process)) return;
  std::int64_t& end_ns = nccl_end_ns_[event.track];
  if (may_launch) {
    if (!is_slice(event) || (event.kind == Kind::nvtx && !names_[event.name].ends_nccl_group)) return;
    // A call without an end lasts until the thread's next call.
    const bool known = end_ns != kNoEnd && event.duration_ns >= 0;
    end_ns = known ? std::max(end_ns, slice_end(event, kNoEnd)) : slice_end(event, kNoEnd);
    return;
  }
  if (event.start_ns >= end_ns) return;
  launches_[process].add(event.correlation);
}

void WorkClasses::Launches::add(std::uint64_t correlation) {
  if (has(correlation)) return;
  bits_[correlation / 64] |= std::uint64_t{1} << correlation % 64;
  order_.push_back(correlation);
  if (order_.size() > kMostLaunches) {
    const auto oldest = bits_.find(order_.front() / 64);
    oldest->second &= ~(std::uint64_t{1} << order_.front() % 64);
    if (oldest->second == 0) bits_.erase(oldest);
    order_.pop_front();
  }
  look_up(correlation / 64);
}

void WorkClasses::Launches::look_up(std::uint64_t word) const {
  const auto found = bits_.find(word);
  last_ = word;
  last_bits_ = found == bits_.end() ? 0 : found->second;
}

bool WorkClasses::is_of_call(const Event& event, const Facts& facts) const {
  if (!any_recording_) return false;
  const GraphNode* node = graph_node(facts);
  if (node != nullptr && catalog_.captures[node->capture].in_call) return true;
  return event.correlation != 0 && launches_[catalog_.tracks[event.track].process].has(event.correlation);
}

bool WorkClasses::communicates(StringId name, Kind kind) {
  if (name >= by_name_.size())
    by_name_.resize(std::max<std::size_t>(catalog_.strings.size(), name + std::size_t{1}), ByName::unseen);
  ByName& known = by_name_[name];
  if (known == ByName::unseen) {
    const std::string_view text = catalog_.strings[name];
    const NameRules::Rule* rule = own_ != nullptr ? own_->of(matched_name(text)) : nullptr;
    known = rule != nullptr && rule->class_name == kCommunicationClass ? ByName::any
            : is_comm_name(text) || is_exchange_name(text)             ? ByName::kernel
                                                                       : ByName::none;
  }
  return known == ByName::any || (known == ByName::kernel && kind == Kind::kernel);
}

WorkClass WorkClasses::of(const Event& event, const Facts& facts) {
  if (communicates(event.name, event.kind) || is_of_call(event, facts)) return WorkClass::comm;
  return event.kind == Kind::memcpy || event.kind == Kind::memset ? WorkClass::memory : WorkClass::compute;
}

}  // namespace cli
