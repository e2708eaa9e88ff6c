#include "cli/answers/compare/run_profile.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "cli/answers/compare/noise.h"
#include "cli/answers/compare/step_profile.h"
#include "cli/answers/tables/key_averages.h"
#include "cli/answers/tables/launch_ranges.h"
#include "cli/answers/tables/whole_steps.h"

namespace cli::comparison {

void StepSums::add(std::size_t step, std::int64_t ns, std::int64_t count) {
  constexpr std::size_t kNear = 4;
  for (std::size_t back = 1; back <= std::min(kNear, entries_.size()); ++back) {
    Entry& entry = entries_[entries_.size() - back];
    if (entry.step != step) continue;
    entry.ns += ns;
    entry.count += count;
    return;
  }
  entries_.push_back({step, ns, count});
}

std::vector<std::int64_t> StepSums::all(std::size_t steps, std::int64_t Entry::*what) const {
  std::vector<std::int64_t> values(steps);
  for (const Entry& entry : entries_) values[entry.step] += entry.*what;
  return values;
}

namespace {

constexpr std::string_view kTime = "time", kWait = "wait", kTransfer = "transfer";

// Collectives by operation and size, in the step in which their work begins on each rank. Wait and transfer are missing
// if the starts of some ranks are unknown.
class CollectiveProfile : public TablesObserver {
 public:
  CollectiveProfile(const AnalysisContext& context, RunProfile& profile, bool whole)
      : context_(context), profile_(profile), kept_(context, whole, profile) {}

  void finish(const std::vector<ResultTable>&) override {
    const auto& [calls, matched, clocks] = *context_.collectives;
    for (const MatchedCollective& each : matched.collectives) {
      const CollectiveTimes times = times_of(matched, calls, each);
      const auto size = size_of(matched, calls, each);
      const Operation operation = calls.whats[each.what].operation;
      Quantity quantity{std::string(operation_name(operation)),
                        size && *size > 0 ? static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(*size)))
                                          : size.value_or(-1),
                        {}};
      for (const MatchedCall& which : matched.calls_of(each))
        add(quantity, times, operation, which.process, call_of(calls, which));
    }
  }

 private:
  void add(Quantity& quantity, const CollectiveTimes& times, Operation operation, ProcessId process,
           const CollectiveCall& call) {
    if (!context_.chosen[process] || call.gpu_start_ns == kNoTime || call.gpu_end_ns == kNoTime) return;
    const Windows& steps = kept_.windows();
    const auto window = call.host_start_ns != kNoTime && steps.are_steps()
                            ? steps.launched_in(process, call.host_start_ns)
                            : steps.at(process, call.gpu_start_ns);
    const std::size_t place = window ? kept_.place(process, *window) : KeptSteps::kNone;
    if (place == KeptSteps::kNone) return;
    const auto put = [&](std::string_view measure, std::int64_t ns) {
      quantity.measure = measure;
      profile_.group(QuantityGroup::collective)[quantity].add(place, ns, 1);
    };
    put(kTime, call.gpu_end_ns - call.gpu_start_ns);
    if (!times.all_started) return;
    put(kWait, times.last_start_ns - call.gpu_start_ns);
    if (all_depend_on_all(operation)) put(kTransfer, std::max<std::int64_t>(0, call.gpu_end_ns - times.last_start_ns));
  }

  const AnalysisContext& context_;
  RunProfile& profile_;
  KeptSteps kept_;
};

}  // namespace

TablesObserverEntry collective_observer(RunProfile& profile, bool whole) {
  return {{.collectives = true}, [&profile, whole](const AnalysisContext& context) -> std::unique_ptr<TablesObserver> {
            return std::make_unique<CollectiveProfile>(context, profile, whole);
          }};
}

namespace {

// Operators by name: host time and GPU time per step, of the operator itself (as in `operators`), and the number of
// calls and launches.
class OperatorProfile : public TablesObserver {
 public:
  OperatorProfile(const AnalysisContext& context, RunProfile& profile, bool whole)
      : context_(context),
        profile_(profile),
        kept_(context, whole, profile),
        host_(kept_.windows().host()),
        utilities_(context.catalog.strings),
        ranges_(context) {}

  void event(const Event& event, const Facts&) override {
    if (!is_slice(event)) return;
    ranges_.settle(event.start_ns, [&](const Event& call) { enter(call); });
    is_api_call(event.kind) ? ranges_.call(event) : enter(event);
  }

  void work(const GpuWork& work) override {
    ranges_.settle([&](const Event& call) { enter(call); });
    const StringId* launcher = ranges_.of(work);
    if (launcher == nullptr || *launcher == 0) return;
    each_share(kept_.windows(), work, [&](std::size_t window, std::int64_t start_ns, std::int64_t end_ns) {
      const std::size_t place = kept_.place(work.process, window);
      if (place == KeptSteps::kNone) return;
      Sums& sums = sums_[*launcher];
      sums.has_gpu = true;
      sums.gpu.add(place, end_ns - start_ns, work.start_ns >= start_ns ? 1 : 0);
    });
  }

  void end_of(ProcessId process) override {
    ranges_.end_of(process, [&](const Event& call) { enter(call); });
  }

  void finish(const std::vector<ResultTable>&) override {
    ranges_.settle([&](const Event& call) { enter(call); });
    Quantities& quantities = profile_.group(QuantityGroup::operation);
    for (auto& [name, sums] : sums_) {
      const std::string text(context_.catalog.strings[name]);
      quantities[{text, -1, "host"}] = std::move(sums.host);
      if (sums.has_gpu) quantities[{text, -1, "gpu"}] = std::move(sums.gpu);
    }
  }

 private:
  struct Sums {
    StepSums host, gpu;
    bool has_gpu = false;
  };
  struct Merged {
    StringId name = 0;
    std::int64_t start_ns = 0;
  };
  struct Entered {
    StringId innermost = 0;    // the operator itself or the one around it; 0 if none
    bool is_operator = false;  // the slice itself is an operator
    OnlyChild<Merged> inside;
  };

  void enter(const Event& event) {
    if (event.kind == Kind::cpu_op && utilities_.holds(event.name)) return;
    const ProcessId process = context_.catalog.tracks[event.track].process;
    if (!kept_.takes_part(process)) return;
    const std::int64_t end_ns = slice_end(event, kLatest_ns),
                       ended_ns = event.duration_ns < 0 ? event.start_ns : end_ns;
    Entered* around = ranges_.around(event.track, event.start_ns, end_ns);
    Entered entered;
    bool is_first = false;
    if (around != nullptr) {
      entered.innermost = around->innermost;
      if (around->is_operator) {
        add(entered.innermost, process, event.start_ns, ended_ns, -1, 0);
        is_first = around->inside.begin(
            [&](const Merged& other) { add(other.name, process, other.start_ns, other.start_ns, 1, 1); });
      }
    }
    if (is_api_call(event.kind)) {
      ranges_.launches(event, entered.innermost);
    } else if (event.kind == Kind::cpu_op) {
      const bool is_merged = is_first && entered.innermost == event.name;
      if (is_merged) around->inside.merge({event.name, event.start_ns});
      entered.innermost = event.name;
      entered.is_operator = true;
      add(event.name, process, event.start_ns, ended_ns, 1, is_merged ? 0 : 1);
    }
    ranges_.open(event.track, {event.start_ns, end_ns, std::move(entered)});
  }

  // Adds host time: `sign` times its part in each step, and `count` in the step in which it starts.
  void add(StringId name, ProcessId process, std::int64_t start_ns, std::int64_t end_ns, std::int64_t sign,
           std::int64_t count) {
    host_.each_part(process, start_ns, end_ns, [&](std::size_t window, std::int64_t from_ns, std::int64_t to_ns) {
      const std::size_t place = kept_.place(process, window);
      if (place != KeptSteps::kNone)
        sums_[name].host.add(place, sign * (to_ns - from_ns), host_.at(process, start_ns) == window ? count : 0);
    });
  }

  const AnalysisContext& context_;
  RunProfile& profile_;
  KeptSteps kept_;
  const Windows host_;
  UtilityOperators utilities_;
  std::unordered_map<StringId, Sums> sums_;
  LaunchRanges<Entered, StringId> ranges_;
};

}  // namespace

TablesObserverEntry operator_observer(RunProfile& profile, bool whole) {
  return {{.kinds = operator_kinds(), .any_time = true, .launches = true},
          [&profile, whole](const AnalysisContext& context) -> std::unique_ptr<TablesObserver> {
            return std::make_unique<OperatorProfile>(context, profile, whole);
          }};
}

}  // namespace cli::comparison
