#include "cli/formats/json/export_mark.h"

#include "cli/base/json_text.h"
#include "cli/formats/json/json_unescape.h"

namespace cli {
namespace {

constexpr std::string_view kKey = "\"tracetool\": {", kForm = "\"export\": ", kRun = "\"run_id\": ";

// Returns the text of the string after `key`, or "" if there is none.
std::string string_after(std::string_view members, std::string_view key) {
  const std::size_t at = members.find(key);
  if (at == members.npos) return {};
  members.remove_prefix(at + key.size());
  const std::size_t open = members.find('"'), close = members.find('"', open + 1);
  if (open != 0 || close == members.npos) return {};
  std::string scratch;
  return std::string(unescape_json(members.substr(1, close - 1), scratch));
}

}  // namespace

std::string export_mark(const ExportMark& mark) {
  std::string text(kKey);
  text.append(kForm).append(mark.form == ExportMark::Form::chrome ? "\"chrome\"" : "\"kineto\"");
  if (mark.form == ExportMark::Form::kineto) text.append(", ").append(kRun).append(json_quoted(mark.run_id));
  return text + "}";
}

ExportMark find_export_mark(std::string_view members) {
  const std::size_t at = members.find(kKey);
  if (at == members.npos) return {};
  members = members.substr(at, members.find('}', at) - at);
  const std::string form = string_after(members, kForm);
  if (form == "chrome") return {ExportMark::Form::chrome, {}};
  if (form == "kineto") return {ExportMark::Form::kineto, string_after(members, kRun)};
  return {};
}

}  // namespace cli
