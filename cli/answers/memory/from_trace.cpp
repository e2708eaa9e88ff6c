#include "cli/answers/memory/from_trace.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/answers/tables/launch_ranges.h"
#include "cli/trace/event_times.h"
#include "cli/trace/words.h"

namespace cli::memory {
namespace {

using snapshot::Action;
using snapshot::Entry;

// Returns false for amounts that no device has. They come from damaged files, and their sums could overflow.
bool is_size(std::int64_t bytes) { return std::abs(bytes / 2) < std::int64_t{1} << 50; }

std::uint64_t magnitude(std::int64_t bytes) { return static_cast<std::uint64_t>(std::abs(bytes)); }

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

}  // namespace

class TraceMemory::OfProcess {
 public:
  explicit OfProcess(const Catalog& catalog) : catalog_(catalog) {}

  void range(const Event& event) {
    const std::int64_t end_ns =
        event.duration_ns < 0 ? std::numeric_limits<std::int64_t>::max() : event.start_ns + event.duration_ns;
    std::vector<Open>& open = open_at(event.track, event.start_ns);
    StackFrame frame;
    for (auto around = open.rbegin(); around != open.rend(); ++around) {
      if (around->end_ns < end_ns) continue;
      frame.outer = around->stack;
      break;
    }
    const std::string_view name = catalog_.strings[event.name];
    Strings& strings = snapshot_.catalog.strings;
    if (event.kind != Kind::python_function || !is_python(name, frame, strings)) {
      frame.what = StackFrame::kNative;
      frame.name = strings.intern(name);
    }
    add_open(open, {end_ns, snapshot_.catalog.stacks.intern(frame)});
  }

  void allocator(const Event& event, const AllocatorFacts& facts) {
    const bool has_bytes = (facts.has & AllocatorFacts::kBytes) != 0 && is_size(facts.bytes) && facts.bytes != 0;
    const bool has_block = facts.is_failure() || (facts.has & AllocatorFacts::kAddress) != 0;
    if (facts.device_type == 0 || facts.device < 0 || !has_bytes || !has_block) return;
    OfDevice& device = of_allocator_[facts.device];
    if ((facts.has & AllocatorFacts::kReserved) != 0 && is_size(facts.reserved_bytes))
      reserve(event, facts.reserved_bytes, device);
    const StackId stack = stack_of(event, facts.stack);
    if (facts.is_failure()) {
      const bool is_known = (facts.has & AllocatorFacts::kFree) != 0;
      add({.action = Action::oom,
           .address = is_known ? facts.free_bytes : snapshot::kUnknownBytes,
           .bytes = magnitude(facts.bytes)},
          event, stack, device);
    } else {
      change(event, facts.address, magnitude(facts.bytes), facts.bytes > 0, stack, device);
    }
    if ((facts.has & AllocatorFacts::kAllocated) != 0 && is_size(facts.allocated_bytes))
      device.allocated_bytes = facts.allocated_bytes;
  }

  void driver(const Event& event, const MemoryFacts& facts) {
    if (!facts.is_known() || !is_device_memory(facts.memory)) return;
    change(event, facts.address, event.bytes, !facts.is_release(), stack_of(event, {}), of_driver_[facts.device]);
  }

  snapshot::Snapshot finish() {
    // The allocator divides memory of the driver, so its blocks are a part of the driver's.
    for (auto& [number, device] : of_allocator_.empty() ? of_driver_ : of_allocator_) {
      const auto index = static_cast<std::size_t>(number);
      if (snapshot_.histories.size() <= index) snapshot_.histories.resize(index + 1);
      std::uint64_t in_use = 0;
      snapshot::Segment segment;
      segment.device = number;
      segment.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(device.reserved_bytes, 0));
      segment.first_block = snapshot_.blocks.size();
      for (const auto& [address, block] : device.live) {
        snapshot_.blocks.push_back({address, block.bytes, block.bytes, snapshot::BlockState::active, block.stack});
        in_use += block.bytes;
      }
      const std::int64_t before = device.allocated_bytes - static_cast<std::int64_t>(in_use);
      if (before > 0) {
        const auto bytes = static_cast<std::uint64_t>(before);
        snapshot_.blocks.push_back({0, bytes, bytes, snapshot::BlockState::active, {}});
      }
      segment.blocks = snapshot_.blocks.size() - segment.first_block;
      snapshot_.segments.push_back(segment);
      snapshot_.histories[index] = std::move(device.history);
    }
    snapshot_.has_layout = false;
    return std::move(snapshot_);
  }

 private:
  struct Open {
    std::int64_t end_ns = 0;
    StackId stack{};
    std::int64_t first_end_ns = 0, last_end_ns = 0;  // set by note_ends()
  };
  struct Live {
    std::uint64_t bytes = 0;
    StackId stack{};
  };
  struct OfDevice {
    snapshot::History history;
    std::map<std::uint64_t, Live> live;  // by address
    std::int64_t allocated_bytes = 0;    // latest total of the allocator; 0 if unknown
    std::int64_t reserved_bytes = 0;
  };

  std::vector<Open>& open_at(TrackId track, std::int64_t ns) {
    if (track >= open_.size()) open_.resize(catalog_.tracks.size());
    drop_ended(open_[track], ns, [](const Open&) {});
    return open_[track];
  }

  // Returns the operators and ranges that are open on the event's thread. `python` is the Python stack that a recording
  // contains for the event; it becomes the caller of the outermost range, because ranges have no Python frames.
  StackId stack_of(const Event& event, StackId python) {
    const std::vector<Open>& open = open_at(event.track, event.start_ns);
    const StackId ranges = open.empty() ? StackId{} : open.back().stack;
    if (python == 0) return ranges;
    const auto [known, is_new] = joined_.try_emplace({ranges, python});
    if (is_new) known->second = called_by(ranges, copied(python));
    return known->second;
  }

  // Returns a stack of the trace as a stack of the snapshot.
  StackId copied(StackId stack) {
    std::vector<StackFrame> frames;
    for (StackId at = stack; at != 0; at = frames.back().outer) frames.push_back(catalog_.stacks[at]);
    StackId copy{};
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      for (StringId* text : {&frame->name, &frame->file, &frame->path})
        *text = snapshot_.catalog.strings.intern(catalog_.strings[*text]);
      frame->outer = copy;
      copy = snapshot_.catalog.stacks.intern(*frame);
    }
    return copy;
  }

  // Returns the frames of `inner`, the outermost of them called by `outer`.
  StackId called_by(StackId inner, StackId outer) {
    std::vector<StackFrame> frames;
    for (StackId at = inner; at != 0; at = frames.back().outer) frames.push_back(snapshot_.catalog.stacks[at]);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      frame->outer = outer;
      outer = snapshot_.catalog.stacks.intern(*frame);
    }
    return outer;
  }

  static void add(Entry entry, const Event& event, StackId stack, OfDevice& device) {
    entry.time_us = event.start_ns / 1000;
    entry.stack = stack;
    device.history.add(entry);
  }

  void change(const Event& event, std::uint64_t address, std::uint64_t bytes, bool is_allocation, StackId stack,
              OfDevice& device) {
    add({.action = is_allocation ? Action::alloc : Action::free_completed, .address = address, .bytes = bytes}, event,
        stack, device);
    if (is_allocation) {
      device.live[address] = {bytes, stack};
    } else {
      device.live.erase(address);
    }
  }

  void reserve(const Event& event, std::int64_t total, OfDevice& device) {
    const std::int64_t change = device.reserved_bytes == 0 ? 0 : total - device.reserved_bytes;
    device.reserved_bytes = total;
    if (change == 0) return;
    add({.action = change > 0 ? Action::segment_alloc : Action::segment_free, .bytes = magnitude(change)}, event, {},
        device);
  }

  const Catalog& catalog_;
  snapshot::Snapshot snapshot_;
  std::vector<std::vector<Open>> open_;                        // by TrackId
  std::map<std::pair<StackId, StackId>, StackId> joined_;      // by ranges and Python stack
  std::map<std::int64_t, OfDevice> of_allocator_, of_driver_;  // by device
};

TraceMemory::TraceMemory(const Catalog& catalog) : catalog_(catalog) {
  for (std::size_t i = 0; i < catalog.processes.size(); ++i) processes_.push_back(std::make_unique<OfProcess>(catalog));
}

TraceMemory::~TraceMemory() = default;

KindSet TraceMemory::kinds() {
  return kinds_of(
      {Kind::memory, Kind::instant, Kind::cpu_op, Kind::user_annotation, Kind::python_function, Kind::nvtx});
}

void TraceMemory::event(const Event& event, const Facts& facts) {
  OfProcess& process = *processes_[catalog_.tracks[event.track].process];
  if (const auto* allocator = facts.get<AllocatorFacts>()) return process.allocator(event, *allocator);
  if (const auto* driver = facts.get<MemoryFacts>()) return process.driver(event, *driver);
  const bool is_range = event.phase == 'X' && catalog_.tracks[event.track].kind == TrackKind::thread;
  if (is_range && event.kind != Kind::memory) process.range(event);
}

std::vector<snapshot::Snapshot> TraceMemory::finish() {
  std::vector<snapshot::Snapshot> snapshots;
  for (const auto& process : processes_) snapshots.push_back(process->finish());
  return snapshots;
}

}  // namespace cli::memory
