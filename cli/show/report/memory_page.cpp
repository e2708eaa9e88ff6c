#include "cli/show/report/memory_page.h"

#include <fmt/format.h>

#include "cli/base/text.h"
#include "cli/show/report/memory_chart.h"
#include "cli/show/report/page.h"
#include "cli/show/report/table_html.h"

namespace cli::report {
namespace {

constexpr std::size_t kMostRows = 50;

std::string_view caption_of(std::string_view table) {
  return table == "in_use"          ? "what was in use"
         : table == "change"        ? "what changed"
         : table == "all_devices"   ? "all GPUs"
         : table == "phases"        ? "peak in each phase of the step"
         : table == "checkpointing" ? "what checkpointing a module would free"
         : table == "growth"        ? "growth from step to step"
         : table == "out_of_memory" ? "allocations that failed"
         : table == "fragmentation" ? "free memory at the end"
                                    : "devices";
}

}  // namespace

std::string memory_page_html(const std::vector<memory::Input>& inputs, const std::vector<ResultTable>& tables,
                             memory::GroupBy by, const std::string& command) {
  Html page;
  open_page(page, "GPU memory");
  page.open("header");
  page.element("h1", "GPU memory");
  page.close("header");
  page.open("main");
  for (const memory::Input& input : inputs) {
    for (const memory::DeviceMemory& device : input.devices) {
      const Element in_section(page, "section");
      page.element("h2", fmt::format("{}{}, GPU {}", input.name,
                                     input.rank ? fmt::format(", rank {}", *input.rank) : "", device.device));
      page.element("p", {{"class", "sentence"}},
                   fmt::format("The peak is {}. The allocator reserved at most {}.", bytes_text(device.peak_bytes),
                               bytes_text(device.reserved_peak_bytes)));
      write_memory_chart(page, input, device, memory::GroupBy::category);
      if (by != memory::GroupBy::category) write_memory_chart(page, input, device, by);
    }
  }
  const Element in_section(page, "section");
  for (const ResultTable& table : tables) {
    if (!table.rows.empty()) write_folded_table(page, table, caption_of(table.name), kMostRows, command);
  }
  page.close("main");
  close_page(page);
  return page.all();
}

}  // namespace cli::report
