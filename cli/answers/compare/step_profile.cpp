#include "cli/answers/compare/step_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "cli/answers/compare/noise.h"
#include "cli/answers/tables/device_gaps.h"
#include "cli/answers/tables/named_classes.h"
#include "cli/answers/tables/whole_steps.h"
#include "cli/timeline/gpu/gpu_intervals.h"
#include "cli/trace/ranks.h"

namespace cli::comparison {

namespace {

using KernelSequence = std::span<const std::uint32_t>;
using SequencePosition = std::ptrdiff_t;

// The furthest position in `a` on each diagonal (position in a - position in b) with a given number of differences;
// index: diagonal + differences.
using DiagonalReach = std::vector<SequencePosition>;

// Computes the reach of the diagonals for 0, 1, 2, ... differences until both ends are reached.
class ReachSearch {
 public:
  ReachSearch(KernelSequence a, KernelSequence b) : a_(a), b_(b) {}

  bool run(std::size_t most) {
    for (std::size_t differences = 0; differences <= most; ++differences) {
      if (step(static_cast<SequencePosition>(differences))) return true;
    }
    return false;
  }

  // Walks from the end to the begin. Calls on_edit with the positions in both sequences at which an element is removed
  // (a) or added (b).
  template <typename OnEdit>
  void trace_back(const OnEdit& edit) const {
    SequencePosition x = size(a_), y = size(b_);
    for (SequencePosition d = static_cast<SequencePosition>(reached_.size()) - 1; d > 0; --d) {
      const SequencePosition k = x - y;
      const SequencePosition before = adds(d, k) ? k + 1 : k - 1;
      const SequencePosition old_x = at(d - 1, before), old_y = old_x - before;
      edit(old_x, old_y, adds(d, k));
      x = old_x;
      y = old_y;
    }
  }

 private:
  static SequencePosition size(KernelSequence elements) { return static_cast<SequencePosition>(elements.size()); }
  SequencePosition at(SequencePosition d, SequencePosition k) const {
    return reached_[static_cast<std::size_t>(d)][static_cast<std::size_t>(k + d)];
  }
  // Returns true if the last difference on this diagonal is an addition.
  bool adds(SequencePosition d, SequencePosition k) const {
    return k == -d || (k != d && at(d - 1, k - 1) < at(d - 1, k + 1));
  }

  bool step(SequencePosition d) {
    DiagonalReach& reach = reached_.emplace_back(static_cast<std::size_t>(2 * d + 1), SequencePosition{0});
    for (SequencePosition k = -d; k <= d; k += 2) {
      SequencePosition x = d == 0 ? 0 : adds(d, k) ? at(d - 1, k + 1) : at(d - 1, k - 1) + 1;
      while (x < size(a_) && x - k < size(b_) && x >= 0 && x - k >= 0 &&
             a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(x - k)])
        ++x;
      reach[static_cast<std::size_t>(k + d)] = x;
      if (x >= size(a_) && x - k >= size(b_)) return true;
    }
    return false;
  }

  KernelSequence a_, b_;
  std::vector<DiagonalReach> reached_;  // by number of differences
};

}  // namespace

std::optional<std::vector<SequenceChange>> align_sequences(KernelSequence a, KernelSequence b, std::size_t most) {
  std::size_t same_begin = 0, same_end = 0;
  const std::size_t shorter = std::min(a.size(), b.size());
  while (same_begin < shorter && a[same_begin] == b[same_begin]) ++same_begin;
  while (same_end < shorter - same_begin && a[a.size() - 1 - same_end] == b[b.size() - 1 - same_end]) ++same_end;
  const KernelSequence middle_a = a.subspan(same_begin, a.size() - same_begin - same_end),
                       middle_b = b.subspan(same_begin, b.size() - same_begin - same_end);
  ReachSearch search(middle_a, middle_b);
  if (!search.run(most)) return std::nullopt;
  std::vector<SequenceChange> changes;  // in reverse order
  search.trace_back([&](SequencePosition x, SequencePosition y, bool added) {
    const std::size_t at_a = same_begin + static_cast<std::size_t>(x), at_b = same_begin + static_cast<std::size_t>(y);
    const std::size_t of_a = added ? 0 : 1, of_b = added ? 1 : 0;
    if (changes.empty() || changes.back().at_a != at_a + of_a || changes.back().at_b != at_b + of_b)
      changes.push_back({at_a + of_a, 0, at_b + of_b, 0});
    SequenceChange& change = changes.back();
    change = {at_a, change.count_a + of_a, at_b, change.count_b + of_b};
  });
  std::reverse(changes.begin(), changes.end());
  return changes;
}

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
                                if (kept_.place(work.process, i) != KeptSteps::kNone)
                                  add_time(work, id, i, start_ns, end_ns);
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

  // Adds the work that ran in the time of a step, whichever step launched it.
  void add_time(const GpuWork& work, NamedClasses::Id id, std::size_t window, std::int64_t start_ns,
                std::int64_t end_ns) {
    DeviceStep& step = devices_.at({work.process, work.device})[window];
    step.worked = true;
    PartSums parts{step, id};
    step.intervals.add(work.work_class, start_ns, end_ns, parts);
  }

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
    const auto& windows = kept_.windows().of(gap.process);
    for (std::size_t i = kept_.windows().first_after(gap.process, gap.from_ns);
         i < windows.size() && windows[i].from_ns < gap.to_ns; ++i) {
      const IdleTimes times = gap.times(windows[i].from_ns, windows[i].to_ns);
      for (std::size_t cause = 0; cause < kIdleCauses; ++cause) device->second[i].idle[cause] += times[cause];
    }
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

}  // namespace

std::vector<TablesObserverEntry> profile_observers(RunProfile& profile, bool whole, bool for_diff) {
  std::vector<TablesObserverEntry> observers{
      {{.kinds = kinds_of({Kind::runtime, Kind::driver}), .any_time = true, .launches = true},
       [&profile, whole, for_diff](const AnalysisContext& context) -> std::unique_ptr<TablesObserver> {
         return std::make_unique<StepProfile>(context, profile, whole, for_diff);
       }}};
  if (for_diff)
    observers.insert(observers.end(), {collective_observer(profile, whole), operator_observer(profile, whole)});
  return observers;
}

}  // namespace cli::comparison
