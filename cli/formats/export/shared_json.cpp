#include "cli/formats/export/shared_json.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/base/json_text.h"
#include "cli/base/text.h"
#include "cli/timeline/collectives/operations.h"
#include "cli/trace/event.h"
#include "cli/trace/losses.h"
#include "cli/trace/operator_inputs.h"

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

// Names have the length in bytes last, because viewers treat names that differ only in digits as equal.
DerivedText collective_text(const DerivedFacts& facts) {
  const JoinedCollective& c = *facts.collective;
  const bool waits = facts.part == CollectivePart::wait;
  DerivedText text;
  text.name = !waits             ? "transfer: "
              : c.last_rank >= 0 ? fmt::format(FMT_COMPILE("wait for rank {}: "), c.last_rank)
                                 : "wait: ";
  text.name += operation_name(c.operation);
  if (c.bytes >= 0) text.name += ' ' + bytes_text(static_cast<std::uint64_t>(c.bytes));
  text.args = fmt::format(FMT_COMPILE("\"part\":\"{}\",\"communicator\":{},"), waits ? "wait" : "transfer",
                          json_quoted(c.communicator));
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

namespace {

std::string object(std::string_view key, const KindCounts& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    text += (text.empty() ? "\"" : ",\"") + std::string(kKinds[i].name) + "\":" + std::to_string(counts[i]);
  }
  return text.empty() ? text : ",\"" + std::string(key) + "\":{" + text + '}';
}

}  // namespace

std::string overwritten_json(const Process& p) { return object("overwritten", p.overwritten); }

std::string unrecorded_json(const Process& p) {
  std::string text = object("lost", p.lost);
  if (p.lost_unknown_kind > 0) text += ",\"lost_unknown_kind\":" + std::to_string(p.lost_unknown_kind);
  return text;
}

std::string loss_json(const Process& p) {
  std::string text = overwritten_json(p) + unrecorded_json(p);
  const auto add = [&text](const char* name, std::uint64_t count) {
    if (count > 0) text += std::string(",\"") + name + "\":" + std::to_string(count);
  };
  add("stacks_left_out", p.recorder.stacks_left_out);
  add("operators_without_stack", p.recorder.operators_without_stack);
  add("module_names_missed", p.recorder.module_names_missed);
  return text;
}

namespace {

template <typename List, typename Text>
std::string json_list(const List& list, Text&& text) {
  std::string out = "[";
  for (const auto& value : list) {
    if (out.size() > 1) out += ',';
    out += text(value);
  }
  return out += ']';
}

bool has(const OperatorInput& input, DimsId OperatorInput::*which, const std::vector<OperatorInput>& elements) {
  bool any = input.*which != 0;
  for (const OperatorInput& element : elements) any |= element.*which != 0;
  return any;
}

}  // namespace

InputsText::InputsText(const Catalog& catalog, OperatorInputId id) {
  const std::vector<OperatorInput> inputs = inputs_of(catalog, id);
  const auto of_dims = [&](DimsId dims) {
    return json_list(dims_of(catalog, dims), [](std::int64_t size) { return std::to_string(size); });
  };
  const auto numbers = [&](DimsId OperatorInput::*which, std::string& out) {
    bool any = false;
    std::string text = json_list(inputs, [&](const OperatorInput& input) {
      const std::vector<OperatorInput> elements = inputs_of(catalog, input.elements);
      any |= has(input, which, elements);
      if (input.elements == 0) return of_dims(input.*which);
      return json_list(elements, [&](const OperatorInput& element) { return of_dims(element.*which); });
    });
    if (any) out = std::move(text);
  };
  const auto words = [&](StringId OperatorInput::*which, std::string& out) {
    bool any = false;
    std::string text = json_list(inputs, [&](const OperatorInput& input) {
      any |= input.*which != 0;
      return json_quoted(catalog.strings[input.*which]);
    });
    if (any) out = std::move(text);
  };
  numbers(&OperatorInput::dims, dims);
  numbers(&OperatorInput::strides, strides);
  words(&OperatorInput::type, types);
  words(&OperatorInput::value, values);
}

}  // namespace cli
