// What a report says of what is missing.
#include <string>

#include "cli/show/report/section.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::report;

namespace {

std::string losses_html(const Catalog& catalog) {
  const std::vector<ClockFit> fits;
  const ReportFacts facts{catalog,
                          fits,
                          {},
                          {},
                          {},
                          {},
                          {},
                          {},
                          "traces/",
                          " --ranks 0-9999",
                          std::vector<bool>(catalog.processes.size(), true),
                          {},
                          {},
                          {}};
  Html page;
  for (const SectionEntry& section : sections()) {
    if (section.id == "losses") section.write(facts, page);
  }
  return page.all();
}

}  // namespace

TEST_CASE("report: a recording that is cut is not called complete", "[report]") {
  Catalog catalog;
  catalog.processes.resize(2);
  catalog.processes[0].rank = 0;
  catalog.processes[1].rank = 1;
  CHECK(losses_html(catalog).find("No events are known to be missing.") != std::string::npos);

  catalog.processes[1].cut = "byte 200000: the file ends here";
  CHECK(losses_html(catalog).find("No events are known to be missing") == std::string::npos);
  CHECK(losses_html(catalog).find("<p>1 recording is cut; the number of missing events is unknown.</p>") !=
        std::string::npos);

  catalog.processes[0].overwritten[0] = 7;
  CHECK(losses_html(catalog).find(
            "<p>7 events overwritten, 0 lost. 1 recording is cut; the number of missing events is unknown.</p>") !=
        std::string::npos);

  catalog.processes[1].cut.clear();
  CHECK(losses_html(catalog).find("<p>7 events overwritten, 0 lost.</p>") != std::string::npos);
}

TEST_CASE("report: losses of more ranks than a table has are in info", "[report]") {
  Catalog catalog;
  catalog.processes.resize(1025);
  for (std::size_t i = 0; i < catalog.processes.size(); ++i) catalog.processes[i].rank = static_cast<std::int64_t>(i);
  CHECK(losses_html(catalog).find("1024 of 1025 rows; all of them: <code>tracetool info traces/</code>") !=
        std::string::npos);
}
