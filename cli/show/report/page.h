// The page around the sections.
#pragma once
#include <string>
#include <string_view>

#include "cli/show/report/facts.h"
#include "cli/show/report/html.h"

namespace cli {

// No address but those within the page stands in it, and its content security policy lets nothing be loaded and no script run but its own.
std::string page_html(std::string_view title, const ReportFacts& facts);

// The begin and end of every page: the head with style and content policy, the patterns of charts, and the script.
void open_page(Html& page, std::string_view title);
void close_page(Html& page);

}  // namespace cli
