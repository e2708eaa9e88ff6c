// `dump` of any trace: one line per event, in the order of the file.
#pragma once
#include <string>

#include "cli/export/args_text.h"
#include "cli/io/byte_sink.h"
#include "cli/model/catalog.h"
#include "cli/model/event.h"

namespace cli {

class DumpEvents : public EventSink {
 public:
  DumpEvents(const Catalog& catalog, ByteSink& out) : catalog_(catalog), out_(out), args_(catalog) {}
  void event(const Event& event, const Facts& facts) override;
  void flush();

 private:
  const Catalog& catalog_;
  ByteSink& out_;
  ArgsText args_;
  std::string text_;
};

}  // namespace cli
