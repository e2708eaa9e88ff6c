#include "cli/formats/ring/ring_reader.h"

#include <fmt/format.h>

#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/base/text.h"
#include "cli/formats/ring/set_clock.h"
#include "cli/formats/ring/ring_header.h"
#include "common/record.h"

namespace cli {

RingEvents::RingEvents(const RingFile& file, Catalog& catalog, ProcessId process, EventSink& sink, ClockAxis axis)
    : out_(file, catalog, process, sink, std::move(axis)) {
  for (const auto make : {device_translator, host_translator, operator_translator, python_translator, notice_translator}) {
    translators_.push_back(make(out_, handlers_));
  }
  trace::for_each_record([&]<typename R>(R*) {
    constexpr bool is_no_event = !trace::is_event(static_cast<std::uint8_t>(R::kKind)) || std::is_same_v<R, trace::ClockRecord>;
    if (is_no_event) handlers_[static_cast<std::size_t>(R::kKind)] = {&none_, [](auto&, auto&, auto, auto) {}};
  });
}

void RingEvents::record(const RingBlock& block, std::size_t at, std::uint8_t kind, std::size_t size) {
  if (kind < trace::kFirstEventKind) out_.definitions.define(block, at, kind, size);
  const RingHandler& handler = handlers_[kind];
  if (handler.translate != nullptr) return handler.translate(*handler.translator, block, at, size);
  ++unknown_records_;
}

void RingEvents::block(const RingBlock& block) {
  if (out_.file.holes() != holes_) {  // what was open may have ended in what we did not see
    holes_ = out_.file.holes();
    for (const auto& translator : translators_) translator->skip_records();
  }
  out_.axis.enter_block(block.header.clock);
  out_.definitions.enter_block(block);
  for (const auto& translator : translators_) translator->enter_block();
  const std::size_t end = walk_records(
      block.payload, [&](std::size_t at, std::uint8_t kind, std::size_t size) { record(block, at, kind, size); });
  if (end == block.payload.size()) return;
  if (damaged_blocks_++ == 0) damaged_at_ = block.offset + end;
}

void RingEvents::note_set_clock() {
  const auto& steps = out_.axis.steps();
  if (steps.empty()) return;
  const ClockAxis::Step& first = steps[0];
  out_.catalog.processes[out_.process].notes.push_back(
      fmt::format("the wall clock was set {} by {} after {}{}: all times use the last setting", first.by_ns > 0 ? "forward" : "back",
                  duration_text(std::llabs(first.by_ns)), time_text(first.after_ns),
                  steps.size() > 1 ? fmt::format(", and {} more", count_text(steps.size() - 1, "time")) : ""));
}

void RingEvents::finish() {
  for (const auto& translator : translators_) translator->finish();
  const trace::FileHeader& header = out_.file.header();
  const auto cuda_events = static_cast<std::size_t>(trace::CudaEventRecord::kKind) - trace::kFirstEventKind;
  out_.cuda_events.finish(header.lost[cuda_events] == 0 && header.cupti_dropped == 0 && header.discarded_buffers == 0,
                          [&](const Event& event, const Facts& facts) { out_.emit(event, facts); });
  out_.definitions.finish();
  Process& process = out_.catalog.processes[out_.process];
  out_.note(out_.timeless_records, "records without a timestamp, or with an unknown clock: skipped");
  out_.note(unknown_records_, "records of kinds unknown to this tracetool; use a newer version");
  out_.note(out_.axis.stepped_blocks(), "blocks in which CUPTI's time base had been changed");
  note_set_clock();
  out_.note(out_.file.changed_blocks(), "blocks changed while they were read, or are damaged or incomplete, and were skipped");
  if (damaged_blocks_ == 0) return;
  process.damage = Damage{damaged_at_, "not a record"};
  process.notes.push_back(fmt::format("byte {}: not a record; the rest of its block is skipped{}", damaged_at_,
                                      damaged_blocks_ > 1 ? fmt::format(", and in {} other blocks", damaged_blocks_ - 1)
                                                          : ""));
}

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
