// The page around the sections.
#pragma once
#include <string>
#include <string_view>

#include "cli/show/report/section.h"
#include "cli/show/report/html.h"

namespace cli::report {

// No address but those within the page stands in it, and its content security policy lets nothing be loaded and no script run but its own.
std::string page_html(std::string_view title, const ReportFacts& facts);

// The begin and end of every page: the head with style and content policy, the patterns of charts, and the script.
void open_page(Html& page, std::string_view title);
void close_page(Html& page);

// The page's own style and script: the files of page/, joined when tracetool is built (embed_page.py), and by what the page's content
// security policy knows them.
extern const std::string_view kPageStyle, kPageScript;
extern const std::string_view kPageStyleHash, kPageScriptHash;  // 'sha256-...', with its quotes

// The head of the page: GPUs, hosts, date, steps and versions.

// Writes a list of terms. Unknown facts are omitted.
void write_head_facts(Html& page, const ReportFacts& facts);

}  // namespace cli::report
