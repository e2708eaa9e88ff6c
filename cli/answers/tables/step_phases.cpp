// step_phases: busy GPU time in a training step by phase: forward, backward, optimizer, communication.
//
// The phase of GPU work is that of the ranges open on the launching thread when the launch call began. The first match
// counts: optimizer (Optimizer.step#, Optimizer.zero_grad#, ranges named optimizer), backward (autograd's engine;
// ranges named backward), forward (operators with an autograd sequence number; ranges named forward, DDP's forward).
// The recomputation of a checkpointed layer is thus backward. torch::autograd::... alone does not mark the backward
// pass, which is then unknown, and its work is other. Communication has no phase: it counts if nothing else runs.
// If work of several phases runs at once, the time counts for the first of forward, backward, optimizer, other,
// communication. The phases therefore add up to the busy time.
#include <map>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/launch_ranges.h"
#include "cli/trace/names.h"

namespace cli {
namespace {

enum class StepPhase : std::uint8_t { forward, backward, optimizer, other, comm };  // in order of precedence
constexpr std::size_t kStepPhases = 5;
constexpr std::size_t kToldPhases = 3;  // the first ones, which ranges mark

std::vector<Column> phase_columns(RowKeys keys) {
  return joined(
      joined({kStepColumn}, process_columns(keys)),
      {kDeviceColumn,
       {"busy_ns", Unit::ns, "Time with any GPU work in the step; sum of the next five columns"},
       {"forward_ns", Unit::ns,
        "Time of GPU work launched by forward operators; unknown if no range identifies the pass"},
       {"backward_ns", Unit::ns,
        "Time of GPU work launched by autograd's engine; unknown if no range identifies the pass"},
       {"optimizer_ns", Unit::ns, "Time of GPU work launched in an optimizer step; unknown if no range identifies it"},
       {"comm_ns", Unit::ns, "Time with communication and no other GPU work"},
       {"other_ns", Unit::ns, "Time of GPU work in no known phase"}});
}

// Phase of names that contain it, independent of other facts about the range.
StepPhase named_phase(std::string_view name) {
  static_assert(static_cast<int>(StepPhase::optimizer) == static_cast<int>(TrainingPhase::optimizer));
  const auto phase = training_phase(name);
  return phase ? static_cast<StepPhase>(*phase) : StepPhase::other;
}

// Total time covered by overlapping intervals, which arrive by start.
struct Covered {
  std::int64_t ns = 0, to_ns = std::numeric_limits<std::int64_t>::min();

  void add(std::int64_t start_ns, std::int64_t end_ns) {
    ns += std::max<std::int64_t>(0, end_ns - std::max(start_ns, to_ns));
    to_ns = std::max(to_ns, end_ns);
  }
};

class StepPhases : public Analysis {
 public:
  explicit StepPhases(const AnalysisContext& context)
      : Analysis(context),
        ranges_(context),
        names_(context.catalog.strings.size(), kUnseen),
        told_(context.catalog.processes.size()) {}

  void event(const Event& event, const Facts& facts) override {
    if (!is_slice(event)) return;
    settle(event.start_ns);
    if (is_api_call(event.kind)) {
      if (event.correlation != 0) ranges_.call(event);
      return;
    }
    const StepPhase phase = phase_of(event, facts.get<OperatorFacts>());
    if (phase == StepPhase::other) return;
    if (!tells_no_phase(name_of(event.name)))
      told_[context_.catalog.tracks[event.track].process][static_cast<std::size_t>(phase)] = true;
    const std::int64_t end_ns = slice_end(event, kLatest_ns);
    const auto& open = ranges_.open_at(event.track, event.start_ns);
    const bool is_within = std::any_of(open.begin(), open.end(),
                                       [&](const auto& each) { return each.range == phase && each.end_ns >= end_ns; });
    if (!is_within) ranges_.open(event.track, {event.start_ns, end_ns, phase});
  }

  void end_of(ProcessId process) override {
    ranges_.end_of(process, [&](const Event& call) { launch(call); });
  }

  void work(const GpuWork& work) override {
    ranges_.settle([&](const Event& call) { launch(call); });
    const StepPhase* launcher = ranges_.of(work);
    const StepPhase phase = work.work_class == WorkClass::comm ? StepPhase::comm
                            : launcher != nullptr              ? *launcher
                                                               : StepPhase::other;
    std::vector<Times>& times = devices_[{work.process, work.device}];
    if (times.empty()) times.resize(context_.windows.of(work.process).size());
    context_.windows.each_part(work.process, work.start_ns, work.end_ns,
                               [&](std::size_t i, std::int64_t start_ns, std::int64_t end_ns) {
                                 for (std::size_t each = static_cast<std::size_t>(phase); each < kStepPhases; ++each)
                                   times[i][each].add(start_ns, end_ns);
                               });
  }

  void finish(ResultTable& table) override {
    for (const auto& [place, times] : devices_) {
      const auto& windows = context_.windows.of(place.first);
      for (std::size_t i = 0; i < windows.size(); ++i) {
        if (windows[i].step) table.rows.push_back(cells(place.first, place.second, *windows[i].step, times[i]));
      }
    }
    if (table.rows.empty()) table.notes.push_back("no training steps with GPU work were found (see --only steps)");
  }

 private:
  static constexpr std::uint8_t kUnseen = 0xff;
  // Each entry includes all phases before it.
  using Times = std::array<Covered, kStepPhases>;

  StepPhase phase_of(const Event& event, const OperatorFacts* facts) {
    std::uint8_t& known = names_[event.name];
    if (known == kUnseen) known = static_cast<std::uint8_t>(named_phase(name_of(event.name)));
    const auto named = static_cast<StepPhase>(known);
    if (named != StepPhase::other || facts == nullptr || event.kind != Kind::cpu_op) return named;
    if (is_backward(*facts)) return StepPhase::backward;
    return (facts->has & OperatorFacts::kSequenceNumber) != 0 ? StepPhase::forward : StepPhase::other;
  }

  void settle(std::int64_t start_ns) {
    ranges_.settle(start_ns, [&](const Event& call) { launch(call); });
  }

  void launch(const Event& call) {
    StepPhase phase = StepPhase::other;
    for (const auto& open : ranges_.open_at(call.track, call.start_ns)) {
      if (phase == StepPhase::other || open.range > phase) phase = open.range;
    }
    ranges_.launches(call, phase);
  }

  std::vector<Cell> cells(ProcessId process, std::int64_t device, std::int64_t step, const Times& times) const {
    std::vector<Cell> cells{step};
    append_process(cells, context_.catalog.processes[process], context_.keys);
    append(cells, device, times.back().ns);
    const auto of = [&](StepPhase phase) {
      const auto at = static_cast<std::size_t>(phase);
      return times[at].ns - (at > 0 ? times[at - 1].ns : 0);
    };
    std::int64_t other_ns = of(StepPhase::other);
    for (std::size_t at = 0; at < kToldPhases; ++at) {
      const std::int64_t ns = of(static_cast<StepPhase>(at));
      cells.push_back(told_[process][at] ? Cell(ns) : Cell());
      other_ns += told_[process][at] ? 0 : ns;
    }
    append(cells, of(StepPhase::comm), other_ns);
    return cells;
  }

  LaunchRanges<StepPhase, StepPhase> ranges_;
  std::vector<std::uint8_t> names_;                  // by StringId: StepPhase, or kUnseen
  std::vector<std::array<bool, kToldPhases>> told_;  // by process: whether a range marked the phase
  std::map<std::pair<ProcessId, std::int64_t>, std::vector<Times>> devices_;  // by window
};

}  // namespace

AnalysisEntry step_phases_analysis() {
  return analysis_entry<StepPhases, phase_columns>(
      {.name = "step_phases",
       .meaning = "GPU time of each training step in forward, backward, optimizer and communication",
       .by = {GroupBy::step},
       .needs = {.kinds = kinds_of({Kind::cpu_op, Kind::nvtx, Kind::user_annotation, Kind::runtime, Kind::driver}),
                 .by_time = true}});
}

}  // namespace cli
