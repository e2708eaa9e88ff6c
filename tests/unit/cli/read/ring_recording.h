// A recording made in memory, record by record, and read as a file.
#pragma once
#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/export/args_text.h"
#include "cli/read/ring_reader.h"
#include "common/definitions.h"
#include "tests/unit/catch.h"
#include "tests/unit/common/small_ring.h"

namespace cli {

struct KeptRecord {
  Event event;
  std::string args;  // as exporters say it
  KeptFacts facts;
};

struct KeepingSink : EventSink {
  explicit KeepingSink(const Catalog& catalog) : text(catalog) {}
  void event(const Event& event, const Facts& facts) override { all.push_back({event, std::string(text(event, facts)), facts}); }
  ArgsText text;
  std::vector<KeptRecord> all;
};

class Recording {
 public:
  explicit Recording(std::uint64_t blocks = 4) : memory(blocks, 4096) {}
  ~Recording() { unlink(path.c_str()); }

  template <typename Record>
  void add(const Record& record) {
    add(&record, sizeof(record));
  }
  // As an older or newer writer does it: another size.
  void add(const void* record, std::size_t bytes) {
    REQUIRE(writer.enter(memory.ring, 0, clock));
    REQUIRE(writer.make_room(bytes, clock));
    writer.append(record, bytes);
    writer.leave();
  }
  template <typename Record>
  std::uint32_t define(const Record& record) {
    return trace::append_definition(memory.ring, 0, &record, sizeof(record));
  }
  std::uint32_t name(std::string_view text) {
    auto head = trace::make_record<trace::StringRecord>();
    head.length = static_cast<std::uint32_t>(text.size());
    head.size_bytes = static_cast<std::uint32_t>(sizeof(head) + (text.size() + 7) / 8 * 8);
    return trace::append_definition(memory.ring, 0, &head, sizeof(head), text.data(), text.size());
  }
  std::uint32_t shape(std::string_view kernel) {
    auto shape = trace::make_record<trace::LaunchShapeRecord>();
    shape.name_ref = name(kernel);
    return define(shape);
  }
  const std::string& write(std::size_t bytes) {
    std::ofstream(path, std::ios::binary).write(memory.bytes(), static_cast<std::streamsize>(bytes));
    return path;
  }
  KeepingSink read() {
    KeepingSink sink(catalog);
    open_ring(write(memory.size()))->read(catalog, sink);
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

  // Wall = CUPTI + 1 s = monotonic + 5 s.
  static trace::ClockSample clock() { return {9'000'000'000, 5'000'000'000, 10'000'000'000, 10}; }

  trace::SmallRing memory;
  trace::BlockWriter<> writer;
  Catalog catalog;
  std::string path = "/tmp/tracetool-test-" + std::to_string(getpid()) + ".ring";
};

}  // namespace cli
