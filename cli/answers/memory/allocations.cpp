#include "cli/answers/memory/allocations.h"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/answers/tables/launch_ranges.h"
#include "cli/trace/event_times.h"
#include "cli/trace/words.h"

namespace cli::memory {
namespace {

// Parses an integer argument of Kineto's "[memory]" events that has no column: "Addr" or "Bytes". `args` is valid JSON.
std::optional<std::int64_t> integer_of(std::string_view args, std::string_view key) {
  const std::size_t at = args.find(key);
  if (at == args.npos) return {};
  const std::size_t begin = args.find_first_not_of(" :", at + key.size());
  if (begin == args.npos) return {};
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(args.data() + begin, args.data() + args.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// Returns false for amounts that no device has. They come from damaged files, and their sums could overflow.
bool is_size(std::int64_t bytes) { return std::abs(bytes / 2) < std::int64_t{1} << 50; }

// Returns false for ordinals that no device has. Results are kept in vectors by ordinal.
bool is_device(std::int64_t ordinal) { return ordinal >= 0 && ordinal < 4096; }

// Parses Kineto's name of a Python function: "train.py(12): step". Returns false for other names.
bool is_python(std::string_view name, StackFrame& frame, Strings& strings) {
  const std::size_t open = name.find('('), close = name.find("): ");
  if (open == name.npos || close == name.npos || close < open) return false;
  const auto [end, error] = std::from_chars(name.data() + open + 1, name.data() + close, frame.line);
  if (error != std::errc() || end != name.data() + close) return false;
  frame.file = strings.intern(name.substr(0, open));
  frame.name = strings.intern(name.substr(close + 3));
  frame.what = StackFrame::kPython;
  return true;
}

std::optional<Change> allocator_change(const Facts& facts, const AllocatorFacts& totals) {
  if (totals.device_type == 0 || !is_device(totals.device)) return {};
  std::string scratch;
  const std::string_view args = facts.foreign(scratch);
  const auto bytes = integer_of(args, "\"Bytes\"");
  const auto address = integer_of(args, "\"Addr\"");
  if (!bytes || !address || *bytes == 0 || !is_size(*bytes)) return {};
  const auto total = [&](AllocatorFacts::Has has, std::int64_t value) {
    return (totals.has & has) != 0 && is_size(value) ? std::optional(value) : std::nullopt;
  };
  return Change{totals.device,
                static_cast<std::uint64_t>(*address),
                static_cast<std::uint64_t>(std::abs(*bytes)),
                *bytes > 0,
                total(AllocatorFacts::kAllocated, totals.allocated_bytes),
                total(AllocatorFacts::kReserved, totals.reserved_bytes)};
}

}  // namespace

std::optional<Change> change_of(const Event& event, const Facts& facts) {
  if (const auto* totals = facts.get<AllocatorFacts>()) return allocator_change(facts, *totals);
  const auto* driver = facts.get<MemoryFacts>();
  if (driver == nullptr || !driver->is_known() || !is_device_memory(driver->memory) || !is_device(driver->device))
    return {};
  return Change{driver->device, driver->address, event.bytes, !driver->is_release(), {}, {}};
}

KindSet OpenStacks::kinds() {
  return kinds_of({Kind::cpu_op, Kind::user_annotation, Kind::python_function, Kind::nvtx});
}

void OpenStacks::event(const Event& event) {
  if (!is_slice(event) || !kinds().test(static_cast<std::size_t>(event.kind)) ||
      trace_.tracks[event.track].kind != TrackKind::thread)
    return;
  add_open(open_at(event.track, event.start_ns),
           {slice_end(event, kLatest_ns), event.name, event.kind == Kind::python_function});
}

StackId OpenStacks::at(TrackId thread, std::int64_t ns, Catalog& names) {
  std::vector<Open>& open = open_at(thread, ns);
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (!open[i].stack) open[i].stack = intern(open, i, names);
  }
  return open.empty() ? StackId{} : *open.back().stack;
}

std::vector<OpenStacks::Open>& OpenStacks::open_at(TrackId thread, std::int64_t ns) {
  if (thread >= open_.size()) open_.resize(trace_.tracks.size());
  drop_ended(open_[thread], ns, [](const Open&) {});
  return open_[thread];
}

// The caller is the newest range before it that does not end before it. Its stack is already interned.
StackId OpenStacks::intern(const std::vector<Open>& open, std::size_t index, Catalog& names) const {
  StackFrame frame;
  for (std::size_t outer = index; outer-- > 0;) {
    if (open[outer].end_ns < open[index].end_ns) continue;
    frame.outer = *open[outer].stack;
    break;
  }
  const std::string_view name = trace_.strings[open[index].name];
  if (!open[index].is_python || !is_python(name, frame, names.strings)) {
    frame.what = StackFrame::kNative;
    frame.name = names.strings.intern(name);
  }
  return names.stacks.intern(frame);
}

}  // namespace cli::memory
