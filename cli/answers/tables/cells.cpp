#include "cli/answers/tables/cells.h"

#include <fmt/format.h>

#include "cli/base/text.h"

namespace cli {

std::string LaunchesWithoutWork::text() const {
  if (!are_many()) return {};
  return fmt::format("{} of {} no GPU work in this trace: busy is a lower bound, idle an upper bound", missing(),
                     count_text(launches_, "launch has", "launches have"));
}

}  // namespace cli
