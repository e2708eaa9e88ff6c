#include "cli/merge/sort_runs.h"

#include <algorithm>
#include <utility>

#include "cli/model/event_heap.h"
#include "cli/model/event_key.h"

namespace cli {
namespace {

constexpr std::uint32_t kOnAxis = ~std::uint32_t{0};  // the clock of a run that was put on the axis already

const ClockFit* fit_of(std::uint32_t clock, const std::vector<ClockFit>& fits) {
  if (clock >= fits.size()) return nullptr;
  return fits[clock].moves() ? &fits[clock] : nullptr;
}

}  // namespace

struct EventSorter::RunCursor {
  SortedRunCursor run;
  ZstdDecompressor* zstd;

  bool next() { return run.next(*zstd); }
  const Event& event() const { return run.event(); }
};

struct EventSorter::Part {
  EventBatch batch;
  std::uint32_t clock = 0;

  std::vector<std::uint32_t> order() const {
    std::vector<EventKey> keys(batch.size());
    for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = key_of(batch.event(i), i);
    if (!std::is_sorted(keys.begin(), keys.end())) std::sort(keys.begin(), keys.end());
    std::vector<std::uint32_t> order(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) order[i] = keys[i].place;
    return order;
  }
};

EventSorter::EventSorter(const Catalog& catalog, std::size_t memory_bytes, std::string scratch_folder)
    : catalog_(catalog),
      part_bytes_(memory_bytes / 4),
      scratch_(std::move(scratch_folder)),
      writer_(scratch_),
      part_(std::make_unique<Part>()) {}

EventSorter::~EventSorter() = default;

void EventSorter::begin_clock(std::uint32_t clock) {
  if (clock != clock_ && part_->batch.size() != 0) hand_over();
  clock_ = clock;
}

void EventSorter::event(const Event& event, const Facts& facts) {
  if (part_->batch.bytes() >= part_bytes_ && part_->batch.size() != 0) hand_over();
  part_->clock = clock_;
  part_->batch.add(event, facts);
}

void EventSorter::hand_over() {
  background_.run([this, part = std::shared_ptr<Part>(std::move(part_))] {
    runs_.push_back(writer_.write(part->batch, part->order().data(), part->clock));
  });
  part_ = std::make_unique<Part>();
}

void EventSorter::drain(const std::vector<ClockFit>& fits, EventSink& sink) {
  background_.wait();
  if (runs_.empty()) return drain_memory(fits, sink);
  if (part_->batch.size() != 0) hand_over();
  background_.wait();
  shapes_.resize(catalog_.shapes.size());
  for (ShapeId id = 0; id < shapes_.size(); ++id) shapes_[id] = &catalog_.shapes[id];
  while (runs_.size() > kFanIn) merge_some(fits);
  ZstdDecompressor zstd;
  EventHeap<RunCursor> heap(cursors(runs_.size(), fits, zstd));
  while (heap.next()) sink.event(heap.first().event(), heap.first().run.facts());
}

void EventSorter::drain_memory(const std::vector<ClockFit>& fits, EventSink& sink) {
  const ClockFit* fit = fit_of(part_->clock, fits);
  for (const std::uint32_t index : part_->order()) {
    Event event = part_->batch.event(index);
    if (fit != nullptr) event.start_ns = fit->on_axis(event.start_ns);
    sink.event(event, part_->batch.facts(index));
  }
}

// One round: neighbours become one run in their place, so that equal events stay in the order of their coming.
void EventSorter::merge_some(const std::vector<ClockFit>& fits) {
  std::vector<SortedRun> merged;
  ZstdDecompressor zstd;
  while (!runs_.empty()) {
    const std::size_t count = std::min(kFanIn, runs_.size());
    SortedRun run{scratch_.bytes(), scratch_.bytes(), kOnAxis};
    EventBatch block;
    for (EventHeap<RunCursor> heap(cursors(count, fits, zstd)); heap.next();) {
      block.add(heap.first().event(), heap.first().run.facts());
      if (block.size() < kBlockEvents && block.args_bytes() < kBlockArgs) continue;
      run.end = writer_.write_block(block, nullptr, 0, block.size()).end;
      block.clear();
    }
    if (block.size() != 0) run.end = writer_.write_block(block, nullptr, 0, block.size()).end;
    merged.push_back(run);
    runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  runs_ = std::move(merged);
}

std::vector<EventSorter::RunCursor> EventSorter::cursors(std::size_t count, const std::vector<ClockFit>& fits,
                                                         ZstdDecompressor& zstd) const {
  std::vector<RunCursor> cursors;
  for (std::size_t i = 0; i < count; ++i) {
    cursors.push_back({SortedRunCursor(scratch_, runs_[i], fit_of(runs_[i].clock, fits), shapes_), &zstd});
  }
  return cursors;
}

}  // namespace cli
