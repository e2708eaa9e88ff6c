// Recordings (`*.ring`) as a source of events.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/base/output_file.h"
#include "cli/formats/reading/reader.h"
#include "cli/formats/ring/translator.h"

namespace cli::ring {

// One recording's records to events.
class RingEvents {
 public:
  RingEvents(const RingFile& file, Catalog& catalog, ProcessId process, EventSink& sink, ClockAxis axis);

  void block(const RingBlock& block);
  // Emits ranges that never ended, and writes what was noticed to the process.
  void finish();

 private:
  void record(const RingBlock& block, std::size_t at, std::uint8_t kind, std::size_t size);
  void note_set_clock();

  RingOutput out_;
  RingHandlers handlers_;
  RingTranslator none_;  // of definitions and clocks, which RingDefinitions and ClockAxis take
  std::vector<std::unique_ptr<RingTranslator>> translators_;
  std::uint64_t unknown_records_ = 0;
  std::uint64_t holes_ = 0;  // blocks left out so far
  std::uint64_t damaged_blocks_ = 0, damaged_at_ = 0;  // those with something that is no record; where the first is
};

std::unique_ptr<Reader> open_ring(const std::string& path, std::size_t threads = 1);

// Every record of a recording as text, one a line, in the order of the file: the raw record dump.

// Goes on after damage, saying where it is, and throws Error (bad content) at the end.
// `shown`: how its user knows the file.
void dump_ring(const std::string& path, const std::string& shown, ByteSink& out);

}  // namespace cli::ring
