#include "cli/formats/ring/ring_reader.h"

#include <utility>
#include <vector>

#include "cli/formats/ring/cupti_times.h"
#include "cli/formats/ring/ring_description.h"
#include "cli/formats/ring/ring_events.h"
#include "common/record.h"

namespace cli {
namespace {

class RingReader : public Reader {
 public:
  explicit RingReader(const std::string& path) : file_(path) {}

  void read(Catalog& catalog, EventSink& sink) override {
    const ProcessId process = catalog.add_process(describe_recording(file_));
    ClockAxis axis(file_.clock_samples(), file_.clock_records());
    if (axis.set_clock().any()) learn(axis.set_clock());
    RingEvents events(file_, catalog, process, sink, std::move(axis));
    file_.for_each_block([&](const RingBlock& block) { events.block(block); });
    events.finish();
    add_losses(file_, catalog.processes[process]);
    for (std::string& note : file_.notes()) catalog.processes[process].notes.push_back(std::move(note));
  }

 private:
  static constexpr std::size_t kMostLearnt = std::size_t{1} << 22;  // records, of 32 bytes: a clock set back by hours is near all of them

  // When CUPTI's clock was set, by the records of the time around: one more pass over the file.
  void learn(SetClock& clock) const {
    std::vector<CuptiTimes> near;
    RingFile file(file_.path());
    file.for_each_block([&](const RingBlock& block) {
      walk_records(block.payload, [&](std::size_t at, std::uint8_t kind, std::size_t size) {
        trace::for_each_record([&]<typename Record>(Record*) {
          if constexpr (TimedByCupti<Record>) {
            if (kind != static_cast<std::uint8_t>(Record::kKind)) return;
            const CuptiTimes times = cupti_times(record_at<Record>(block.payload, at, size));
            if (times.start_ns != 0 && near.size() < kMostLearnt && clock.is_near(times)) near.push_back(times);
          }
        });
      });
    });
    clock.learn(near);
  }

  RingFile file_;
};

}  // namespace

std::unique_ptr<Reader> open_ring(const std::string& path, std::size_t) { return std::make_unique<RingReader>(path); }

}  // namespace cli
