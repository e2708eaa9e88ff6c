#include "cli/formats/ring/ring_events.h"

#include <fmt/format.h>

#include <cstdlib>
#include <type_traits>
#include <utility>

#include "cli/base/units.h"

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

}  // namespace cli
