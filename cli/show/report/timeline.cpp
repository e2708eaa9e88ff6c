#include "cli/show/report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "cli/base/error.h"
#include "cli/formats/export/exporter.h"
#include "cli/formats/export/lanes.h"
#include "cli/show/report/timeline_slices.h"
#include "cli/trace/event_times.h"
#include "cli/trace/names.h"
#include "cli/trace/ranks.h"
#include "cli/trace/short_name.h"

namespace cli::report {
namespace {

constexpr std::size_t kShownRanks = 16;
constexpr std::size_t kMostSlices = 200'000;  // about 3 MB of the page
constexpr std::size_t kMostSteps = 1000;      // maximum number of steps whose times are on the page
constexpr std::size_t kMostParts = 400, kFewestParts = 20, kMostPartsOfAll = 120'000;

// Kinds of host events. Python functions are excluded, because there are too many for a page; an export contains them.
KindSet host_kinds() {
  return kinds_of({Kind::runtime, Kind::driver, Kind::nvtx, Kind::nccl, Kind::sync, Kind::overhead, Kind::cpu_op,
                   Kind::user_annotation, Kind::gpu_annotation, Kind::garbage_collection});
}
KindSet shown_kinds() { return host_kinds() | kinds_of({Kind::kernel, Kind::memcpy, Kind::memset, Kind::graph}); }

std::vector<ProcessId> chosen_by_rank(const AnalysisContext& context) {
  std::vector<ProcessId> ids;
  for (ProcessId id = 0; id < context.chosen.size(); ++id) {
    if (context.chosen[id]) ids.push_back(id);
  }
  const auto place = [&](ProcessId id) {
    const std::int64_t rank = context.catalog.processes[id].rank;
    return std::pair(rank < 0, rank);
  };
  std::ranges::stable_sort(ids, [&](ProcessId a, ProcessId b) { return place(a) < place(b); });
  return ids;
}

void check_ranks(const AnalysisContext& context, const std::vector<ProcessId>& chosen,
                 const std::vector<std::int64_t>& ranks) {
  std::vector<std::int64_t> there;
  for (const ProcessId id : chosen) there.push_back(context.catalog.processes[id].rank);
  for (const std::int64_t rank : ranks) {
    if (std::ranges::find(there, rank) == there.end())
      throw Error(Exit::usage, "--timeline-ranks: there is no rank {}; there are {}", rank, rank_list(there));
  }
}

// Returns the processes of `chosen` that are shown with all slices, in their order.
std::vector<ProcessId> ranks_with_slices(const AnalysisContext& context, const std::vector<ProcessId>& chosen,
                                         const std::vector<std::int64_t>& ranks, std::vector<std::string>& notes) {
  std::vector<ProcessId> shown;
  std::ranges::copy_if(chosen, std::back_inserter(shown), [&](ProcessId id) {
    return ranks.empty() || std::ranges::find(ranks, context.catalog.processes[id].rank) != ranks.end();
  });
  if (!ranks.empty() && shown.size() > kShownRanks)
    notes.push_back(fmt::format(
        "the timeline shows slices of {} of the {} ranks in --timeline-ranks; of the others it shows GPU utilization",
        kShownRanks, shown.size()));
  shown.resize(std::min(shown.size(), kShownRanks));
  return shown;
}

SliceColor color_of(const TimelineSlice& slice, std::string_view name) {
  if (is_gpu_work(slice.kind)) {
    if (slice.work_class == WorkClass::comm) return SliceColor::comm;
    if (slice.work_class == WorkClass::memory) return SliceColor::memory;
    return slice.kind == Kind::kernel && is_gemm_name(name) ? SliceColor::matmul : SliceColor::compute;
  }
  if (is_api_call(slice.kind)) return SliceColor::call;
  switch (slice.kind) {
    case Kind::nccl:
      return SliceColor::comm;
    case Kind::sync:
      return SliceColor::sync;
    case Kind::cpu_op:
      return SliceColor::cpu_op;
    case Kind::nvtx:
    case Kind::user_annotation:
    case Kind::gpu_annotation:
      return SliceColor::range;
    default:
      return SliceColor::other;
  }
}

// Numbers names in the order in which they are first used.
class TimelineNames {
 public:
  explicit TimelineNames(const Strings& strings) : strings_(strings), short_names_(strings) {}

  std::uint32_t of(const TimelineSlice& slice) {
    const auto [at, fresh] = numbers_.try_emplace(std::tuple(slice.name, slice.kind, slice.work_class),
                                                  static_cast<std::uint32_t>(names_.size()));
    if (fresh) {
      const std::string_view text = slice.kind == Kind::kernel ? short_names_[slice.name].shown : strings_[slice.name];
      names_.push_back({std::string(text), info(slice.kind).name, color_of(slice, strings_[slice.name])});
      uses_.push_back(0);
    }
    ++uses_[at->second];
    return at->second;
  }

  // Adds a name that the trace does not contain, and returns its number.
  std::uint32_t derived(std::string_view text, SliceColor color) {
    names_.push_back({std::string(text), "computed", color});
    uses_.push_back(1);
    return static_cast<std::uint32_t>(names_.size() - 1);
  }

  // Gives the most frequent names the lowest numbers, which are the shortest. Returns the new numbers by old number.
  std::vector<std::uint32_t> renumber() {
    std::vector<std::uint32_t> order(names_.size()), numbers(names_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return uses_[a] > uses_[b]; });
    std::vector<TimelineName> names;
    for (const std::uint32_t old : order) {
      numbers[old] = static_cast<std::uint32_t>(names.size());
      names.push_back(std::move(names_[old]));
    }
    names_ = std::move(names);
    return numbers;
  }
  std::vector<TimelineName> take() { return std::move(names_); }

 private:
  const Strings& strings_;
  ShortNames short_names_;
  std::map<std::tuple<StringId, Kind, WorkClass>, std::uint32_t> numbers_;
  std::vector<TimelineName> names_;
  std::vector<std::uint64_t> uses_;
};

class Timeline : public TablesObserver {
 public:
  Timeline(const AnalysisContext& context, const TimelineRequest& request, TimelineSection& result)
      : context_(context),
        result_(result),
        chosen_(chosen_by_rank(context)),
        census_(context.catalog),
        slices_(kMostSlices),
        of_process_(context.catalog.processes.size()) {
    check_ranks(context, chosen_, request.ranks);
    const std::vector<ProcessId> shown = ranks_with_slices(context, chosen_, request.ranks, data_.notes);
    const std::map<std::int64_t, ShownTime> steps = times_of_steps(context);
    data_.time = shown_time(context, steps, request.step, shown, shown_kinds(), kMostSlices, data_.notes);
    if (have_python(shown)) data_.notes.push_back("Python functions are not in the timeline; an export contains them");
    data_.inputs = request.inputs;
    data_.has_all_ranks = chosen_.size() == context.catalog.processes.size();
    data_.origin_ns = context.origin_ns;
    for (const auto& [number, time] : steps) {
      if (data_.steps.size() < kMostSteps) data_.steps.push_back(time);
    }
    const auto parts = static_cast<std::int64_t>(
        std::clamp(kMostPartsOfAll / std::max<std::size_t>(1, chosen_.size()), kFewestParts, kMostParts));
    data_.part_ns = std::max<std::int64_t>(1, (data_.time.length_ns() + parts - 1) / parts);
    for (const ProcessId id : shown) of_process_[id].has_slices = true;
    for (ProcessId id = 0; id < of_process_.size(); ++id) {
      of_process_[id].from_ns = context.clocks.first_at(id, data_.time.from_ns);
      of_process_[id].to_ns = context.clocks.first_at(id, data_.time.to_ns);
    }
  }

  void work(const GpuWork& work) override {
    OfProcess& process = of_process_[work.process];
    if (!process.shows(work.start_ns, work.end_ns)) return;
    const std::int64_t start_ns = context_.clocks.on_axis(work.process, work.start_ns),
                       end_ns = context_.clocks.on_axis(work.process, work.end_ns);
    const auto [usage, fresh] =
        process.usage.try_emplace(work.device, data_.time.from_ns, data_.time.to_ns, data_.part_ns, process.has_slices);
    usage->second.work(work.work_class, start_ns, end_ns);
    census_.count(*work.event);
    if (process.has_slices) slices_.add({start_ns, end_ns, work.event->track, work.name, work.kind, work.work_class});
  }

  void event(const Event& event, const Facts&) override {
    const ProcessId id = context_.catalog.tracks[event.track].process;
    const OfProcess& process = of_process_[id];
    if (!process.has_slices || !is_slice(event) || event.start_ns >= process.to_ns) return;
    const std::int64_t own_end_ns = slice_end(event, process.to_ns);
    if (!process.shows(event.start_ns, own_end_ns)) return;
    census_.count(event);
    slices_.add({context_.clocks.on_axis(id, event.start_ns), context_.clocks.on_axis(id, own_end_ns), event.track,
                 event.name, event.kind, WorkClass::compute});
  }

  void finish(const std::vector<ResultTable>&) override {
    for (const std::string& left_out : slices_.left_out())
      data_.notes.push_back("the timeline omits " + left_out + "; an export contains them");
    std::vector<ProcessLayout> processes = process_layouts(context_.catalog, census_);
    const std::vector<TrackLayout> tracks = track_layouts(context_.catalog, census_, processes);
    add_ranks(processes);
    add_tracks(processes, tracks);
    result_.events = data_.slices;
    result_.notes = data_.notes;
    result_.html = timeline_html(data_);
  }

 private:
  struct OfProcess {
    bool has_slices = false;
    std::int64_t from_ns = 0, to_ns = 0;        // shown time, by its own clock
    std::map<std::int64_t, DeviceUsage> usage;  // by device
    std::size_t place = 0;                      // index in TimelineData::ranks

    // A slice that ends at from_ns does not run in the range, unless it also begins there.
    bool shows(std::int64_t start_ns, std::int64_t end_ns) const {
      return start_ns < to_ns && (end_ns > from_ns || start_ns >= from_ns);
    }
  };

  bool have_python(const std::vector<ProcessId>& shown) const {
    return std::ranges::any_of(shown, [&](ProcessId id) {
      return context_.catalog.processes[id].counts[static_cast<std::size_t>(Kind::python_function)] > 0;
    });
  }

  void add_ranks(const std::vector<ProcessLayout>& processes) {
    for (const ProcessId id : chosen_) {
      OfProcess& process = of_process_[id];
      process.place = data_.ranks.size();
      TimelineRank rank{context_.catalog.processes[id].rank, processes[id].name, process.has_slices, {}, {}};
      for (auto& [device, usage] : process.usage) {
        usage.finish();
        rank.devices.push_back({device, usage.whole(), usage.parts()});
      }
      data_.ranks.push_back(std::move(rank));
    }
  }

  void add_tracks(std::vector<ProcessLayout>& processes, const std::vector<TrackLayout>& tracks) {
    std::vector<TimelineSlice> slices = slices_.take();
    data_.slices = slices.size();
    const auto place = [&](const TimelineSlice& slice) {
      const Track& track = context_.catalog.tracks[slice.track];
      return std::tuple(track.process, track.kind != TrackKind::stream, tracks[slice.track].order, slice.track,
                        slice.start_ns, -slice.end_ns);
    };
    std::ranges::stable_sort(slices,
                             [&](const TimelineSlice& a, const TimelineSlice& b) { return place(a) < place(b); });
    TimelineNames names(context_.catalog.strings);
    for (auto first = slices.begin(); first != slices.end();) {
      const auto last =
          std::find_if(first, slices.end(), [&](const TimelineSlice& slice) { return slice.track != first->track; });
      const ProcessId id = context_.catalog.tracks[first->track].process;
      add_track({first, last}, tracks[first->track], processes[id], names, data_.ranks[of_process_[id].place]);
      first = last;
    }
    add_exposed(names);
    const std::vector<std::uint32_t> numbers = names.renumber();
    for (TimelineRank& rank : data_.ranks) {
      for (TimelineTrack& track : rank.tracks) {
        for (TimelineLane& lane : track.lanes) {
          for (TimelineLane::Slice& slice : lane.slices) slice.name = numbers[slice.name];
        }
      }
    }
    data_.names = names.take();
  }

  // Adds a track above the streams of each GPU.
  void add_exposed(TimelineNames& names) {
    std::optional<std::uint32_t> name;
    for (const ProcessId id : chosen_) {
      TimelineRank& rank = data_.ranks[of_process_[id].place];
      std::vector<TimelineTrack> tracks;
      for (const auto& [device, usage] : of_process_[id].usage) {
        if (usage.exposed_times().empty()) continue;
        if (!name) name = names.derived(fill_name(Fill::exposed), SliceColor::exposed);
        TimelineTrack& track = tracks.emplace_back();
        track.name = of_process_[id].usage.size() > 1 ? fmt::format("GPU {}: exposed", device)
                                                      : std::string(fill_name(Fill::exposed));
        track.is_gpu = true;
        TimelineLane& lane = track.lanes.emplace_back();
        for (const auto& [from_ns, to_ns] : usage.exposed_times())
          lane.slices.push_back({from_ns - data_.time.from_ns, to_ns - data_.time.from_ns, *name});
      }
      rank.tracks.insert(rank.tracks.begin(), tracks.begin(), tracks.end());
    }
  }

  // Adds one track of the timeline per family of lanes (cli/formats/export/lanes.h).
  void add_track(std::span<const TimelineSlice> slices, const TrackLayout& layout, ProcessLayout& process,
                 TimelineNames& names, TimelineRank& rank) {
    const TrackKind kind = context_.catalog.tracks[slices.front().track].kind;
    TrackLanes lanes(kind, layout, process);
    std::map<std::size_t, std::pair<std::string, TimelineLane>> filled;  // by sort index
    for (const TimelineSlice& slice : slices) {
      Event event;
      event.start_ns = slice.start_ns;
      event.kind = slice.kind;
      const TrackLanes::Lane& lane = lanes.place(event, slice.end_ns);
      auto& [name, into] = filled[lane.sort_index];
      if (into.slices.empty()) name = lane.name;
      into.slices.push_back({slice.start_ns - data_.time.from_ns, slice.end_ns - data_.time.from_ns, names.of(slice)});
    }
    const std::size_t before = rank.tracks.size();
    for (auto& [index, lane] : filled) {
      const bool is_further = rank.tracks.size() > before && lane.first.starts_with(rank.tracks.back().name + " (");
      if (!is_further) rank.tracks.push_back({lane.first, kind == TrackKind::stream, {}});
      rank.tracks.back().lanes.push_back(std::move(lane.second));
    }
  }

  const AnalysisContext& context_;
  TimelineSection& result_;
  const std::vector<ProcessId> chosen_;  // sorted by rank
  TimelineData data_;
  Census census_;
  TimelineSlices slices_;
  std::vector<OfProcess> of_process_;
};

}  // namespace

TablesObserverEntry timeline_observer(TimelineRequest request, TimelineSection& result) {
  const ObserverNeeds needs{.kinds = host_kinds(), .any_time = true};
  return {needs,
          [request = std::move(request), &result](const AnalysisContext& context) -> std::unique_ptr<TablesObserver> {
            return std::make_unique<Timeline>(context, request, result);
          }};
}

}  // namespace cli::report
