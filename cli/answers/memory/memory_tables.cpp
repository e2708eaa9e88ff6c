#include "cli/answers/memory/memory_tables.h"

#include <algorithm>
#include <map>

#include "cli/answers/tables/cells.h"

namespace cli::memory {
namespace {

constexpr Column kFileColumn{"file", Unit::text, "Name of the file"};

std::vector<Column> with_device(const std::vector<Column>& more) {
  return joined({kFileColumn, kRankColumn, {"device", Unit::number, "CUDA ordinal of the GPU in the process"}}, more);
}

std::vector<Cell> device_cells(const Input& input, const DeviceMemory& memory) {
  std::vector<Cell> row;
  append(row, Cell(input.name), known(input.rank), Cell(memory.device));
  return row;
}

Cell bytes_cell(std::uint64_t bytes) { return Cell(static_cast<std::int64_t>(bytes)); }

// Time of the peak since the first entry, if the file contains times.
Cell since_start(const DeviceMemory& memory) {
  if (memory.peak_time_us == snapshot::kNoTime || memory.first_time_us == snapshot::kNoTime) return {};
  return Cell((memory.peak_time_us - memory.first_time_us) * 1000);
}

std::uint64_t bytes_before(const std::vector<LiveBlock>& blocks) {
  std::uint64_t bytes = 0;
  for (const LiveBlock& block : blocks) {
    if (block.entry == LiveBlock::kBefore) bytes += block.bytes;
  }
  return bytes;
}

struct Group {
  std::uint64_t bytes = 0, largest_bytes = 0, blocks = 0;

  void add(const LiveBlock& block) {
    bytes += block.bytes;
    largest_bytes = std::max(largest_bytes, block.bytes);
    ++blocks;
  }
};

constexpr std::string_view kBeforeText = "before the history";
constexpr std::string_view kNoStackText = "no stack in the history";

std::string subject_of(const LiveBlock& block, Subjects& subjects, GroupBy by) {
  const std::string& name = subjects.of(block.stack);
  if (!name.empty()) return name;
  if (block.stack == 0) return std::string(block.entry == LiveBlock::kBefore ? kBeforeText : kNoStackText);
  return by == GroupBy::op ? "outside of operators" : by == GroupBy::module ? "outside of modules" : "native code";
}

std::string_view subject_key(GroupBy by) {
  return by == GroupBy::line ? "line" : by == GroupBy::stack ? "stack" : by == GroupBy::op ? "operator" : "module";
}

}  // namespace

ResultTable device_table(const std::vector<Input>& inputs) {
  ResultTable table;
  table.name = "devices";
  table.columns = with_device(
      {{"peak_bytes", Unit::bytes, "Peak memory in use, as requested by the program"},
       {"peak_at_ns", Unit::ns, "Time of the peak, since the start of the history; empty in files without times"},
       {"before_history_pct", Unit::percent, "Share of the peak that was allocated before the history begins"},
       {"start_bytes", Unit::bytes, "Memory in use at the start of the history"},
       {"end_bytes", Unit::bytes, "Memory in use at the end"},
       {"reserved_peak_bytes", Unit::bytes, "Peak memory that the allocator reserved from the driver"},
       {"reserved_end_bytes", Unit::bytes, "Memory reserved at the end"},
       {"allocations", Unit::count, "Number of allocations in the history"},
       {"releases", Unit::count, "Number of completed releases in the history"},
       {"segment_allocations", Unit::count, "Number of times that the allocator asked the driver for memory"},
       {"segment_releases", Unit::count, "Number of times that it returned memory to the driver"},
       {"out_of_memory", Unit::count, "Number of allocations that failed"},
       {"difference_bytes", Unit::bytes,
        "Start plus allocations minus releases minus end; 0 if the history is complete"}});
  for (const Input& input : inputs) {
    for (const DeviceMemory& m : input.devices) {
      std::vector<Cell> row = device_cells(input, m);
      const auto blocks = blocks_in_use(input.snapshot, m.device, m.peak_state);
      append(row, bytes_cell(m.peak_bytes), since_start(m),
             percent(static_cast<std::int64_t>(bytes_before(blocks)), static_cast<std::int64_t>(m.peak_bytes)),
             bytes_cell(m.start_bytes), bytes_cell(m.end_bytes), bytes_cell(m.reserved_peak_bytes),
             bytes_cell(m.reserved_end_bytes), bytes_cell(m.allocations), bytes_cell(m.frees),
             bytes_cell(m.segment_allocations), bytes_cell(m.segment_frees), bytes_cell(m.out_of_memory),
             Cell(m.difference_bytes));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

ResultTable peak_table(const std::vector<Input>& inputs, GroupBy by) {
  ResultTable table;
  table.name = "peak";
  table.columns = with_device({{subject_key(by), Unit::text, "Where the memory was allocated"},
                               {"bytes", Unit::bytes, "Memory in use at the peak"},
                               {"share_pct", Unit::percent, "Share of the peak"},
                               {"blocks", Unit::count, "Number of blocks"},
                               {"largest_bytes", Unit::bytes, "Largest block"}});
  for (const Input& input : inputs) {
    Subjects subjects(input.snapshot.catalog, by);
    for (const DeviceMemory& memory : input.devices) {
      std::map<std::string, Group> groups;
      for (const LiveBlock& block : blocks_in_use(input.snapshot, memory.device, memory.peak_state)) {
        groups[subject_of(block, subjects, by)].add(block);
      }
      std::vector<std::pair<std::string, Group>> sorted(groups.begin(), groups.end());
      std::stable_sort(sorted.begin(), sorted.end(),
                       [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
      for (const auto& [name, group] : sorted) {
        std::vector<Cell> row = device_cells(input, memory);
        append(row, Cell(name), bytes_cell(group.bytes),
               percent(static_cast<std::int64_t>(group.bytes), static_cast<std::int64_t>(memory.peak_bytes)),
               bytes_cell(group.blocks), bytes_cell(group.largest_bytes));
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

ResultTable fragmentation_table(const std::vector<Input>& inputs) {
  ResultTable table;
  table.name = "fragmentation";
  table.columns = with_device(
      {{"reserved_bytes", Unit::bytes, "Memory reserved from the driver at the end"},
       {"in_use_bytes", Unit::bytes, "Requested memory in use at the end"},
       {"rounding_bytes", Unit::bytes, "Memory that the allocator's rounding adds to blocks in use"},
       {"split_bytes", Unit::bytes, "Free memory in segments that are partly in use; only smaller allocations fit"},
       {"largest_free_bytes", Unit::bytes, "Largest free block: the largest allocation that needs no new segment"},
       {"free_segments_bytes", Unit::bytes,
        "Segments without a block in use, which torch.cuda.empty_cache() returns"}});
  for (const Input& input : inputs) {
    for (const DeviceMemory& m : input.devices) {
      const Fragmentation f = fragmentation(input.snapshot, m.device);
      std::vector<Cell> row = device_cells(input, m);
      append(row, bytes_cell(m.reserved_end_bytes), bytes_cell(m.end_bytes), bytes_cell(f.rounding_bytes),
             bytes_cell(f.split_bytes), bytes_cell(f.largest_free_bytes), bytes_cell(f.free_segment_bytes));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace cli::memory
