// The page around the sections.
#pragma once
#include <string>
#include <string_view>

#include "cli/report/facts.h"

namespace cli {

// No address but those within the page stands in it, and its content security policy lets nothing be loaded and no script run but its own.
std::string page_html(std::string_view title, const ReportFacts& facts);

}  // namespace cli
