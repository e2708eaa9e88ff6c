#include "cli/answers/compare/step_profile.h"

#include <bit>
#include <numeric>
#include <tuple>

#include "cli/answers/compare/noise.h"
#include "cli/answers/tables/device_gaps.h"
#include "cli/answers/tables/key_averages.h"
#include "cli/answers/tables/launch_ranges.h"
#include "cli/answers/tables/named_classes.h"
#include "cli/answers/tables/whole_steps.h"
#include "cli/timeline/gpu/gpu_intervals.h"
#include "cli/trace/ranks.h"

namespace cli::comparison {

namespace {

// The partition of a device's time in a window (GpuIntervals). Compute time goes to the class whose work extended it.
struct DeviceStep {
  GpuIntervals intervals;
  std::int64_t gaps_ns = 0, exposed_ns = 0;
  std::vector<std::int64_t> compute_ns;  // by class
  IdleTimes idle{};
  bool worked = false;
};

struct PartSums {
  DeviceStep& step;
  NamedClasses::Id id = 0;  // class of the work being added

  void gap(std::int64_t from_ns, std::int64_t to_ns) { step.gaps_ns += to_ns - from_ns; }
  void busy(std::int64_t, std::int64_t) {}
  void ran(WorkClass work_class, std::int64_t from_ns, std::int64_t to_ns) {
    if (work_class != WorkClass::compute) return;
    if (step.compute_ns.size() <= id) step.compute_ns.resize(id + std::size_t{1});
    step.compute_ns[id] += to_ns - from_ns;
  }
  void exposed(std::int64_t from_ns, std::int64_t to_ns) { step.exposed_ns += to_ns - from_ns; }
};

class StepProfile : public TablesObserver {
 public:
  StepProfile(const AnalysisContext& context, RunProfile& profile, bool whole, bool for_diff)
      : context_(context),
        profile_(profile),
        kept_(context, whole, profile),
        classes_(context.catalog.strings, context.class_rules),
        gaps_(context.catalog),
        for_diff_(for_diff) {
    profile_.whole = whole;
    if (for_diff && !whole) choose_sequences();
  }

  void event(const Event& event, const Facts&) override {
    gaps_.event(event, context_.catalog.tracks[event.track].process);
  }

  void work(const GpuWork& work) override {
    if (!kept_.takes_part(work.process)) return;
    devices_.try_emplace({work.process, work.device}, kept_.windows().of(work.process).size());
    const NamedClasses::Id id = classes_.of(work);
    kept_.windows().each_part(work.process, work.start_ns, work.end_ns,
                              [&](std::size_t i, std::int64_t start_ns, std::int64_t end_ns) {
                                if (kept_.place(work.process, i) == KeptSteps::kNone) return;
                                DeviceStep& step = devices_.at({work.process, work.device})[i];
                                step.worked = true;
                                PartSums parts{step, id};
                                step.intervals.add(work.work_class, start_ns, end_ns, parts);
                              });
    each_share(kept_.windows(), work, [&](std::size_t i, std::int64_t start_ns, std::int64_t end_ns) {
      if (const std::size_t place = kept_.place(work.process, i); place != KeptSteps::kNone)
        add_sums(work, id, place, start_ns, end_ns);
    });
    add_to_sequence(work);
    std::optional<HostWait> wait;
    if (const auto gap = gaps_.work(work, wait)) add(*gap);
  }

  void end_of(ProcessId process) override {
    for (const DeviceGap& gap : gaps_.rest(process)) add(gap);
    gaps_.forget(process);
  }

  void finish(const std::vector<ResultTable>&) override {
    for (ProcessId id = 0; id < context_.catalog.processes.size(); ++id) end_of(id);
    add_idle_processes();
    std::set<std::int64_t> ranks;
    for (auto& [key, steps] : devices_) {
      ++profile_.gpus;
      ranks.insert(context_.catalog.processes[key.first].rank);
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (const std::size_t place = kept_.place(key.first, i); place != KeptSteps::kNone)
          finish(key.first, i, place, steps[i]);
      }
    }
    profile_.ranks.assign(ranks.begin(), ranks.end());
    name_sums();
    order_sequences();
    add_notes();
  }

 private:
  using DeviceKey = std::pair<ProcessId, std::int64_t>;

  // Adds the work that a step launched.
  void add_sums(const GpuWork& work, NamedClasses::Id id, std::size_t place, std::int64_t start_ns,
                std::int64_t end_ns) {
    const std::int64_t starts = work.start_ns >= start_ns ? 1 : 0;
    if (class_sums_.size() <= id) class_sums_.resize(id + std::size_t{1}), is_compute_.resize(id + std::size_t{1});
    class_sums_[id].add(place, end_ns - start_ns, starts);
    if (work.work_class == WorkClass::compute) is_compute_[id] = true;
    if (work.kind != Kind::kernel) return;
    kernel_sums_[work.name].add(place, end_ns - start_ns, starts);
    if (for_diff_ || starts == 0 || work.work_class != WorkClass::compute) return;
    durations_ns_ = std::gcd(durations_ns_, work.end_ns - work.start_ns);
    launch_sums_[{work.name, work.launch, id}].add(place, work.end_ns - work.start_ns, 1);
  }

  void add(const DeviceGap& gap) {
    const bool is_edge = gap.from_ns == kEarliest_ns || gap.next == nullptr;
    const auto device = devices_.find({gap.process, gap.device});
    if (device == devices_.end() || (is_edge && !kept_.windows().are_bounded())) return;
    kept_.windows().each_part(gap.process, gap.from_ns, gap.to_ns,
                              [&](std::size_t i, std::int64_t from_ns, std::int64_t to_ns) {
                                const IdleTimes times = gap.times(from_ns, to_ns);
                                for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
                                  device->second[i].idle[cause] += times[cause];
                              });
  }

  // Counts steps of a process without GPU use as idle with unknown cause.
  void add_idle_processes() {
    std::vector<std::int64_t> idle;
    for (ProcessId id = 0; id < context_.catalog.processes.size(); ++id) {
      const auto device = devices_.lower_bound({id, std::numeric_limits<std::int64_t>::min()});
      const bool has_device = device != devices_.end() && device->first.first == id;
      if (has_device || !kept_.takes_part(id) || kept_.whole()) continue;
      std::vector<DeviceStep>& steps = devices_.try_emplace({id, -1}, kept_.windows().of(id).size()).first->second;
      const auto& windows = kept_.windows().of(id);
      idle.push_back(context_.catalog.processes[id].rank);
      for (std::size_t i = 0; i < windows.size(); ++i)
        steps[i].idle[static_cast<std::size_t>(IdleCause::unexplained)] = windows[i].to_ns - windows[i].from_ns;
    }
    if (!idle.empty()) profile_.notes.push_back("no GPU work on " + rank_list(idle));
  }

  void finish(ProcessId process, std::size_t window, std::size_t place, DeviceStep& step) {
    PartSums sums{step};
    step.intervals.finish(sums);
    std::int64_t idle_ns = 0, compute_ns = 0;
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
      idle_ns += step.idle[cause];
      profile_.group(QuantityGroup::idle)[{std::string(kIdleCauseNames[cause])}].add(place, step.idle[cause], 0);
      profile_.parts[{"idle " + std::string(kIdleCauseNames[cause])}].add(place, step.idle[cause], 0);
    }
    for (NamedClasses::Id id = 0; id < step.compute_ns.size(); ++id) {
      compute_ns += step.compute_ns[id];
      if (step.compute_ns[id] > 0) profile_.parts[{classes_[id]}].add(place, step.compute_ns[id], 0);
    }
    const AnalysisWindow& bounds = kept_.windows().of(process)[window];
    const bool bounded = kept_.windows().are_bounded();
    const std::int64_t span_ns = bounded ? bounds.to_ns - bounds.from_ns : step.intervals.span_ns();
    const std::int64_t busy_ns = bounded ? span_ns - idle_ns : span_ns - step.gaps_ns;
    profile_.parts[{std::string(kExposed)}].add(place, step.exposed_ns, 0);
    profile_.parts[{"copies and memsets alone"}].add(place, busy_ns - compute_ns - step.exposed_ns, 0);
    Quantities& step_times = profile_.group(QuantityGroup::step);
    step_times[{std::string(kStepTime)}].add(place, span_ns, 0);
    step_times[{std::string(kBusy)}].add(place, busy_ns, 0);
    step_times[{std::string(kExposed)}].add(place, step.exposed_ns, 0);
  }

  void name_sums() {
    for (NamedClasses::Id id = 0; id < class_sums_.size(); ++id) {
      if (is_compute_[id]) profile_.compute_classes.insert(classes_[id]);
      profile_.group(QuantityGroup::work_class)[{classes_[id]}] = std::move(class_sums_[id]);
    }
    for (auto& [name, sums] : kernel_sums_)
      profile_.group(QuantityGroup::kernel)[{std::string(context_.catalog.strings[name])}] = std::move(sums);
    for (const auto& [key, sums] : launch_sums_) {
      const auto& [name, launch, id] = key;
      profile_
          .group(QuantityGroup::launch)[{
              std::string(context_.catalog.strings[name]), -1, {}, configuration(launch), classes_[id]}]
          .add(sums);
    }
    constexpr std::int64_t kMicrosecond = 1000;
    if (durations_ns_ > 0 && durations_ns_ % kMicrosecond == 0) profile_.resolution_ns = kMicrosecond;
  }

  // Returns grid and block: "64x1x1 128x1x1". Empty if unknown.
  std::string configuration(LaunchId id) const {
    if (id == 0) return {};
    const Launch& launch = context_.catalog.launches[id];
    return fmt::format("{} {}", fmt::join(launch.grid, "x"), fmt::join(launch.block, "x"));
  }

  // Selects steps of the lowest rank around the median length; not all steps of a run launch the same kernels.
  void choose_sequences() {
    constexpr std::size_t kMost = 9;
    for (ProcessId id = 0; id < context_.catalog.processes.size(); ++id) {
      const auto rank_of = [&](ProcessId process) { return context_.catalog.processes[process].rank; };
      if (kept_.takes_part(id) && (!sequence_process_ || rank_of(id) < rank_of(*sequence_process_)))
        sequence_process_ = id;
    }
    if (!sequence_process_) return;
    profile_.sequence_rank = context_.catalog.processes[*sequence_process_].rank;
    const auto& windows = kept_.windows().of(*sequence_process_);
    std::vector<std::pair<std::int64_t, std::size_t>> lengths;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      if (kept_.place(*sequence_process_, i) != KeptSteps::kNone)
        lengths.push_back({windows[i].to_ns - windows[i].from_ns, i});
    }
    std::sort(lengths.begin(), lengths.end());
    sequence_of_.resize(windows.size(), KeptSteps::kNone);
    for (std::size_t i = 0; i < std::min(kMost, lengths.size()); ++i) {
      const std::size_t from_median = (i + 1) / 2, middle = (lengths.size() - 1) / 2;
      const std::size_t window = lengths[i % 2 == 1 ? middle + from_median : middle - from_median].second;
      sequence_of_[window] = launched_.size();
      launched_.emplace_back();
      profile_.sequences.push_back({windows[window].step.value_or(-1), {}});
    }
  }

  // Adds the work to the step that launched it, whenever it ran.
  void add_to_sequence(const GpuWork& work) {
    if (work.process != sequence_process_ || (work.kind != Kind::kernel && work.kind != Kind::graph)) return;
    const auto window = window_of(kept_.windows(), work);
    if (!window || sequence_of_[*window] == KeptSteps::kNone) return;
    const std::int64_t at_ns = work.launched_ns.value_or(work.start_ns);
    Extent grid{};
    if (work.launch != 0) {
      const auto& size = context_.catalog.launches[work.launch].grid;
      grid = {size[0], size[1], size[2]};
    }
    launched_[sequence_of_[*window]].push_back({at_ns, work.start_ns, work.name, grid});
  }

  void order_sequences() {
    std::map<StringId, std::uint32_t> numbers;
    for (std::size_t i = 0; i < launched_.size(); ++i) {
      std::ranges::stable_sort(launched_[i], {},
                               [](const Launched& each) { return std::pair(each.at_ns, each.start_ns); });
      for (const Launched& each : launched_[i]) {
        const auto [number, is_new] = numbers.try_emplace(each.name, static_cast<std::uint32_t>(profile_.names.size()));
        if (is_new) profile_.names.emplace_back(context_.catalog.strings[each.name]);
        profile_.sequences[i].kernels.push_back({number->second, each.grid});
      }
    }
  }

  void add_notes() {
    if (kept_.whole()) return;
    std::vector<std::int64_t> without;
    for (ProcessId id = 0; id < context_.catalog.processes.size(); ++id) {
      if (context_.chosen[id] && !kept_.takes_part(id)) without.push_back(context_.catalog.processes[id].rank);
    }
    if (!without.empty()) profile_.notes.push_back("no steps on " + rank_list(without) + " (excluded)");
  }

  struct Launched {
    std::int64_t at_ns, start_ns;
    StringId name;
    Extent grid;
  };

  const AnalysisContext& context_;
  RunProfile& profile_;
  KeptSteps kept_;
  NamedClasses classes_;
  DeviceGaps gaps_;
  std::map<DeviceKey, std::vector<DeviceStep>> devices_;  // by window
  std::vector<StepSums> class_sums_;
  std::vector<bool> is_compute_;  // by class
  std::unordered_map<StringId, StepSums> kernel_sums_;
  std::map<std::tuple<StringId, LaunchId, NamedClasses::Id>, StepSums> launch_sums_;
  std::int64_t durations_ns_ = 0;  // greatest common divisor of the launches' durations
  bool for_diff_;
  std::optional<ProcessId> sequence_process_;
  std::vector<std::size_t> sequence_of_;  // index in the next member, by window; kNone if the window has no sequence
  std::vector<std::vector<Launched>> launched_;
};

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

std::vector<TablesObserverEntry> profile_observers(RunProfile& profile, bool whole, bool for_diff) {
  std::vector<TablesObserverEntry> observers{
      {{.kinds = kinds_of({Kind::runtime, Kind::driver}), .any_time = true, .launches = true},
       [&profile, whole, for_diff](const AnalysisContext& context) {
         return std::make_unique<StepProfile>(context, profile, whole, for_diff);
       }}};
  if (!for_diff) return observers;
  observers.push_back({{.collectives = true}, [&profile, whole](const AnalysisContext& context) {
                         return std::make_unique<CollectiveProfile>(context, profile, whole);
                       }});
  observers.push_back({{.kinds = operator_kinds(), .any_time = true, .launches = true},
                       [&profile, whole](const AnalysisContext& context) {
                         return std::make_unique<OperatorProfile>(context, profile, whole);
                       }});
  return observers;
}

}  // namespace cli::comparison
