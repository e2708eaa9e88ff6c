// Implements `dump` for any trace: one line per event, in file order. The line format is an interface (docs/dump.md):
// fields may be added, but never changed.
#pragma once
#include <string>

#include "cli/base/output_file.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli {

class DumpEvents : public EventSink {
 public:
  DumpEvents(const Catalog& catalog, ByteSink& out) : catalog_(catalog), out_(out) {}
  void event(const Event& event, const Facts& facts) override;
  void flush();

 private:
  const Catalog& catalog_;
  ByteSink& out_;
  std::string text_, line_, scratch_;
};

}  // namespace cli
