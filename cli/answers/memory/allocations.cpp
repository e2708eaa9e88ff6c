#include "cli/answers/memory/allocations.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "cli/answers/tables/launch_ranges.h"
#include "cli/trace/event_times.h"
#include "cli/trace/words.h"

namespace cli::memory {
namespace {

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

std::optional<Change> allocator_change(const AllocatorFacts& facts) {
  const auto known = [&](AllocatorFacts::Has has, std::int64_t value) {
    return (facts.has & has) != 0 && is_size(value) ? std::optional(value) : std::nullopt;
  };
  const auto bytes = known(AllocatorFacts::kBytes, facts.bytes);
  const bool has_block = facts.is_failure() || (facts.has & AllocatorFacts::kAddress) != 0;
  if (facts.device_type == 0 || !is_device(facts.device) || bytes.value_or(0) == 0 || !has_block) return {};
  return Change{.type = facts.is_failure() ? Change::Type::failure
                        : *bytes > 0       ? Change::Type::allocation
                                           : Change::Type::release,
                .device = facts.device,
                .address = facts.address,
                .bytes = static_cast<std::uint64_t>(std::abs(*bytes)),
                .stream = facts.stream,
                .allocated_bytes = known(AllocatorFacts::kAllocated, facts.allocated_bytes),
                .reserved_bytes = known(AllocatorFacts::kReserved, facts.reserved_bytes),
                .free_bytes = known(AllocatorFacts::kFree, static_cast<std::int64_t>(facts.free_bytes)),
                .python = facts.stack};
}

// Calls visit(frame) from the outermost frame inwards.
template <typename Visit>
void each_frame_inwards(const Catalog& catalog, StackId stack, Visit&& visit) {
  std::vector<StackFrame> frames;
  for (StackId at = stack; at != 0; at = frames.back().outer) frames.push_back(catalog.stacks[at]);
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) visit(*frame);
}

}  // namespace

std::optional<Change> change_of(const Event& event, const Facts& facts) {
  if (const auto* allocator = facts.get<AllocatorFacts>()) return allocator_change(*allocator);
  const auto* driver = facts.get<MemoryFacts>();
  if (driver == nullptr || !driver->is_known() || !is_device_memory(driver->memory) || !is_device(driver->device))
    return {};
  return Change{.type = driver->is_release() ? Change::Type::release : Change::Type::allocation,
                .is_of_driver = true,
                .device = driver->device,
                .address = driver->address,
                .bytes = event.bytes};
}

OpenStacks::OpenStacks(const Catalog& trace) : trace_(trace), open_(trace.tracks.size()) {
  const bool has_instants = trace.strings.find("[memory]") != 0;
  for (const Process& process : trace.processes) {
    const auto count = [&](Kind kind) { return process.counts[static_cast<std::size_t>(kind)]; };
    has_allocations_.push_back(count(Kind::memory) > 0 || (has_instants && count(Kind::instant) > 0));
  }
}

KindSet OpenStacks::kinds() {
  return kinds_of({Kind::cpu_op, Kind::user_annotation, Kind::python_function, Kind::nvtx});
}

void OpenStacks::event(const Event& event) {
  const Track& track = trace_.tracks[event.track];
  if (!has_allocations_[track.process] || !is_slice(event) || !kinds().test(static_cast<std::size_t>(event.kind)) ||
      track.kind != TrackKind::thread)
    return;
  add_open(open_at(event.track, event.start_ns),
           {slice_end(event, kLatest_ns), event.name, event.kind == Kind::python_function});
}

StackId OpenStacks::stack_of(const Event& event, const Change& change, Catalog& names) {
  std::vector<Open>& open = open_at(event.track, event.start_ns);
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (!open[i].stack) open[i].stack = intern(open, i, names);
  }
  const StackId ranges = open.empty() ? StackId{} : *open.back().stack;
  if (change.python == 0) return ranges;
  const auto [known, is_new] = joined_.try_emplace({&names, ranges, change.python});
  if (is_new) {
    StackId stack = copied(change.python, names);
    each_frame_inwards(names, ranges, [&](StackFrame& frame) {
      frame.outer = stack;
      stack = names.stacks.intern(frame);
    });
    known->second = stack;
  }
  return known->second;
}

// Returns a stack of the trace as a stack of `names`.
StackId OpenStacks::copied(StackId stack, Catalog& names) const {
  StackId copy{};
  each_frame_inwards(trace_, stack, [&](StackFrame& frame) {
    for (StringId* text : {&frame.name, &frame.file, &frame.path}) *text = names.strings.intern(trace_.strings[*text]);
    frame.outer = copy;
    copy = names.stacks.intern(frame);
  });
  return copy;
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
