// Findings of diagnose, each with links to the times in the timeline at which it occurs.

#include <algorithm>
#include <optional>

#include "cli/answers/rules/write_findings.h"
#include "cli/base/text.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"

namespace cli::report {
namespace {

void write_seen(Html& page, const rules::Evidence& each) {
  const Element in_li(page, "li");
  std::string where = fmt::format("#t={}-{}", each.start_ns, each.end_ns);
  if (each.rank >= 0) where += fmt::format("&rank={}", each.rank);
  page.element("a", {{"href", where}},
               fmt::format("{}at {} for {}", each.rank < 0 ? "" : fmt::format("rank {} ", each.rank),
                           duration_text(each.start_ns), duration_text(each.end_ns - each.start_ns)));
  page.text(": " + each.what);
}

void write_term(Html& page, std::string_view term, std::string_view text) {
  if (text.empty()) return;
  page.element("dt", term);
  page.element("dd", text);
}

void write_finding(Html& page, const rules::Finding& finding, const rules::Diagnosis& diagnosis) {
  const Element in_article(page, "article", {{"class", "finding"}, {"data-rule", finding.rule}});
  page.open("h3");
  page.element("span", {{"class", fmt::format("severity {}", rules::severity_name(finding.severity))}},
               rules::severity_name(finding.severity));
  page.text(fmt::format(" {}: {}", finding.rule, finding.title));
  page.close("h3");
  const Element in_dl(page, "dl");
  write_term(page, "where", rules::where_text(finding, diagnosis));
  page.element("dt", "saving");
  page.element("dd", {{"data-v", finding.saving_ns ? fmt::format("{}", *finding.saving_ns) : std::string()}},
               rules::saving_text(finding, diagnosis.length_ns));
  if (!finding.evidence.empty()) {
    page.element("dt", "seen");
    const Element in_dd(page, "dd");
    const Element in_ul(page, "ul");
    for (const rules::Evidence& each : finding.evidence) write_seen(page, each);
  }
  write_term(page, "do", finding.advice);
  write_term(page, "source", finding.source);
  page.element("dt", "next");
  const Element in_dd(page, "dd");
  page.element("code", finding.next_command);
}

// Returns the mean utilization over steps and GPUs, or nullopt if it is unknown.
std::optional<double> mean_use_of_peak(const ReportFacts& facts) {
  const TableReading mfu(facts.tables, "mfu");
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t row = 0; row < mfu.rows(); ++row) {
    const auto share = mfu.get<double>(row, "operator_pct");
    if (!share) continue;
    sum += *share;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

// Without a serious finding, the next step is to look at the kernels.
void write_next_step(const ReportFacts& facts, Html& page) {
  const auto& findings = facts.diagnosis.findings;
  if (!has_gpu_time(facts) || std::ranges::any_of(findings, [](const rules::Finding& finding) {
        return finding.severity == rules::Severity::high;
      }))
    return;
  const Element in_p(page, "p", {{"class", "next"}});
  page.text("Next: compare the operators with the limits of the GPU. ");
  if (has_roofline(facts)) {
    page.element("a", {{"href", "#roofline"}}, "Roofline");
    if (const auto share = mean_use_of_peak(facts))
      page.text(fmt::format(": operators with known sizes use {:.1f} % of the GPU's peak in the mean step", *share));
    page.text(". The model's own share (MFU): ");
    page.element("code",
                 fmt::format("tracetool analyze {}{} --only mfu --flops-per-step N", facts.inputs, facts.selected));
  } else {
    page.text(
        "This needs the input sizes of operators: record with TRACETOOL_TORCH=shapes, or with record_shapes=True in torch.profiler, then run ");
    page.element("code", "tracetool analyze PATH --only roofline,mfu");
  }
}

void write_findings(const ReportFacts& facts, Html& page) {
  const rules::Diagnosis& diagnosis = facts.diagnosis;
  const bool nothing = diagnosis.processes == 0 && diagnosis.findings.empty();
  write_paragraph(page, nothing ? "There is no GPU work in this trace." : rules::looked_at_text(diagnosis) + ".");
  for (const rules::Finding& finding : diagnosis.findings) write_finding(page, finding, diagnosis);
  write_next_step(facts, page);
  for (const std::string& line : rules::not_checked_lines(diagnosis)) page.element("p", {{"class", "note"}}, line);
  for (const std::string& note : diagnosis.notes) page.element("p", {{"class", "note"}}, "note: " + note);
}

}  // namespace

SectionEntry findings_section() { return {"findings", "Findings", {}, write_findings}; }

}  // namespace cli::report
