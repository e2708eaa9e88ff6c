// copies: copies and memsets by endpoints and size: count, duration, rate. Memory: 8 bytes per copy with a known rate,
// for exact medians.
#include <bit>
#include <tuple>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/gpu_peaks.h"
#include "cli/trace/words.h"

namespace cli {
namespace {

std::vector<Column> copy_columns(RowKeys keys) {
  return joined(
      rank_columns(keys),
      {{"operation", Unit::text, "memcpy or memset"},
       {"direction", Unit::text, "Direction of a memcpy, as in CUPTI: HtoD, DtoH, DtoD, PtoP, ...; empty if unknown"},
       {"from_memory", Unit::text, "Memory read by a memcpy: Pageable, Pinned, Device, ...; empty if unknown"},
       {"to_memory", Unit::text, "Memory written: Pageable, Pinned, Device, ...; empty if unknown"},
       {"pageable", Unit::yes_no,
        "Whether one of the two is pageable: the driver then stages the copy, and the call may block"},
       {"class", Unit::text, "comm if an NCCL call launched it, otherwise memory"},
       {"from_bytes", Unit::bytes,
        "Smallest size in the row; the largest is less than twice as much; empty if unknown"},
       {"count", Unit::count, "Number of copies or memsets"},
       {"bytes", Unit::bytes, "Total bytes"},
       {"time_ns", Unit::ns, "Total duration, including copies that ran at the same time"},
       {"share_pct", Unit::percent,
        "Share of the total duration of all copies and memsets (of the rank with --by rank)"},
       {"median_gb_per_s", Unit::rate, "Median of bytes / duration"},
       {"best_gb_per_s", Unit::rate, "Highest bytes / duration"},
       {"of_peak_pct", Unit::percent,
        "Median relative to the peak memory bandwidth of the GPU, for memsets and copies within a GPU"}});
}

constexpr std::uint8_t kUnknownMemory = 0, kPageable = 1;      // CUpti_ActivityMemoryKind
constexpr std::uint8_t kDirections = 11, kDeviceToDevice = 8;  // CUpti_ActivityMemcpyKind

class CopyTable : public Analysis {
 public:
  explicit CopyTable(const AnalysisContext& context) : Analysis(context), peaks_(context.catalog, context.own_peaks) {}

  // Uses the full copy even if it extends past the window: a part of a copy has no rate.
  void work(const GpuWork& work) override {
    const auto* copy = work.facts->get<CopyFacts>();
    const auto* set = work.facts->get<SetFacts>();
    if (work.kind != Kind::memcpy && work.kind != Kind::memset) return;
    Key key{.group = group_of(work.process), .kind = work.kind, .work_class = work.work_class};
    if (copy != nullptr) key.direction = copy->direction, key.from = copy->from_memory, key.to = copy->to_memory;
    if (copy != nullptr) key.between_devices = copy->between_devices && copy->from_device != copy->to_device;
    if (set != nullptr) key.to = set->memory;
    const Event& event = *work.event;
    const bool sized = event.has_bytes && event.bytes <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    if (sized) key.from_bytes = static_cast<std::int64_t>(std::bit_floor(event.bytes));
    const std::int64_t ns = work.end_ns - work.start_ns;
    Sums& sums = rows_[key];
    ++sums.count;
    sums.time_ns += ns;
    time_ns_[key.group] += ns;
    if (!sized) return;
    sums.bytes += static_cast<std::int64_t>(event.bytes);
    const GpuPeaks* peaks = peaks_.of(work.process, work.device);
    const double peak = peaks == nullptr ? 0 : peaks->memory_gb_per_s / accesses(key);
    sums.peak = sums.count == 1 || sums.peak == peak ? peak : 0;
    if (ns > 0) sums.gb_per_s.push_back(static_cast<double>(event.bytes) / static_cast<double>(ns));
  }

  void finish(ResultTable& table) override {
    const auto order = [](const auto& entry) { return std::pair(entry.first.group, -entry.second.time_ns); };
    for (auto* entry : sorted_entries(rows_, order)) table.rows.push_back(row(entry->first, entry->second));
  }

 private:
  struct Key {
    ProcessId group = 0;
    Kind kind = Kind::memcpy;
    std::uint8_t direction = 0, from = 0, to = 0;
    bool between_devices = false;
    WorkClass work_class = WorkClass::memory;
    std::int64_t from_bytes = -1;  // -1 if unknown
    auto operator<=>(const Key&) const = default;
  };
  struct Sums {
    std::int64_t count = 0, bytes = 0, time_ns = 0;
    double peak = 0;  // GB/s; 0 if unknown or not the same for all
    std::vector<double> gb_per_s;
  };

  // Returns the number of accesses to the GPU's own memory per copied byte; infinity if something else limits the rate,
  // which the trace does not show.
  static double accesses(const Key& key) {
    if (key.kind == Kind::memset) return is_device_memory(key.to) ? 1 : std::numeric_limits<double>::infinity();
    const bool within = key.direction == kDeviceToDevice && !key.between_devices && is_device_memory(key.from) &&
                        is_device_memory(key.to);
    return within ? 2 : std::numeric_limits<double>::infinity();
  }

  static Cell memory_cell(std::uint8_t memory) {
    return memory == kUnknownMemory ? Cell() : cell_of(memory_name(memory));
  }

  std::vector<Cell> row(const Key& key, Sums& sums) const {
    const bool is_copy = key.kind == Kind::memcpy;
    std::vector<Cell> cells = rank_cells(key.group);
    const bool told = key.to != kUnknownMemory && (!is_copy || key.from != kUnknownMemory);
    const bool known_way = key.direction > 0 && key.direction < kDirections;
    append(cells, is_copy ? "memcpy" : "memset", known_way ? cell_of(copy_direction(key.direction)) : Cell(),
           is_copy ? memory_cell(key.from) : Cell(), memory_cell(key.to),
           told ? Cell(key.from == kPageable || key.to == kPageable) : Cell(),
           key.work_class == WorkClass::comm ? "comm" : "memory", known_cell(key.from_bytes), sums.count,
           key.from_bytes >= 0 ? Cell(sums.bytes) : Cell(), sums.time_ns,
           percent(sums.time_ns, time_ns_.at(key.group)));
    if (sums.gb_per_s.empty()) return cells;
    std::sort(sums.gb_per_s.begin(), sums.gb_per_s.end());
    const double middle = sums.gb_per_s[(sums.gb_per_s.size() - 1) / 2];
    append(cells, middle, sums.gb_per_s.back(), sums.peak > 0 && middle > 0 ? Cell(100 * middle / sums.peak) : Cell());
    return cells;
  }

  DevicePeaks peaks_;
  std::map<Key, Sums> rows_;
  std::map<ProcessId, std::int64_t> time_ns_;
};

}  // namespace

AnalysisEntry copies_analysis() {
  return analysis_entry<CopyTable, copy_columns>(
      {.name = "copies",
       .meaning = "Copies and memsets by direction, memory and size: count, duration, rate",
       .by = {GroupBy::none, GroupBy::rank}});
}

}  // namespace cli
