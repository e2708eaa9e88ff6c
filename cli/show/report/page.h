// The page around the sections.
#pragma once
#include <string>
#include <string_view>

#include "cli/show/report/html.h"
#include "cli/show/report/section.h"

namespace cli::report {

// The page contains no external addresses, and its content security policy blocks all loads and all scripts except its
// own.
std::string page_html(std::string_view title, const ReportFacts& facts);

// The begin and end of every page: the head with style and content policy, the chart patterns, and the script.
void open_page(Html& page, std::string_view title);
void close_page(Html& page);

// The page's own style and script: the files of page/, joined by embed_page.py when tracetool is built, and their
// hashes for the content security policy.
extern const std::string_view kPageStyle, kPageScript;
extern const std::string_view kPageStyleHash, kPageScriptHash;  // 'sha256-...', including the quotes

// The head of the page: GPUs, hosts, date, steps and versions.

// Writes a list of terms. Omits unknown facts.
void write_head_facts(Html& page, const ReportFacts& facts);

}  // namespace cli::report
