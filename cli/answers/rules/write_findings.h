// Writes findings as text and as JSON.
#pragma once
#include "cli/answers/rules/diagnose.h"
#include "cli/base/output_file.h"

namespace cli::rules {

// Parts of a finding's text, for other output forms.
std::string_view severity_name(Severity severity);
std::string saving_text(const Finding& finding, std::int64_t length_ns);  // "at most 12.300 ms, 8.1 % of the time"
// Returns, for example, "ranks 0-7, seen in steps 4-19"; "" if neither is known. Omits an unknown rank if there is only
// one process.
std::string where_text(const Finding& finding, const Diagnosis& diagnosis);
// "2 findings in 8 processes, 197.547 ms, steps 4-19"
std::string looked_at_text(const Diagnosis& diagnosis);

// Returns one line per reason: "not checked (no launch calls in the trace): host-sync, host-late".
std::vector<std::string> not_checked_lines(const Diagnosis& diagnosis);

// Returns, for example, "1. straggler (high): rank 1 is late", in the color of its severity.
std::string title_line(std::size_t number, const Finding& finding);

std::string findings_text(const Diagnosis& diagnosis);

// Writes
// {"findings":[{"rule","severity","title","ranks":[],"steps":[],"saving_ns",
// "evidence":[{"rank","start_ns","end_ns","what"}],"advice","source","next_command"}],
// "processes","length_ns","steps":[],"not_checked":[{"rule","reason"}],"notes":[]}.
// Unknown values are null.
void write_findings_json(const Diagnosis& diagnosis, ByteSink& sink);

}  // namespace cli::rules
