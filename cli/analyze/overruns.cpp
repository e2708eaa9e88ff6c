#include "cli/analyze/overruns.h"

#include <fmt/format.h>

#include "cli/io/units.h"

namespace cli {

std::string Overruns::text(const Catalog& catalog) const {
  if (count_ == 0) return {};
  return fmt::format("{} recorded to end more than 1 s after later work of the same stream began ({}: {} after): busy is an upper bound, and the duration is likely wrong",
                     count_text(count_, "kernel or copy is", "kernels and copies are"), catalog.strings[name_], duration_text(longest_ns_));
}

}  // namespace cli
