// A bar for each row of a table that has one for each GPU.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cli/answers/tables/table_reading.h"
#include "cli/show/report/bar_chart.h"

namespace cli {

// "rank 3", "rank 3 model_init GPU 1": as much as tells rows apart.
std::string gpu_label(const TableReading& gpus, std::size_t row);

// `values` of a row: those of the chart's parts.
std::vector<Bar> gpu_bars(const TableReading& gpus, const std::function<std::vector<double>(std::size_t row)>& values);

// What a bar is where there are too many GPUs for one each; "" where there are not.
std::string grouping_text(std::size_t rows);

}  // namespace cli
