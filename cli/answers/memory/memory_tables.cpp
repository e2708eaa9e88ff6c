#include "cli/answers/memory/memory_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "cli/answers/memory/categories.h"
#include "cli/answers/memory/checkpointing.h"
#include "cli/answers/memory/phases.h"
#include "cli/answers/memory/timeline.h"
#include "cli/answers/tables/cells.h"
#include "cli/base/text.h"

namespace cli::memory {
namespace {

constexpr Column kFileColumn{"file", Unit::text, "Name of the file"};

std::vector<Column> with_device(const std::vector<Column>& more) {
  return joined({kFileColumn, kRankColumn, {"device", Unit::number, "CUDA ordinal of the GPU in the process"}}, more);
}

std::vector<Cell> device_cells(const Input& input, const DeviceMemory& memory) {
  std::vector<Cell> row;
  append(row, Cell(input.name), cell_of(input.rank), Cell(memory.device));
  return row;
}

Cell bytes_cell(std::uint64_t bytes) { return Cell(static_cast<std::int64_t>(bytes)); }

// Returns a time since the first entry, or an empty cell if the file contains no times.
Cell since_start(std::int64_t time_us, const DeviceMemory& memory) {
  if (time_us == snapshot::kNoTime || memory.first_time_us == snapshot::kNoTime) return {};
  return Cell((time_us - memory.first_time_us) * 1000);
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

std::string_view subject_meaning(GroupBy by) {
  return by == GroupBy::category ? "Category of the memory, derived from the place of its allocation and its lifetime"
         : by == GroupBy::phase  ? "Part of the training step that allocated the memory"
                                 : "Code that allocated the memory";
}

constexpr std::size_t kFewestSteps = 3;  // that a history needs for a row of growth

}  // namespace

Input replayed(snapshot::Snapshot snapshot, const Process& process) {
  Input input{std::move(snapshot),
              std::filesystem::path(process.source).filename().string(),
              process.rank >= 0 ? std::optional(process.rank) : std::nullopt,
              {}};
  input.devices = replay(input.snapshot);
  return input;
}

ResultTable device_table(const std::vector<Input>& inputs) {
  ResultTable table;
  table.name = "devices";
  table.columns = with_device(
      {{"peak_bytes", Unit::bytes,
        "Peak memory in use; in snapshots as the program requested it, else with the allocator's rounding"},
       {"peak_at_ns", Unit::ns, "Time of the peak, since the start of the history; empty in files without times"},
       {"before_history_pct", Unit::percent, "Share of the peak that was allocated before the history begins"},
       {"start_bytes", Unit::bytes, "Memory in use at the start of the history"},
       {"end_bytes", Unit::bytes, "Memory in use at the end of the history"},
       {"reserved_peak_bytes", Unit::bytes, "Peak memory that the allocator reserved from the driver"},
       {"reserved_end_bytes", Unit::bytes, "Memory reserved at the end of the history"},
       {"outside_peak_bytes", Unit::bytes,
        "Peak memory of the driver that PyTorch's allocator did not reserve; unknown in snapshots and profiles"},
       {"allocations", Unit::count, "Number of allocations in the history"},
       {"releases", Unit::count, "Number of completed releases in the history"},
       {"segment_allocations", Unit::count, "Number of times that the allocator asked the driver for memory"},
       {"segment_releases", Unit::count, "Number of times that the allocator returned memory to the driver"},
       {"out_of_memory", Unit::count, "Number of allocations that failed"},
       {"difference_bytes", Unit::bytes,
        "Start plus allocations minus releases minus end; 0 if the history is complete"}});
  for (const Input& input : inputs) {
    for (const DeviceMemory& m : input.devices) {
      std::vector<Cell> row = device_cells(input, m);
      const auto outside = input.snapshot.outside_peak_bytes.find(m.device);
      const bool knows_outside = outside != input.snapshot.outside_peak_bytes.end();
      append(row, bytes_cell(m.peak_bytes), since_start(m.peak_time_us, m),
             percent(static_cast<std::int64_t>(bytes_before(m.peak_blocks)), static_cast<std::int64_t>(m.peak_bytes)),
             bytes_cell(m.start_bytes), bytes_cell(m.end_bytes), bytes_cell(m.reserved_peak_bytes),
             bytes_cell(m.reserved_end_bytes), knows_outside ? bytes_cell(outside->second) : Cell(),
             bytes_cell(m.allocations), bytes_cell(m.frees), bytes_cell(m.segment_allocations),
             bytes_cell(m.segment_frees), bytes_cell(m.failures.size()), Cell(m.difference_bytes));
      table.rows.push_back(std::move(row));
      // People choose round numbers for max_entries, and the newest entries replace the oldest.
      constexpr std::size_t kRound = 1000;
      if (m.start_bytes != 0 && m.states != 0 && m.states % kRound == 0) {
        table.notes.push_back(fmt::format(
            "{}, GPU {}: the history has exactly {} entries, so older ones were probably dropped: choose a larger "
            "max_entries in _record_memory_history()",
            input.name, m.device, m.states));
      }
      if (m.contradictions != 0) {
        table.notes.push_back(fmt::format("{}, GPU {}: {} contradict others; the history is incomplete or damaged",
                                          input.name, m.device, count_text(m.contradictions, "entry", "entries")));
      }
    }
  }
  return table;
}

namespace {

using Groups = std::map<std::string, Group>;

Groups groups_of(const Input& input, const DeviceMemory& memory, const std::vector<LiveBlock>& blocks, GroupBy by) {
  GroupNames names(input.snapshot, memory.device, by);
  Groups groups;
  for (const LiveBlock& block : blocks) groups[names.of(block)].add(block);
  return groups;
}

// Returns the blocks in use at a moment. Returns nullopt if the history has no such moment.
std::optional<std::vector<LiveBlock>> blocks_at(const Input& input, const DeviceMemory& memory, const Moment& moment) {
  const auto in_state = [&](std::size_t state) { return blocks_in_use(input.snapshot, memory.device, state); };
  switch (moment.kind) {
    case Moment::Kind::peak:
      return memory.peak_blocks;
    case Moment::Kind::end:
      return in_state(memory.states);
    case Moment::Kind::first_failure:
      if (memory.failures.empty()) return {};
      return in_state(memory.failures.front().state);
    case Moment::Kind::peak_of_part:
      for (const PhasePeak& peak : phase_peaks(input.snapshot, memory.device)) {
        if (peak.part == moment.part) return in_state(peak.state);
      }
      return {};
    case Moment::Kind::end_of_step:
      break;
  }
  const std::vector<std::size_t> ends = Parts(input.snapshot, memory.device).step_ends();
  if (moment.step >= ends.size()) return {};
  return in_state(ends[moment.step]);
}

std::string no_moment(const Input& input) { return input.name + ": the history has no such moment"; }

std::uint64_t total_of(const std::vector<LiveBlock>& blocks) {
  std::uint64_t bytes = 0;
  for (const LiveBlock& block : blocks) bytes += block.bytes;
  return bytes;
}

}  // namespace

ResultTable all_devices_table(const std::vector<Input>& inputs) {
  ResultTable table;
  table.name = "all_devices";
  table.columns = {{"devices", Unit::count, "Number of GPUs in all files"},
                   {"largest_peak_bytes", Unit::bytes, "Largest peak of a GPU"},
                   kFileColumn,
                   kRankColumn,
                   {"device", Unit::number, "GPU with the largest peak"},
                   {"smallest_peak_bytes", Unit::bytes, "Smallest peak of a GPU"},
                   {"sum_bytes", Unit::bytes, "Sum of the peaks of all GPUs, which need not be at the same time"}};
  std::int64_t devices = 0;
  std::uint64_t smallest = 0, sum = 0;
  const Input* file = nullptr;
  const DeviceMemory* largest = nullptr;
  for (const Input& input : inputs) {
    for (const DeviceMemory& memory : input.devices) {
      smallest = devices++ == 0 ? memory.peak_bytes : std::min(smallest, memory.peak_bytes);
      sum += memory.peak_bytes;
      if (largest != nullptr && largest->peak_bytes >= memory.peak_bytes) continue;
      file = &input;
      largest = &memory;
    }
  }
  if (devices < 2) return table;
  table.rows.push_back({Cell(devices), bytes_cell(largest->peak_bytes), Cell(file->name), cell_of(file->rank),
                        Cell(largest->device), bytes_cell(smallest), bytes_cell(sum)});
  return table;
}

ResultTable phase_table(const std::vector<Input>& inputs) {
  ResultTable table;
  table.name = "phases";
  table.columns = with_device(
      {{"phase", Unit::text, "Part of the training step: from its first allocation to the first of another part"},
       {"peak_bytes", Unit::bytes, "Peak memory in use in this phase"},
       {"peak_pct", Unit::percent, "Share of the peak of the GPU"},
       {"peak_at_ns", Unit::ns, "Time of the peak, since the start of the history; empty in files without times"},
       {"occurrences", Unit::count, "Number of times that the phase occurs in the history"}});
  for (const Input& input : inputs) {
    for (const DeviceMemory& memory : input.devices) {
      for (const PhasePeak& peak : phase_peaks(input.snapshot, memory.device)) {
        std::vector<Cell> row = device_cells(input, memory);
        append(row, Cell(std::string(part_name(peak.part))), bytes_cell(peak.bytes),
               percent(static_cast<std::int64_t>(peak.bytes), static_cast<std::int64_t>(memory.peak_bytes)),
               since_start(peak.time_us, memory), bytes_cell(peak.occurrences));
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

ResultTable in_use_table(std::span<const Input> inputs, const Moment& moment, GroupBy by) {
  ResultTable table;
  table.name = "in_use";
  table.columns = with_device({{group_word(by), Unit::text, subject_meaning(by)},
                               {"bytes", Unit::bytes, "Memory in use at this moment"},
                               {"share_pct", Unit::percent, "Share of the memory in use"},
                               {"blocks", Unit::count, "Number of blocks"},
                               {"largest_bytes", Unit::bytes, "Largest block"}});
  for (const Input& input : inputs) {
    for (const DeviceMemory& memory : input.devices) {
      const auto blocks = blocks_at(input, memory, moment);
      if (!blocks) {
        table.notes.push_back(no_moment(input));
        continue;
      }
      const Groups groups = groups_of(input, memory, *blocks, by);
      std::vector<std::pair<std::string, Group>> sorted(groups.begin(), groups.end());
      std::stable_sort(sorted.begin(), sorted.end(),
                       [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
      const auto total = static_cast<std::int64_t>(total_of(*blocks));
      for (const auto& [name, group] : sorted) {
        std::vector<Cell> row = device_cells(input, memory);
        append(row, Cell(name), bytes_cell(group.bytes), percent(static_cast<std::int64_t>(group.bytes), total),
               bytes_cell(group.blocks), bytes_cell(group.largest_bytes));
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

ResultTable checkpointing_table(const std::vector<Input>& inputs, const Moment& moment) {
  ResultTable table;
  table.name = "checkpointing";
  table.columns =
      with_device({{"module", Unit::text, "Function named forward, and the lines of it that occur in stacks"},
                   {"freed_bytes", Unit::bytes,
                    "Upper bound of what checkpointing the module frees: its activations, except those of one call"},
                   {"freed_pct", Unit::percent, "Share of the memory in use"},
                   {"activation_bytes", Unit::bytes, "Activations of the module and of the modules that it calls"},
                   {"blocks", Unit::count, "Number of these blocks"},
                   {"calls", Unit::count, "Number of calls of the module that hold activations; empty if unknown"}});
  for (const Input& input : inputs) {
    for (const DeviceMemory& memory : input.devices) {
      const auto blocks = blocks_at(input, memory, moment);
      if (!blocks) continue;  // the table in_use has a note about it
      const auto total = static_cast<std::int64_t>(total_of(*blocks));
      const std::vector<ModuleActivations> modules = checkpointing(input.snapshot, memory.device, *blocks);
      if (modules.empty() || modules.front().freed_bytes == 0) continue;
      for (const ModuleActivations& module : modules) {
        const bool known = module.calls != 0;
        std::vector<Cell> row = device_cells(input, memory);
        append(row, Cell(module.module), known ? bytes_cell(module.freed_bytes) : Cell(),
               known ? percent(static_cast<std::int64_t>(module.freed_bytes), total) : Cell(), bytes_cell(module.bytes),
               bytes_cell(module.blocks), known ? bytes_cell(module.calls) : Cell());
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

ResultTable change_table(const std::vector<Input>& inputs, const std::vector<Input>& baseline, const Moment& moment,
                         GroupBy by) {
  ResultTable table;
  table.name = "change";
  table.columns = {{group_word(by), Unit::text, subject_meaning(by)},
                   {"baseline_bytes", Unit::bytes, "Memory in use at this moment in the baseline"},
                   {"bytes", Unit::bytes, "Memory in use at this moment in the other snapshots"},
                   {"change_bytes", Unit::bytes, "Memory in use minus the baseline"}};
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> sums;
  const auto add = [&](const std::vector<Input>& from, auto member) {
    for (const Input& input : from) {
      for (const DeviceMemory& memory : input.devices) {
        const auto blocks = blocks_at(input, memory, moment);
        if (!blocks) {
          table.notes.push_back(no_moment(input));
          continue;
        }
        for (const auto& [name, group] : groups_of(input, memory, *blocks, by)) sums[name].*member += group.bytes;
      }
    }
  };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  add(baseline, &Pair::first);
  add(inputs, &Pair::second);
  std::vector<std::pair<std::string, Pair>> sorted(sums.begin(), sums.end());
  const auto change = [](const Pair& pair) { return static_cast<std::int64_t>(pair.second - pair.first); };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
    return std::abs(change(a.second)) > std::abs(change(b.second));
  });
  for (const auto& [name, pair] : sorted) {
    table.rows.push_back({Cell(name), bytes_cell(pair.first), bytes_cell(pair.second), Cell(change(pair))});
  }
  return table;
}

namespace {

// Returns the bytes in use by group at the end of each step.
std::map<std::string, std::vector<std::int64_t>> levels_at(const std::vector<std::size_t>& ends, const Input& input,
                                                           const DeviceMemory& memory, GroupBy by) {
  std::map<std::string, std::uint64_t> now;
  std::map<std::string, std::vector<std::int64_t>> levels;
  GroupNames names(input.snapshot, memory.device, by);
  std::size_t step = 0;
  const auto end_steps_before = [&](std::size_t state) {
    for (; step < ends.size() && ends[step] < state; ++step) {
      for (const auto& [name, bytes] : now) {
        levels[name].resize(ends.size());
        levels[name][step] = static_cast<std::int64_t>(bytes);
      }
    }
  };
  // By StackId: the sum in `now` of the stack's group. Null if the group does not follow from the stack alone.
  std::vector<std::uint64_t*> of_stack(input.snapshot.catalog.stacks.size());
  const auto changed = [&](std::size_t state, const LiveBlock& block, bool is_added, std::int64_t) {
    end_steps_before(state);
    std::uint64_t* bytes = of_stack[block.stack];
    if (bytes == nullptr) bytes = &now[names.of(block)];
    if (names.follow_from_stacks() && block.stack != 0) of_stack[block.stack] = bytes;
    *bytes += is_added ? block.bytes : 0 - block.bytes;
  };
  walk_blocks(input.snapshot, memory.device, changed, by == GroupBy::category);
  end_steps_before(LiveBlock::kNever);
  return levels;
}

constexpr std::size_t kGrowthPerStep = 4;  // the column growth_bytes_per_step

void add_growth(const Input& input, const DeviceMemory& memory, GroupBy by, std::vector<std::vector<Cell>>& rows) {
  const std::vector<std::size_t> ends = Parts(input.snapshot, memory.device).step_ends();
  if (ends.size() < kFewestSteps) return;
  const std::size_t first_row = rows.size();
  for (const auto& [name, level] : levels_at(ends, input, memory, by)) {
    std::vector<std::int64_t> steps;
    for (std::size_t i = 1; i < level.size(); ++i) steps.push_back(level[i] - level[i - 1]);
    const auto grew = std::count_if(steps.begin(), steps.end(), [](std::int64_t bytes) { return bytes > 0; });
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    if (*middle <= 0 || level.back() <= level.front()) continue;
    std::vector<Cell> row = device_cells(input, memory);
    append(row, Cell(name), Cell(*middle), Cell(level.back() - level.front()), Cell(std::int64_t{grew}),
           bytes_cell(steps.size()));
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(first_row), rows.end(),
                   [](const auto& a, const auto& b) { return a[kGrowthPerStep] > b[kGrowthPerStep]; });
}

}  // namespace

ResultTable growth_table(const std::vector<Input>& inputs, GroupBy by) {
  ResultTable table;
  table.name = "growth";
  table.columns = with_device(
      {{group_word(by), Unit::text, subject_meaning(by)},
       {"growth_bytes_per_step", Unit::bytes, "Median growth from the end of a step to the end of the next"},
       {"growth_bytes", Unit::bytes, "Growth from the end of the first step to the end of the last"},
       {"grew_in_steps", Unit::count, "Number of steps in which the group grew"},
       {"steps", Unit::count, "Number of steps after the first"}});
  for (const Input& input : inputs) {
    for (const DeviceMemory& memory : input.devices) add_growth(input, memory, by, table.rows);
  }
  return table;
}

ResultTable failure_table(const std::vector<Input>& inputs) {
  ResultTable table;
  table.name = "out_of_memory";
  table.columns =
      with_device({{"line", Unit::text, "Line of code that requested the memory"},
                   {"asked_bytes", Unit::bytes, "Requested memory"},
                   {"device_free_bytes", Unit::bytes, "Free memory of the device, as the driver reported it"},
                   {"in_use_bytes", Unit::bytes, "Requested memory in use"},
                   {"reserved_bytes", Unit::bytes, "Memory reserved from the driver"},
                   {"unused_bytes", Unit::bytes, "Memory reserved and not in use"},
                   {"largest_free_bytes", Unit::bytes,
                    "Largest free block; empty if memory was allocated or released after the failure"}});
  for (const Input& input : inputs) {
    Subjects lines(input.snapshot.catalog, GroupBy::line);
    for (const DeviceMemory& memory : input.devices) {
      for (const Failure& failure : memory.failures) {
        std::vector<Cell> row = device_cells(input, memory);
        const bool is_known = failure.is_last && input.snapshot.has_layout;
        const Cell largest =
            is_known ? bytes_cell(fragmentation(input.snapshot, memory.device).largest_free_bytes) : Cell();
        const bool knows_free = failure.device_free_bytes != snapshot::kUnknownBytes;
        append(row, Cell(lines.of(failure.stack)), bytes_cell(failure.asked_bytes),
               knows_free ? bytes_cell(failure.device_free_bytes) : Cell(), bytes_cell(failure.in_use_bytes),
               bytes_cell(failure.reserved_bytes), bytes_cell(failure.reserved_bytes - failure.in_use_bytes), largest);
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
    if (!input.snapshot.has_layout) continue;
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
