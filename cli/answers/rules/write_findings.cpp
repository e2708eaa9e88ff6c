#include "cli/answers/rules/write_findings.h"

#include "cli/answers/tables/write_tables.h"
#include "cli/base/json_text.h"
#include "cli/base/terminal.h"
#include "cli/trace/ranks.h"

namespace cli::rules {
namespace {

constexpr std::array<std::string_view, 3> kSeverityNames{"low", "medium", "high"};
constexpr std::size_t kTextEvidence = 3, kLongestWhat = 140;

void numbers(JsonWriter& json, std::string_view key, const std::vector<std::int64_t>& values) {
  json.open('[', key);
  for (const std::int64_t value : values) json.number({}, known_number(value));
  json.close(']');
}

void write(JsonWriter& json, const Finding& finding) {
  json.open('{');
  json.text("rule", finding.rule);
  json.text("severity", severity_name(finding.severity));
  json.text("title", finding.title);
  numbers(json, "ranks", finding.ranks);
  numbers(json, "steps", finding.steps);
  json.number("saving_ns", finding.saving_ns);
  json.number("saving_bytes", finding.saving_bytes);
  json.open('[', "evidence");
  for (const Evidence& each : finding.evidence) {
    json.open('{');
    json.number("rank", known_number(each.rank));
    json.number("start_ns", each.start_ns);
    json.number("end_ns", each.end_ns);
    json.text("what", each.what);
    json.close('}');
  }
  json.close(']');
  json.text("advice", finding.advice);
  json.text("source", finding.source);
  json.text("next_command", finding.next_command);
  json.close('}');
}

}  // namespace

std::string_view severity_name(Severity severity) { return kSeverityNames[static_cast<std::size_t>(severity)]; }

std::string saving_text(const Finding& finding, std::int64_t length_ns) {
  if (!finding.saving_ns && finding.saving_bytes)
    return fmt::format("at most {} of GPU memory", bytes_text(*finding.saving_bytes));
  if (!finding.saving_ns) return "unknown";
  if (*finding.saving_ns == 0) return "none; this is an observation";
  return fmt::format(
      "at most {}, {:.1f} % of the time", duration_text(*finding.saving_ns),
      length_ns > 0 ? 100.0 * static_cast<double>(*finding.saving_ns) / static_cast<double>(length_ns) : 0.0);
}

std::string where_text(const Finding& finding, const Diagnosis& diagnosis) {
  const bool is_only_process = diagnosis.processes == 1 && finding.ranks == std::vector<std::int64_t>{-1};
  std::string out = is_only_process ? "" : rank_list(finding.ranks);
  if (!finding.steps.empty())
    out += fmt::format("{}seen in {} {}", out.empty() ? "" : ", ", finding.steps.size() == 1 ? "step" : "steps",
                       number_list(finding.steps));
  return out;
}

std::string looked_at_text(const Diagnosis& diagnosis) {
  std::string out = fmt::format(
      "{} in {}, {}", diagnosis.findings.empty() ? "no findings" : count_text(diagnosis.findings.size(), "finding"),
      count_text(diagnosis.processes, "process", "processes"), duration_text(diagnosis.length_ns));
  if (!diagnosis.steps.empty())
    out += fmt::format(", {} {}", diagnosis.steps.size() == 1 ? "step" : "steps", number_list(diagnosis.steps));
  return out;
}

std::vector<std::string> not_checked_lines(const Diagnosis& diagnosis) {
  std::vector<std::string> lines;
  std::vector<std::string_view> reasons;
  for (const NotChecked& each : diagnosis.not_checked) {
    const auto at = std::find(reasons.begin(), reasons.end(), each.reason);
    if (at != reasons.end()) {
      lines[static_cast<std::size_t>(at - reasons.begin())] += ", " + std::string(each.rule);
    } else {
      reasons.push_back(each.reason);
      lines.push_back(fmt::format("not checked ({}): {}", each.reason, each.rule));
    }
  }
  return lines;
}

std::string title_line(std::size_t number, const Finding& finding) {
  const Color color = finding.severity == Severity::high     ? Color::red
                      : finding.severity == Severity::medium ? Color::yellow
                                                             : Color::bold;
  return colored(visible_text(fmt::format("{}. {} ({}): {}", number, finding.rule, severity_name(finding.severity),
                                          finding.title)),
                 color) +
         "\n";
}

std::string findings_text(const Diagnosis& diagnosis) {
  const bool nothing = diagnosis.processes == 0 && diagnosis.findings.empty();
  const std::string_view without =
      diagnosis.notes.empty() ? "no GPU work: there is nothing to diagnose" : "no GPU work in this trace";
  std::string out;
  add_line(out, nothing ? std::string(without) : looked_at_text(diagnosis));
  std::size_t at = 0;
  for (const Finding& finding : diagnosis.findings) {
    out += '\n';
    out += title_line(++at, finding);
    const std::string where = where_text(finding, diagnosis);
    if (!where.empty()) add_line(out, "   where:   {}", where);
    add_line(out, "   saving:  {}", saving_text(finding, diagnosis.length_ns));
    for (std::size_t i = 0; i < std::min(finding.evidence.size(), kTextEvidence); ++i) {
      const Evidence& each = finding.evidence[i];
      add_line(out, "   {}{}at {} for {}: {}", i == 0 ? "seen:    " : "         ",
               each.rank < 0 ? "" : fmt::format("rank {} ", each.rank), duration_text(each.start_ns),
               duration_text(each.end_ns - each.start_ns), shortened_text(each.what, kLongestWhat));
    }
    add_line(out, "   do:      {}", finding.advice);
    if (!finding.source.empty()) add_line(out, "   source:  {}", finding.source);
    add_line(out, "   next:    {}", finding.next_command);
  }
  if (!nothing) {
    for (const std::string& line : not_checked_lines(diagnosis)) add_line(out, line);
  }
  for (const std::string& note : diagnosis.notes) add_line(out, "note: {}", note);
  return out;
}

void write_findings_json(const Diagnosis& diagnosis, ByteSink& sink) {
  JsonText out(sink);
  JsonWriter json(out);
  json.open('{');
  json.open('[', "findings");
  for (const Finding& finding : diagnosis.findings) write(json, finding);
  json.close(']');
  json.number("processes", diagnosis.processes);
  json.number("length_ns", diagnosis.length_ns);
  numbers(json, "steps", diagnosis.steps);
  json.open('[', "not_checked");
  for (const NotChecked& each : diagnosis.not_checked) {
    json.open('{');
    json.text("rule", each.rule);
    json.text("reason", each.reason);
    json.close('}');
  }
  json.close(']');
  json.open('[', "notes");
  for (const std::string& note : diagnosis.notes) json.text({}, note);
  json.close(']');
  json.close('}');
  out.raw("\n");
  out.flush();
}

}  // namespace cli::rules
