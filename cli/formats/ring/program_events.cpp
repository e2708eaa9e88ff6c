// Converts records of Python and PyTorch to events.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/formats/ring/operator_bytes.h"
#include "cli/formats/ring/translator.h"

namespace cli::ring {

// Converts PyTorch's operators and ranges to events by joining their begins and ends. Converts its allocations.

namespace {

class OperatorEvents : public RingTranslator {
 public:
  explicit OperatorEvents(RingOutput& out) : out_(out) {}

  void enter_block() override {
    block_inputs_.clear();
    block_stacks_.clear();
  }
  void skip_records() override { emit_open(); }
  void finish() override {
    emit_open();
    out_.note(endless_, "operators without an end: open when the recording ended");
    out_.note(unmatched_, "operator ends without a start (it was overwritten)");
  }

  void translate(const trace::OperatorBeginRecord& record, std::size_t at) {
    Open open;
    open.id = record.id;
    Event& event = open.event;
    event.kind = record.scope == static_cast<std::uint8_t>(trace::OperatorScope::user_scope) ? Kind::user_annotation
                                                                                             : Kind::cpu_op;
    event.track = out_.thread_track(record.tid);
    event.name = out_.names.string(record.name_ref, at);
    event.start_ns = out_.axis.from_mono(record.time_mono_ns);
    OperatorFacts& facts = open.facts;
    if ((record.has & trace::kHasSequence) != 0) {
      facts.has |= OperatorFacts::kSequenceNumber;
      facts.sequence_number = record.sequence;
    }
    if ((record.has & trace::kHasForwardThread) != 0) {
      facts.has |= OperatorFacts::kForwardThread;
      facts.forward_thread = record.forward_thread;
    }
    facts.inputs = inputs(record.inputs_ref, at);
    facts.stack = stack(record.stack_ref, at);
    facts.thread = record.thread;
    std::vector<Open>& stack = open_[record.tid];
    if (record.scope == static_cast<std::uint8_t>(trace::OperatorScope::backward_function) && !stack.empty())
      number_node(stack.back(), facts);
    stack.push_back(std::move(open));
  }

  // Usually the innermost one of its thread. An asynchronous range may end on another thread, whose block may be read
  // earlier.
  void translate(const trace::OperatorEndRecord& record, std::size_t) {
    const std::int64_t end_ns = out_.axis.from_mono(record.time_mono_ns);
    if (close(open_[record.tid], record.id, end_ns)) return;
    if (elsewhere_.size() < kMostElsewhere) {
      elsewhere_.push_back({record.id, end_ns});
    } else {
      ++unmatched_;
    }
  }

  // Uses the names of Kineto's events.
  void translate(const trace::AllocatorRecord& record, std::size_t at) {
    const auto action = static_cast<trace::AllocatorAction>(record.action);
    const bool is_failure = action == trace::AllocatorAction::fail;
    Event event;
    event.kind = Kind::memory;
    event.phase = 'i';
    event.track = out_.thread_track(record.tid);
    event.name = out_.catalog.strings.intern(is_failure ? "[OutOfMemory]" : "[memory]");
    event.start_ns = out_.axis.from_mono(record.time_mono_ns);
    AllocatorFacts facts;
    facts.device_type = record.device_type;
    facts.device = record.device;
    facts.allocated_bytes = static_cast<std::int64_t>(record.allocated_bytes);
    facts.reserved_bytes = static_cast<std::int64_t>(record.reserved_bytes);
    facts.has = AllocatorFacts::kDeviceId | AllocatorFacts::kAllocated | AllocatorFacts::kReserved |
                AllocatorFacts::kBytes | (is_failure ? AllocatorFacts::kFailure : AllocatorFacts::kAddress);
    const auto bytes = static_cast<std::int64_t>(record.bytes & std::numeric_limits<std::int64_t>::max());
    facts.bytes = action == trace::AllocatorAction::release ? -bytes : bytes;
    if (!is_failure) {
      facts.address = record.address;
    } else if (record.address != trace::AllocatorRecord::kUnknown) {
      facts.free_bytes = record.address;
      facts.has |= AllocatorFacts::kFree;
    }
    if (record.stream != trace::AllocatorRecord::kUnknown) {
      facts.stream = record.stream;
      facts.has |= AllocatorFacts::kStream;
    }
    facts.stack = stack(record.stack_ref, at);
    out_.emit(event, facts);
  }

 private:
  struct Open {
    std::uint32_t id = 0;
    Event event;
    OperatorFacts facts;
  };
  struct End {
    std::uint32_t id;
    std::int64_t time_ns;
  };
  static constexpr std::size_t kMostElsewhere = 4096;

  // Operators that autograd's engine runs around a node have the node's numbers, as in PyTorch's own profiles
  // (torch/csrc/profiler/collection.cpp).
  void number_node(Open& around, const OperatorFacts& node) const {
    if (!out_.catalog.strings[around.event.name].starts_with("autograd::engine::evaluate_function")) return;
    around.facts.has = node.has;
    around.facts.sequence_number = node.sequence_number;
    around.facts.forward_thread = node.forward_thread;
  }

  OperatorInputId inputs(std::uint32_t ref, std::size_t at) {
    if (ref == trace::kNoRef) return 0;
    auto& known = trace::is_local(ref) ? block_inputs_ : region_inputs_;
    const auto [entry, is_new] = known.try_emplace(ref, 0);
    if (is_new) entry->second = read_operator_inputs(out_.names.bytes(ref, at), out_.catalog);
    return entry->second;
  }

  StackId stack(std::uint32_t ref, std::size_t at) {
    if (ref == trace::kNoRef || ref == 0) return 0;  // 0 means not recorded, because no region begins with a string
    auto& known = trace::is_local(ref) ? block_stacks_ : region_stacks_;
    const auto [entry, is_new] = known.try_emplace(ref, 0);
    if (is_new) entry->second = out_.definitions.stack(out_.names.bytes(ref, at), at);
    return entry->second;
  }

  bool close(std::vector<Open>& stack, std::uint32_t id, std::int64_t end_ns) {
    const auto open = std::find_if(stack.rbegin(), stack.rend(),
                                   [&](const Open& each) { return each.id == id && each.event.start_ns <= end_ns; });
    if (open == stack.rend()) return false;
    Event& event = open->event;
    event.duration_ns = end_ns - event.start_ns;
    out_.emit(event, open->facts);
    stack.erase(std::next(open).base());
    return true;
  }

  // Operators that have not ended have an unknown duration.
  void emit_open() {
    for (const End& end : elsewhere_) {
      unmatched_ +=
          std::none_of(open_.begin(), open_.end(), [&](auto& each) { return close(each.second, end.id, end.time_ns); });
    }
    elsewhere_.clear();
    std::vector<Open> left;
    for (auto& [tid, stack] : open_) std::move(stack.begin(), stack.end(), std::back_inserter(left));
    open_.clear();
    endless_ += left.size();
    std::stable_sort(left.begin(), left.end(),
                     [](const Open& a, const Open& b) { return a.event.start_ns < b.event.start_ns; });
    for (Open& each : left) {
      each.event.duration_ns = kUnknownDuration;
      out_.emit(each.event, each.facts);
    }
  }

  RingOutput& out_;
  std::unordered_map<std::uint32_t, std::vector<Open>> open_;                        // by tid
  std::vector<End> elsewhere_;                                                       // the begin was on another thread
  std::unordered_map<std::uint32_t, OperatorInputId> region_inputs_, block_inputs_;  // by reference
  std::unordered_map<std::uint32_t, StackId> region_stacks_, block_stacks_;          // by reference
  std::uint64_t unmatched_ = 0;
  std::uint64_t endless_ = 0;  // operators whose end is not in the recording
};

}  // namespace

std::unique_ptr<RingTranslator> operator_translator(RingOutput& out, RingHandlers& handlers) {
  return make_translator<OperatorEvents>(out, handlers);
}

// Stacks of threads, and activity of Python itself: runs of its garbage collector.

namespace {

class PythonEvents : public RingTranslator {
 public:
  explicit PythonEvents(RingOutput& out) : out_(out) {}

  void translate(const trace::StackRecord& record, std::size_t at) {
    Event event;
    event.kind = Kind::stack;
    event.phase = 'i';
    event.track = out_.thread_track(record.tid);
    event.name = out_.catalog.strings.intern(
        record.reason == static_cast<std::uint8_t>(trace::StackReason::hang) ? "stack in a hang" : "stack of a call");
    event.start_ns = out_.axis.from_mono(record.time_mono_ns);
    event.correlation = record.correlation_id;
    StackFacts facts;
    facts.reason = record.reason;
    facts.stack = out_.definitions.stack(out_.names.bytes(record.stack_ref, at), at);
    out_.emit(event, facts);
  }

  void translate(const trace::GarbageCollectionRecord& record, std::size_t) {
    Event event;
    event.kind = Kind::garbage_collection;
    event.track = out_.thread_track(record.tid);
    event.name = name(record.generation);
    event.start_ns = out_.axis.from_mono(record.start_mono_ns);
    event.duration_ns = RingOutput::duration(record.start_mono_ns, record.end_mono_ns);
    GarbageCollectionFacts facts;
    facts.generation = record.generation;
    facts.collected = record.collected;
    facts.uncollectable = record.uncollectable;
    out_.emit(event, facts);
  }

 private:
  StringId name(std::uint8_t generation) {
    std::optional<StringId>& known = names_[generation];
    if (!known) known = out_.catalog.strings.intern(fmt::format("garbage collection (generation {})", generation));
    return *known;
  }

  RingOutput& out_;
  std::array<std::optional<StringId>, 256> names_;  // by generation
};

}  // namespace

std::unique_ptr<RingTranslator> python_translator(RingOutput& out, RingHandlers& handlers) {
  return make_translator<PythonEvents>(out, handlers);
}

}  // namespace cli::ring
