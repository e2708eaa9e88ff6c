// recording-overhead: the profiler's overhead extends the run, so times are longer than without it.
#include "cli/answers/rules/rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastOverheadShare = 50;  // 1 / N of the time
// CUpti_ActivityOverheadKind as spelled by Kineto and cli/trace/words.h. The other kinds belong to the program:
// compiling and loading by the driver, and "Command Buffer Full", in which the host waits for the GPU.
constexpr std::array<std::string_view, 4> kOfRecording{"Buffer Flush", "Instrumentation", "Resource",
                                                       "Activity Buffer Request"};
// Mostly on CUPTI's own thread, where it does not delay the program
constexpr std::string_view kFlush = kOfRecording[0];

class RecordingOverhead : public Rule {
 public:
  using Rule::Rule;

  void event(const Event& event, const Facts&) override {
    if (is_api_call(event.kind)) {
      if (event.track >= calls_.size()) calls_.resize(event.track + std::size_t{1});
      calls_[event.track] = true;
      return;
    }
    const std::string_view name = context_.catalog.strings[event.name];
    if (!is_slice(event) || event.duration_ns <= 0 ||
        std::find(kOfRecording.begin(), kOfRecording.end(), name) == kOfRecording.end())
      return;
    if (name == kFlush && (event.track >= calls_.size() || !calls_[event.track])) return;
    const ProcessId id = context_.catalog.tracks[event.track].process;
    const std::int64_t event_end_ns = slice_end(event, event.start_ns);
    context_.windows.each_part(
        id, event.start_ns, event_end_ns, [&](std::size_t, std::int64_t from_ns, std::int64_t end_ns) {
          OfProcess& process = processes_[id];
          const std::int64_t start_ns = std::max(from_ns, process.to_ns);
          if (start_ns >= end_ns) return;
          process.ns += end_ns - start_ns;
          process.to_ns = end_ns;
          process.names_ns[event.name] += end_ns - start_ns;
          evidence_.add(id, start_ns, end_ns, end_ns - start_ns, [&] { return std::string(name); });
        });
  }

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>&) override {
    Fired fired;
    for (const auto& [id, process] : processes_) {
      if (process.ns > scope.time.lengths_ns[id] / kLeastOverheadShare && scope.time.lengths_ns[id] > 0)
        fired.add(id, -1, process.ns);
    }
    if (fired.empty()) return {};
    Finding finding = fired.finding(scope, evidence_);
    finding.saving_ns.reset();  // a run without the profiler does not have this overhead
    const auto& names = processes_.at(fired.most).names_ns;
    const auto most =
        std::max_element(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    finding.title = fmt::format("recording overhead takes {}, mostly in {}; times are longer than without recording",
                                per_step_text(scope, fired.most_ns), name_of(most->first));
    finding.advice =
        "Record fewer kinds: TRACETOOL_EVENTS=light, or torch.profiler without with_stack, record_shapes and profile_memory. Profile fewer steps. Compare kernel times, not host times.";
    return {finding};
  }

 private:
  struct OfProcess {
    std::int64_t ns = 0, to_ns = kEarliest_ns;  // the union so far
    std::map<StringId, std::int64_t> names_ns;
  };

  std::vector<bool> calls_;  // by TrackId; true if the thread calls CUDA
  std::map<ProcessId, OfProcess> processes_;
  LongestEvidence evidence_;
};

}  // namespace

RuleEntry recording_overhead_rule() {
  return rule_entry<RecordingOverhead>(
      {.name = "recording-overhead",
       .fires = "overhead that CUPTI reports on threads of the program takes more than 2 % of the time",
       .source = "NVIDIA CUPTI documentation, CUpti_ActivityOverheadKind: https://docs.nvidia.com/cupti/",
       .inputs = {RuleInput::overhead_records},
       .needs = {.kinds = kinds_of({Kind::overhead, Kind::runtime, Kind::driver})}});
}

}  // namespace cli::rules
