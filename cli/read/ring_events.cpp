#include "cli/read/ring_events.h"

#include <fmt/format.h>

#include <array>

namespace cli {

RingEvents::RingEvents(const RingFile& file, Catalog& catalog, ProcessId process, EventSink& sink, ClockAxis axis)
    : out_(file, catalog, process, sink, axis), device_(out_), host_(out_), notices_(out_) {}

// Whoever has a function for this kind of record gets it.
template <typename Record>
void RingEvents::translate(const RingBlock& block, std::size_t at, std::size_t size) {
  const Record record = record_at<Record>(block.payload, at, size);
  if constexpr (requires { device_.translate(record, at); }) {
    device_.translate(record, at);
  } else if constexpr (requires { host_.translate(record, at); }) {
    host_.translate(record, at);
  } else if constexpr (requires { notices_.translate(record, at); }) {
    notices_.translate(record, at);
  } else {
    static_assert(Record::kKind == trace::RecordKind::clock || Record::kKind < trace::RecordKind::kernel,
                  "a kind of record without a translation");
  }
}

RingEvents::Handler RingEvents::handler(std::uint8_t kind) {
  static constexpr auto kHandlers = [] {
    std::array<Handler, 256> handlers{};
    trace::for_each_record(
        [&]<typename R>(R*) { handlers[static_cast<std::size_t>(R::kKind)] = &RingEvents::translate<R>; });
    return handlers;
  }();
  return kHandlers[kind];
}

void RingEvents::record(const RingBlock& block, std::size_t at, std::uint8_t kind, std::size_t size) {
  if (kind < trace::kFirstEventKind) out_.definitions.define(block, at, kind, size);
  const Handler translate = handler(kind);
  if (translate != nullptr) return (this->*translate)(block, at, size);
  ++unknown_records_;
}

void RingEvents::block(const RingBlock& block) {
  if (out_.file.holes() != holes_) {  // what was open may have ended in what we did not see
    holes_ = out_.file.holes();
    host_.end_ranges();
  }
  out_.axis.enter_block(block.header.clock);
  out_.definitions.enter_block(block);
  device_.enter_block();
  const std::size_t end = walk_records(
      block.payload, [&](std::size_t at, std::uint8_t kind, std::size_t size) { record(block, at, kind, size); });
  if (end == block.payload.size()) return;
  if (damaged_blocks_++ == 0) damaged_at_ = block.offset + end;
}

void RingEvents::finish() {
  host_.end_ranges();
  const trace::FileHeader& header = out_.file.header();
  const auto cuda_events = static_cast<std::size_t>(trace::RecordKind::cuda_event) - trace::kFirstEventKind;
  out_.cuda_events.finish(header.lost[cuda_events] == 0 && header.cupti_dropped == 0 && header.sunk_buffers == 0,
                          [&](const Event& event, const Facts& facts) { out_.emit(event, facts); });
  notices_.finish();
  out_.definitions.finish();
  Process& process = out_.catalog.processes[out_.process];
  const auto note = [&](std::uint64_t count, const char* what) {
    if (count > 0) process.notes.push_back(fmt::format("{} {}", count, what));
  };
  note(host_.unmatched_ends(), "ends of ranges without their start (it was overwritten)");
  note(out_.timeless_records, "records without a time (CUPTI took none, or by a clock that nobody can tell): left out");
  note(unknown_records_, "records of kinds that this tracetool does not know; use a newer one");
  note(out_.axis.stepped_blocks(), "blocks in which the wall clock or CUPTI's time base had been changed");
  note(out_.file.changed_blocks(), "blocks changed while they were read, are damaged or cut off, and were left out");
  if (damaged_blocks_ == 0) return;
  process.damage = Damage{damaged_at_, "not a record"};
  process.notes.push_back(fmt::format("byte {}: not a record; what is behind it in its block is left out{}", damaged_at_,
                                      damaged_blocks_ > 1 ? fmt::format(", and in {} other blocks", damaged_blocks_ - 1)
                                                          : ""));
}

}  // namespace cli
