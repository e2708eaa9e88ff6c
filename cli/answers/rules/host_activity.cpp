#include "cli/answers/rules/host_activity.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "cli/answers/tables/open_slices.h"
#include "cli/trace/event_times.h"
#include "cli/timeline/select/step_name.h"

namespace cli {

bool is_data_loading_name(std::string_view range) {
  static constexpr std::array<std::string_view, 7> kWords{"dataloader", "dataloading", "loaddata", "getbatch", "loadbatch", "nextbatch", "batchgenerator"};
  std::string plain;
  for (const char c : range) {
    if (c != '_' && c != '-' && c != ' ') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return plain.find(word) != std::string::npos; });
}

KindSet HostActivity::kinds() {
  return kinds_of({Kind::runtime, Kind::driver, Kind::cpu_op, Kind::user_annotation, Kind::nvtx, Kind::garbage_collection, Kind::python_function});
}

void HostActivity::Newest::add(const Range& range) {
  ranges.push_back(range);
  if (ranges.size() <= kMost) return;
  const Range& oldest = ranges.front();
  const std::int64_t now_ns = ranges[1].start_ns;
  looked_at += drop_ended(longer, now_ns, [&](const Range& each) { forgotten_to_ns = std::max(forgotten_to_ns, each.end_ns); });
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
    const std::int64_t within_ns = std::min(range.end_ns, ns + around_ns / 2) - std::max(range.start_ns, ns - around_ns / 2);
    if (2 * within_ns >= around_ns) function = &range;
  });
  if (function != nullptr && (inner == nullptr || inner->start_ns <= function->start_ns)) inner = function;
  if (outer == nullptr) outer = inner;
  if (outer == nullptr) return std::string(known.has_operators && ns >= known.ranges.forgotten_to_ns ? "outside of all operators" : unknown);
  const auto name = [&](const Range& range) { return "in " + std::string(catalog_.strings[range.name]); };
  return inner == outer ? name(*outer) : name(*outer) + ", " + name(*inner);
}

std::int64_t HostActivity::loading_ns(TrackId thread, std::int64_t from_ns, std::int64_t to_ns) const {
  std::int64_t sum_ns = 0;
  each_loading(thread, from_ns, to_ns, [&](std::int64_t start_ns, std::int64_t end_ns) { sum_ns += end_ns - start_ns; });
  return sum_ns;
}

std::optional<StringId> HostActivity::loading(TrackId thread) const {
  if (!is_known(thread) || threads_[thread]->loads.empty()) return std::nullopt;
  return threads_[thread]->loads.back().name;
}

}  // namespace cli
