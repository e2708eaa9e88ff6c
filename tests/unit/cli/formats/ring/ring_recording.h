// A recording made in memory, record by record, and read as a file.
#pragma once
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/export/args_text.h"
#include "cli/formats/ring/reader.h"
#include "tests/unit/catch.h"
#include "tests/unit/common/ring_maker.h"

namespace cli {

struct KeptRecord {
  Event event;
  std::string args;  // as exporters say it
  KeptFacts facts;
};

struct KeepingSink : EventSink {
  explicit KeepingSink(const Catalog& catalog) : text(catalog) {}
  void event(const Event& event, const Facts& facts) override {
    all.push_back({event, std::string(text(event, facts)), facts});
  }
  ArgsText text;
  std::vector<KeptRecord> all;
};

class Recording : public trace::RingMaker {
 public:
  explicit Recording(std::uint64_t blocks = 4) : RingMaker(blocks) {}
  ~Recording() { unlink(path.c_str()); }

  std::uint32_t shape(std::string_view kernel) {
    auto shape = trace::make_record<trace::LaunchShapeRecord>();
    shape.name_ref = name(kernel);
    return define(shape);
  }
  const std::string& write(std::size_t bytes) {
    RingMaker::write(path, bytes);
    return path;
  }
  KeepingSink read() {
    KeepingSink sink(catalog);
    ring::open_ring(write(memory.size()))->read(catalog, sink);
    return sink;
  }
  // The one event of the recording.
  KeptRecord one() {
    const KeepingSink sink = read();
    REQUIRE(sink.all.size() == 1);
    return sink.all[0];
  }
  std::string_view name_of(const Event& event) const { return catalog.strings[event.name]; }
  const Track& track_of(const Event& event) const { return catalog.tracks[event.track]; }
  const Process& process() const { return catalog.processes.at(0); }

  Catalog catalog;
  std::string path = "/tmp/tracetool-test-" + std::to_string(getpid()) + ".ring";
};

}  // namespace cli
