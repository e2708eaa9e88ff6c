// regions: GPU work of the ranges that a program named (NVTX, record_function). Each range is projected onto the work
// launched in it, as in nvtx_gpu_proj_sum of Nsight Systems.
//
//   launched in it  the launching call began on the range's thread, between its start and its end
//   gpu_span        from the first start of that work to its last end; added up over all ranges of the name
//   gpu_busy        union of that work on any device; gpu_gap = gpu_span - gpu_busy
// GPU work counts for every range around its launch: the innermost kMostOpen ranges that end, and the newest kMostOpen
// that never end, because a program may push a range in each step and never pop it. Work at the edge of a window counts
// for the part inside. Memory: 16 bytes per range, for exact medians.
#include <map>
#include <tuple>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/launch_ranges.h"
#include "cli/answers/tables/percentile.h"

namespace cli {
namespace {

std::vector<Column> region_columns(RowKeys keys) {
  return joined(
      keys.by == GroupBy::none ? std::vector<Column>() : step_columns(keys),
      {{"name", Unit::text, "Name of the range"},
       {"domain", Unit::text, "NVTX domain, if any"},
       {"source", Unit::text, "nvtx, or annotation (record_function and PyTorch's own annotations)"},
       {"count", Unit::count, "Number of ranges with this name on the host, including those partly in the chosen time"},
       {"host_ns", Unit::ns, "Total time on the host"},
       {"host_min_ns", Unit::ns, "Shortest host time of a range"},
       {"host_median_ns", Unit::ns, "Median host time of a range"},
       {"host_max_ns", Unit::ns, "Longest host time of a range"},
       {"host_stddev_ns", Unit::ns,
        "Sample standard deviation of the host time (n - 1, like Nsight Systems); unknown for one range"},
       {"launching", Unit::count,
        "Number of ranges that launched GPU work in this row; with --by step, also ranges of earlier steps"},
       {"gpu_span_ns", Unit::ns,
        "Total GPU span: from the start of the first work launched in a range to the end of the last"},
       {"gpu_span_min_ns", Unit::ns, "Shortest GPU span of a range"},
       {"gpu_span_median_ns", Unit::ns, "Median GPU span of a range"},
       {"gpu_span_max_ns", Unit::ns, "Longest GPU span of a range"},
       {"gpu_span_stddev_ns", Unit::ns, "Sample standard deviation of the GPU span; unknown for one range"},
       {"gpu_busy_ns", Unit::ns, "Time with any GPU work launched in the ranges"},
       {"gpu_gap_ns", Unit::ns, "gpu_span_ns - gpu_busy_ns"},
       {"gpu_count", Unit::count, "Number of kernels, copies, memsets and whole graphs launched in the ranges"},
       {"kernels", Unit::count, "Number of kernels launched in the ranges"}});
}

class Regions : public Analysis {
 public:
  explicit Regions(const AnalysisContext& context)
      : Analysis(context), host_(context.windows.host()), ranges_(context), threads_(context.catalog.tracks.size()) {}

  void event(const Event& event, const Facts& facts) override {
    if (!is_slice(event)) return;
    ranges_.settle(event.start_ns, [&](const Event& call) { launch(call); });
    if (is_api_call(event.kind)) {
      if (event.correlation != 0) ranges_.call(event);
    } else {
      enter(event, facts.get<RangeFacts>());
    }
  }

  void work(const GpuWork& work) override {
    ranges_.settle([&](const Event& call) { launch(call); });
    const OpenSet* set = ranges_.of(work);
    if (set == nullptr || *set == nullptr) return;
    each_share(context_.windows, work, [&](std::size_t i, std::int64_t start_ns, std::int64_t end_ns) {
      for (const std::shared_ptr<Region>& region : **set) region->add(i, start_ns, end_ns, work.kind == Kind::kernel);
    });
  }

  void end_of(ProcessId process) override {
    ranges_.end_of(process, [&](const Event& call) { launch(call); });
    std::erase_if(endless_threads_, [&](TrackId track) {
      if (context_.catalog.tracks[track].process != process) return false;
      threads_[track] = {};
      return true;
    });
  }

  void finish(ResultTable& table) override {
    threads_.clear();
    ranges_.forget_all();  // every Region is added to its rows
    if (rows_.empty()) table.notes.push_back("no NVTX ranges or annotations in this trace");
    const auto order = [&](const auto& entry) {
      const auto& [key, row] = entry;
      return std::tuple(key.process, key.window, -row.span_ns, -row.host_ns, name_of(key.name), name_of(key.domain),
                        key.has_domain, key.kind);
    };
    for (auto* entry : sorted_entries(rows_, order)) table.rows.push_back(cells(entry->first, entry->second));
    append_endless_note(table.notes, endless_, "range");
    if (deep_ > 0) {
      table.notes.push_back(fmt::format(
          "{} in more than {} nested ranges: their work counts in the innermost {}, and in the innermost {} that never ended",
          count_text(deep_, "launch", "launches"), kMostOpen, kMostOpen, kMostOpen));
    }
  }

 private:
  struct Key {
    ProcessId process = 0;   // 0 if a row covers all processes
    std::size_t window = 0;  // if rows are steps
    StringId name = 0, domain = 0;
    bool has_domain = false;
    Kind kind = Kind::nvtx;
    auto operator<=>(const Key&) const = default;
  };
  struct Row {
    std::int64_t count = 0, host_ns = 0, launching = 0, span_ns = 0, busy_ns = 0, gpu_count = 0, kernels = 0;
    std::vector<std::int64_t> hosts_ns, spans_ns;  // one value per range
  };

  // A range with its work in each window. It adds itself to its rows once no more work launched in it can arrive.
  class Region {
   public:
    Region(Regions& all, ProcessId process, const Key& key) : all_(all), process_(process), key_(key) {}
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    ~Region() { all_.add(*this); }

    // Called in order of start_ns.
    void add(std::size_t window, std::int64_t start_ns, std::int64_t end_ns, bool is_kernel) {
      if (work_.empty() || work_.back().window < window) work_.push_back({window, start_ns, start_ns, 0, 0, 0});
      for (auto at = work_.rbegin(); at != work_.rend(); ++at) {
        if (at->window != window) continue;
        at->busy_ns += std::max<std::int64_t>(0, end_ns - std::max(start_ns, at->end_ns));
        at->end_ns = std::max(at->end_ns, end_ns);
        ++at->count;
        at->kernels += is_kernel;
        return;
      }
    }

   private:
    friend class Regions;
    struct Work {
      std::size_t window;
      std::int64_t start_ns, end_ns, busy_ns, count, kernels;
    };
    Regions& all_;
    ProcessId process_;
    Key key_;
    std::vector<Work> work_;  // by window
  };
  using OpenSet = std::shared_ptr<const std::vector<std::shared_ptr<Region>>>;  // null if none is open
  static constexpr std::size_t kMostOpen = 128;
  struct Thread {
    std::vector<std::shared_ptr<Region>> endless;  // the newest
    std::size_t endless_count = 0;                 // including the older ones
    OpenSet last;                // the ranges that the last call found open; null if a range began since then
    std::size_t last_count = 0;  // ranges that end, including those that are not in `last`
  };

  void enter(const Event& event, const RangeFacts* facts) {
    const ProcessId process = context_.catalog.tracks[event.track].process;
    const std::int64_t end_ns = slice_end(event, kLatest_ns);
    Key key{.name = event.name, .kind = event.kind};
    if (facts != nullptr && facts->has_domain) key.has_domain = true, key.domain = facts->domain;
    const auto& windows = host_.of(process);
    if (event.duration_ns < 0) ++endless_;
    Row* counted = nullptr;
    for (std::size_t i = host_.first_after(process, event.start_ns); i < windows.size(); ++i) {
      const std::int64_t from_ns = std::max(event.start_ns, windows[i].from_ns),
                         to_ns = std::min(end_ns, windows[i].to_ns);
      if (from_ns > to_ns) break;
      if (from_ns == to_ns && event.start_ns < from_ns) continue;
      Row& row = row_of(process, i, key);
      const bool is_new = &row != counted;
      counted = &row;
      row.count += is_new;
      if (event.duration_ns < 0) continue;
      row.host_ns += to_ns - from_ns;
      add_time(row.hosts_ns, is_new, to_ns - from_ns);
    }
    auto region = std::make_shared<Region>(*this, process, key);
    Thread& thread = threads_[event.track];
    thread.last.reset();
    if (event.duration_ns < 0) {
      ++thread.endless_count;
      thread.endless.push_back(std::move(region));
      if (thread.endless.size() > kMostOpen) thread.endless.erase(thread.endless.begin());
      if (thread.endless_count == 1) endless_threads_.push_back(event.track);
      return;
    }
    ranges_.open_at(event.track, event.start_ns);
    ranges_.open(event.track, {event.start_ns, end_ns, std::move(region)});
  }

  void launch(const Event& call) {
    const auto& open = ranges_.open_at(call.track, call.start_ns);
    Thread& thread = threads_[call.track];
    if (open.empty() && thread.endless.empty()) {
      thread.last.reset();
    } else if (thread.last == nullptr ||
               thread.last_count !=
                   open.size()) {  // no range began since then, so an equal count means the same ranges
      std::vector<std::shared_ptr<Region>> regions(thread.endless.begin(), thread.endless.end());
      for (std::size_t i = open.size() - std::min(open.size(), kMostOpen); i < open.size(); ++i)
        regions.push_back(open[i].range);
      thread.last = std::make_shared<const std::vector<std::shared_ptr<Region>>>(std::move(regions));
      thread.last_count = open.size();
    }
    deep_ += std::max(open.size(), thread.endless_count) > kMostOpen;
    ranges_.launches(call, thread.last);
  }

  void add(const Region& region) {
    Row* counted = nullptr;
    for (const Region::Work& work : region.work_) {
      Row& row = row_of(region.process_, work.window, region.key_);
      const bool is_new = &row != counted;
      counted = &row;
      row.launching += is_new;
      row.span_ns += work.end_ns - work.start_ns;
      add_time(row.spans_ns, is_new, work.end_ns - work.start_ns);
      row.busy_ns += work.busy_ns;
      row.gpu_count += work.count;
      row.kernels += work.kernels;
    }
  }

  // Adds a new range's time, or extends that of the last one.
  static void add_time(std::vector<std::int64_t>& times, bool is_new, std::int64_t ns) {
    if (is_new) times.push_back(0);
    times.back() += ns;
  }
  static void append_spread(std::vector<Cell>& cells, std::vector<std::int64_t>& times) {
    if (times.empty()) return append(cells, Cell(), Cell(), Cell(), Cell());
    const auto deviation = standard_deviation(times);
    const Spread ns = spread_of(times);
    append(cells, ns.least, ns.median, ns.most, deviation);
  }

  Row& row_of(ProcessId process, std::size_t window, Key key) {
    if (!by(GroupBy::none)) key.process = process;
    if (by(GroupBy::step)) key.window = window;
    return rows_[key];
  }

  std::vector<Cell> cells(const Key& key, Row& row) const {
    std::vector<Cell> cells;
    if (!by(GroupBy::none)) cells = step_cells(key.process, context_.windows.of(key.process)[key.window].step);
    append(cells, name_of(key.name), key.has_domain ? cell_of(name_of(key.domain)) : Cell(),
           key.kind == Kind::nvtx ? "nvtx" : "annotation", row.count, row.host_ns);
    append_spread(cells, row.hosts_ns);
    append(cells, row.launching, row.span_ns);
    append_spread(cells, row.spans_ns);
    append(cells, row.busy_ns, row.span_ns - row.busy_ns, row.gpu_count, row.kernels);
    return cells;
  }

  const Windows host_;
  std::map<Key, Row> rows_;  // declared before members that hold Regions, whose destructors use it
  LaunchRanges<std::shared_ptr<Region>, OpenSet> ranges_;
  std::vector<Thread> threads_;           // by TrackId
  std::vector<TrackId> endless_threads_;  // threads with ranges that never end, of processes that have not ended
  std::uint64_t endless_ = 0;
  std::uint64_t deep_ = 0;  // launches inside more ranges than are counted
};

}  // namespace

AnalysisEntry regions_analysis() {
  return analysis_entry<Regions, region_columns>(
      {.name = "regions",
       .meaning = "NVTX ranges and annotations: host time, and the GPU work launched in them",
       .by = {GroupBy::none, GroupBy::rank, GroupBy::step},
       .needs = {.kinds = kinds_of({Kind::nvtx, Kind::user_annotation, Kind::runtime, Kind::driver})}});
}

}  // namespace cli
