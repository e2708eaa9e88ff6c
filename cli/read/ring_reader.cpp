#include "cli/read/ring_reader.h"

#include "cli/read/ring_description.h"
#include "cli/read/ring_events.h"

namespace cli {
namespace {

class RingReader : public Reader {
 public:
  explicit RingReader(const std::string& path) : file_(path) {}

  void read(Catalog& catalog, EventSink& sink) override {
    const ProcessId process = catalog.add_process(describe_recording(file_));
    RingEvents events(file_, catalog, process, sink, ClockAxis(file_.clock_samples(), file_.clock_records()));
    file_.for_each_block([&](const RingBlock& block) { events.block(block); });
    events.finish();
    add_losses(file_, catalog.processes[process]);
    for (std::string& note : file_.notes()) catalog.processes[process].notes.push_back(std::move(note));
  }

 private:
  RingFile file_;
};

}  // namespace

std::unique_ptr<Reader> open_ring(const std::string& path, std::size_t) { return std::make_unique<RingReader>(path); }

}  // namespace cli
