#include "cli/export/derived_text.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include "cli/export/losses_json.h"
#include "cli/io/json_text.h"
#include "cli/io/units.h"
#include "cli/model/losses.h"

namespace cli {
namespace {

DerivedText gap_text(const DerivedFacts& facts) {
  DerivedText text{"gap of " + duration_text(facts.gap_seen_ns), {}};
  text.args = facts.length_ns < 0 ? "\"ended\":false" : fmt::format("\"span_ns\":{}", facts.length_ns);
  if (!facts.gap->text.empty()) text.args += ",\"text\":" + json_quoted(facts.gap->text);
  return text;
}

DerivedText loss_words(const DerivedFacts& facts, const Process& process) {
  switch (facts.loss) {
    case Loss::overwritten:
      return {overwritten_text(process), overwritten_json(process)};
    case Loss::unrecorded:
      return {unrecorded_text(process), unrecorded_json(process)};
    default:
      return {loss_text(process), loss_json(process)};
  }
}

}  // namespace

DerivedText derived_text(const Derived& slice, const Process& process) {
  const DerivedFacts& facts = slice.facts;
  if (facts.loss == Loss::gap) return gap_text(facts);
  if (facts.loss != Loss::none) {
    DerivedText text = loss_words(facts, process);
    text.args.erase(0, 1);
    if (facts.length_ns >= 0) text.args += fmt::format(",\"span_ns\":{}", facts.length_ns);
    return text;
  }
  DerivedText text{(slice.row == DerivedRow::idle ? "idle " : "exposed ") + duration_text(facts.length_ns),
                   fmt::format(FMT_COMPILE("\"ns\":{}"), facts.length_ns)};
  if (facts.short_gaps > 0) {
    text.args +=
        fmt::format(FMT_COMPILE(",\"short_gaps\":{},\"short_gaps_ns\":{}"), facts.short_gaps, facts.short_gaps_ns);
  }
  return text;
}

}  // namespace cli
