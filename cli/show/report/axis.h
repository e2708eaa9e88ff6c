// An axis of a chart: from 0 to a round number, in one unit.
#pragma once
#include <string>
#include <vector>

#include "cli/answers/tables/analysis_table.h"

namespace cli {

struct Axis {
  double most = 1;             // at its end, in the unit of the values
  std::vector<double> ticks;   // ascending from 0, in the unit of the values
  double divisor = 1;          // of a value, for its tick
  std::string unit;            // of the ticks: "ms", "%"; "" of a count

  // "12.5"
  std::string tick_text(double value) const;
};

// That holds values up to `largest`. Unit::ns, percent, rate, bytes; all others are counts.
Axis axis_for(double largest, Unit unit);

}  // namespace cli
