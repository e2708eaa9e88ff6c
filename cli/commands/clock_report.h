// Describes how clocks are aligned, as text and JSON.
//
// `merge --report` writes
// {"hosts":[{"host","boot_id","ranks","offset_ns","reference_ns","drift_ppm","samples","mad_ns","bound_ns":[lo,hi],
// "method","later":[{"from_ns","offset_ns","reference_ns","drift_ppm","bound_ns"}]}]}; unknown values are null.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/json_text.h"
#include "cli/base/output_file.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"

namespace cli {

// Writes an array.
void write_clocks(std::string_view key, const std::vector<ClockFit>& fits, JsonWriter& json);

// Returns "clocks: 8; 7 aligned by collectives; ...", or "" if there are fewer than two clocks. `fits` come from merged
// files, `catalog` from all inputs.
std::string clocks_text(const Catalog& catalog, const std::vector<ClockFit>& fits);

void write_clock_report(const std::vector<ClockFit>& fits, ByteSink& sink);

}  // namespace cli
