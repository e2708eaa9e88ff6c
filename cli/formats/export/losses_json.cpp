#include "cli/formats/export/losses_json.h"

#include <string_view>

#include "cli/trace/kinds.h"

namespace cli {
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

}  // namespace cli
