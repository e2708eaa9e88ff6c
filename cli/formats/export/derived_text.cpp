#include "cli/formats/export/derived_text.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include "cli/timeline/collectives/operations.h"
#include "cli/formats/export/losses_json.h"
#include "cli/base/json_text.h"
#include "cli/base/units.h"
#include "cli/trace/losses.h"

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

// Names have the length in bytes last: viewers take those for alike that differ in digits alone.
DerivedText collective_text(const DerivedFacts& facts) {
  const JoinedCollective& c = *facts.collective;
  const bool waits = facts.part == CollectivePart::wait;
  DerivedText text;
  text.name = !waits ? "transfer: " : c.last_rank >= 0 ? fmt::format(FMT_COMPILE("wait for rank {}: "), c.last_rank) : "wait: ";
  text.name += operation_name(c.operation);
  if (c.bytes >= 0) text.name += ' ' + bytes_text(static_cast<std::uint64_t>(c.bytes));
  text.args = fmt::format(FMT_COMPILE("\"part\":\"{}\",\"communicator\":{},"), waits ? "wait" : "transfer", json_quoted(c.communicator));
  if (!c.description.empty()) text.args += "\"description\":" + json_quoted(c.description) + ',';
  if (c.epoch != 0) text.args += fmt::format(FMT_COMPILE("\"epoch\":{},"), c.epoch);
  text.args += fmt::format(FMT_COMPILE("\"operation\":\"{}\",\"ordinal\":{},"), operation_name(c.operation), c.ordinal);
  if (c.bytes >= 0) text.args += fmt::format(FMT_COMPILE("\"bytes\":{},"), c.bytes);
  if (c.last_rank >= 0) text.args += fmt::format(FMT_COMPILE("\"last rank\":{},"), c.last_rank);
  text.args += fmt::format(FMT_COMPILE("\"ranks\":{},\"ns\":{}"), c.ranks, facts.length_ns);
  return text;
}

}  // namespace

std::string derived_track_name(const Derived& slice) {
  const JoinedCollective* const collective = slice.facts.collective;
  if (collective == nullptr) return std::string(info(slice.track).name);
  std::string name = collective->communicator.empty() ? fmt::format("communicator (unknown, {})", collective->group + 1)
                                                      : fmt::format("communicator {}", collective->communicator);
  if (!collective->description.empty()) name += fmt::format(" {}", collective->description);
  if (collective->epoch > 1) name += fmt::format(" (epoch {})", collective->epoch);
  return name;
}

DerivedText derived_text(const Derived& slice, const Process& process) {
  const DerivedFacts& facts = slice.facts;
  if (facts.collective != nullptr) return collective_text(facts);
  if (facts.loss == Loss::gap) return gap_text(facts);
  if (facts.loss != Loss::none) {
    DerivedText text = loss_words(facts, process);
    text.args.erase(0, 1);
    if (facts.length_ns >= 0) text.args += fmt::format(",\"span_ns\":{}", facts.length_ns);
    return text;
  }
  DerivedText text{(slice.track == DerivedTrack::idle ? "idle " : "exposed ") + duration_text(facts.length_ns),
                   fmt::format(FMT_COMPILE("\"ns\":{}"), facts.length_ns)};
  if (facts.short_gaps > 0) {
    text.args +=
        fmt::format(FMT_COMPILE(",\"short_gaps\":{},\"short_gaps_ns\":{}"), facts.short_gaps, facts.short_gaps_ns);
  }
  return text;
}

}  // namespace cli
