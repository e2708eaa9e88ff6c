#include "cli/overlay/memory_rows.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "cli/model/rank_list.h"

namespace cli {
namespace {

constexpr std::int64_t kHost = 0;  // c10::DeviceType::CPU

// The whole number behind `key`, which has its quotes and colon: within a string the quotes would be escaped.
std::optional<std::int64_t> number(std::string_view args, std::string_view key) {
  const std::size_t at = args.find(key);
  if (at == args.npos) return std::nullopt;
  const char* const end = args.data() + args.size();
  const char* digits = std::find_if(args.data() + at + key.size(), end, [](char c) { return c != ' '; });
  std::int64_t value = 0;
  if (std::from_chars(digits, end, value).ec != std::errc()) return std::nullopt;
  return value;
}

bool is_device_memory(std::string_view name) {
  return name.ends_with("(Device)") || name.ends_with("(Array)") || name.ends_with("(Device Static)");
}

bool knows_all_allocations(const Process& p) {
  const auto of_memory = [](const KindCounts& counts) { return counts[static_cast<std::size_t>(Kind::memory)]; };
  return of_memory(p.overwritten) == 0 && of_memory(p.lost) == 0 && p.lost_unknown_kind == 0 &&
         p.recorder.sunk_buffers == 0 &&
         std::none_of(p.notices.begin(), p.notices.end(), [](const Notice& n) { return n.what == "gap"; });
}

}  // namespace

MemoryRows::MemoryRows(const Catalog& catalog, ProcessId process, DerivedSink& sink)
    : catalog_(&catalog),
      process_(process),
      sink_(&sink),
      all_known_(knows_all_allocations(catalog.processes[process])) {}

void MemoryRows::event(const Event& event, std::string_view args) {
  if (event.kind == Kind::memory) return allocation(event);
  if (event.kind == Kind::instant && catalog_->strings[event.name] == "[memory]") allocator_says(event.start_ns, args);
}

void MemoryRows::allocator_says(std::int64_t ns, std::string_view args) {
  const auto type = number(args, "\"Device Type\":"), id = number(args, "\"Device Id\":");
  const auto allocated = number(args, "\"Total Allocated\":"), reserved = number(args, "\"Total Reserved\":");
  if (!type) return;
  Rows& of = rows(*type == kHost ? -1 : id.value_or(0));
  if (allocated) of.allocated.set(ns, static_cast<double>(*allocated));
  if (reserved && *type != kHost) of.reserved.set(ns, static_cast<double>(*reserved));
}

void MemoryRows::allocation(const Event& event) {
  const std::string_view name = catalog_->strings[event.name];
  const bool release = name.starts_with("Release");
  if (!is_device_memory(name) || (!release && !name.starts_with("Allocate"))) return;
  if (!all_known_) return void(unknown_ = true);
  Rows& of = rows(catalog_->tracks[event.track].group);
  of.live_bytes += static_cast<std::int64_t>(release ? -event.bytes : event.bytes);
  of.allocated.set(event.start_ns, static_cast<double>(of.live_bytes));
}

MemoryRows::Rows& MemoryRows::rows(std::int64_t device) {
  const auto at = devices_.find(device);
  if (at != devices_.end()) return at->second;
  const RowOut out{sink_, process_, device};
  return devices_.emplace(device, Rows{{out, DerivedRow::allocated}, {out, DerivedRow::reserved}}).first->second;
}

void MemoryRows::cut(std::int64_t at_ns) {
  for (auto& [device, of] : devices_) of.allocated.cut(at_ns), of.reserved.cut(at_ns);
}

void MemoryRows::finish() {
  for (auto& [device, of] : devices_) of.allocated.finish(), of.reserved.finish();
}

void MemoryRows::add_notes(std::vector<std::string>& notes) const {
  if (!unknown_) return;
  const Process& p = catalog_->processes[process_];
  notes.push_back((p.rank >= 0 ? rank_list({p.rank}) : p.source) +
                  ": no row of allocated memory, for some allocations are not in the recording");
}

}  // namespace cli
