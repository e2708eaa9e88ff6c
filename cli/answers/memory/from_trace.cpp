#include "cli/answers/memory/from_trace.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "cli/answers/tables/launch_ranges.h"
#include "cli/trace/event_times.h"
#include "cli/trace/words.h"

namespace cli::memory {
namespace {

using snapshot::Action;
using snapshot::Entry;

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

  void allocator(const Event& event, const Facts& facts, const AllocatorFacts& totals) {
    if (totals.device_type == 0 || totals.device < 0) return;
    std::string scratch;
    const std::string_view args = facts.foreign(scratch);
    const auto bytes = integer_of(args, "\"Bytes\"");
    const auto address = integer_of(args, "\"Addr\"");
    if (!bytes || !address || *bytes == 0 || !is_size(*bytes)) return;
    OfDevice& device = devices_[totals.device];
    if ((totals.has & AllocatorFacts::kReserved) != 0 && is_size(totals.reserved_bytes))
      reserve(event, totals.reserved_bytes, device);
    change(event, static_cast<std::uint64_t>(*address), static_cast<std::uint64_t>(std::abs(*bytes)), *bytes > 0,
           device);
    if ((totals.has & AllocatorFacts::kAllocated) != 0 && is_size(totals.allocated_bytes))
      device.allocated_bytes = totals.allocated_bytes;
  }

  void driver(const Event& event, const MemoryFacts& facts) {
    if (!facts.is_known() || !is_device_memory(facts.memory)) return;
    change(event, facts.address, event.bytes, !facts.is_release(), devices_[facts.device]);
  }

  snapshot::Snapshot finish() {
    for (auto& [number, device] : devices_) {
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

  void change(const Event& event, std::uint64_t address, std::uint64_t bytes, bool is_allocation, OfDevice& device) {
    Entry entry;
    entry.action = is_allocation ? Action::alloc : Action::free_completed;
    entry.address = address;
    entry.bytes = bytes;
    entry.time_us = event.start_ns / 1000;
    const std::vector<Open>& open = open_at(event.track, event.start_ns);
    if (!open.empty()) entry.stack = open.back().stack;
    device.history.add(entry);
    if (is_allocation) {
      device.live[address] = {bytes, entry.stack};
    } else {
      device.live.erase(address);
    }
  }

  void reserve(const Event& event, std::int64_t total, OfDevice& device) {
    const std::int64_t change = device.reserved_bytes == 0 ? 0 : total - device.reserved_bytes;
    device.reserved_bytes = total;
    if (change == 0) return;
    Entry entry;
    entry.action = change > 0 ? Action::segment_alloc : Action::segment_free;
    entry.bytes = static_cast<std::uint64_t>(std::abs(change));
    entry.time_us = event.start_ns / 1000;
    device.history.add(entry);
  }

  const Catalog& catalog_;
  snapshot::Snapshot snapshot_;
  std::vector<std::vector<Open>> open_;  // by TrackId
  std::map<std::int64_t, OfDevice> devices_;
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
  if (const auto* totals = facts.get<AllocatorFacts>()) return process.allocator(event, facts, *totals);
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
