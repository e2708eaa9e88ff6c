// The table of export formats: one row each.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "cli/export/exporter.h"

namespace cli {

struct ExportFormat {
  std::string_view flag;       // "perfetto" for `export --perfetto`
  std::string_view help;       // one line
  std::string_view extension;  // of a file that the user did not name; with ".gz" it is compressed
  std::unique_ptr<Exporter> (*make)();
};

const std::vector<ExportFormat>& export_formats();

}  // namespace cli
