#include "cli/export/formats.h"

#include "cli/export/chrome_json.h"

namespace cli {

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> formats{
      {"perfetto", "Chrome trace JSON for ui.perfetto.dev", ".json.gz", make_chrome_json},
      {"chrome", "Chrome trace JSON for chrome://tracing", ".json.gz", make_chrome_json},
  };
  return formats;
}

}  // namespace cli
