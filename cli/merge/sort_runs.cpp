#include "cli/merge/sort_runs.h"

#include <algorithm>
#include <utility>

#include "cli/model/event_heap.h"
#include "cli/model/event_key.h"

namespace cli {
namespace {

constexpr std::uint32_t kOnAxis = ~std::uint32_t{0};  // the clock of a run that was put on the axis already
constexpr std::size_t kPartsOfOne = 3;  // of a sorter with a thread of its own: filled, waiting, being sorted

std::vector<std::uint32_t> sorted_order(const EventBatch& batch) {
  std::vector<EventKey> keys(batch.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i) keys[i] = key_of(batch.event(i), i);
  if (!std::is_sorted(keys.begin(), keys.end())) std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> order(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) order[i] = keys[i].place;
  return order;
}

const ClockFit* fit_of(std::uint32_t clock, const std::vector<ClockFit>& fits) {
  if (clock >= fits.size()) return nullptr;
  return fits[clock].moves() ? &fits[clock] : nullptr;
}

}  // namespace

SortRoom::SortRoom(std::size_t memory_bytes, std::size_t inputs, std::string scratch_folder)
    : part_bytes_(memory_bytes / 2 / std::clamp(inputs, kPartsOfOne, kMostSorters)),
      most_kept_bytes_(memory_bytes / 2),
      scratch_(std::move(scratch_folder)) {}

bool SortRoom::keep(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > most_kept_bytes_ - kept_bytes_) return false;
  kept_bytes_ += bytes;
  return true;
}

void SortRoom::release(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  kept_bytes_ -= bytes;
}

EventSorter::EventSorter(SortRoom& room, bool beside) : room_(room), part_(std::make_unique<EventRun::Part>()) {
  if (beside) background_.emplace();
}

EventSorter::~EventSorter() = default;

void EventSorter::event(const Event& event, const Facts& facts) {
  if (part_->batch.bytes() >= room_.part_bytes() && part_->batch.size() != 0) hand_over();
  part_->batch.add(event, facts);
}

void EventSorter::hand_over() {
  if (background_) {
    background_->run([this, part = std::make_shared<std::unique_ptr<EventRun::Part>>(std::move(part_))] { make_run(std::move(*part)); });
  } else {
    make_run(std::move(part_));
  }
  part_ = std::make_unique<EventRun::Part>();
}

void EventSorter::make_run(std::unique_ptr<EventRun::Part> part) {
  part->order = sorted_order(part->batch);
  EventRun& run = runs_.emplace_back();
  if (room_.keep(part->held_bytes())) {
    run.part = std::move(part);
    return;
  }
  SortedRunWriter writer(room_.scratch());
  writer.add(part->batch, part->order.data());
  run.scratch = writer.finish();
}

std::vector<EventRun> EventSorter::finish() {
  if (part_->batch.size() != 0) hand_over();
  if (background_) background_->wait();
  return std::move(runs_);
}

void translate_runs(std::vector<EventRun>& runs, const IdMap& ids) {
  for (EventRun& run : runs) {
    if (run.part != nullptr) ids.translate_all(run.part->batch);
  }
}

struct RunWalk::Source {
  EventRun run;
  std::uint32_t clock;
  const IdMap* ids;
};

class RunWalk::Cursor {
 public:
  Cursor(const Source& source, const TempFile& file, const ShapeTable& shapes, const ClockFit* fit, ZstdDecompressor& zstd)
      : part_(source.run.part.get()), fit_(fit), zstd_(&zstd) {
    if (part_ == nullptr) scratch_.emplace(file, source.run.scratch, source.ids, source.ids != nullptr ? source.ids->shapes : shapes, fit);
  }

  bool next() {
    if (part_ == nullptr) return scratch_->next(*zstd_);
    if (++at_ >= part_->order.size()) return false;
    if (fit_ == nullptr) return true;
    moved_ = part_->batch.event(part_->order[at_]);
    moved_.start_ns = fit_->on_axis(moved_.start_ns);
    return true;
  }
  const Event& event() const {
    if (part_ == nullptr) return scratch_->event();
    return fit_ == nullptr ? part_->batch.event(part_->order[at_]) : moved_;
  }
  Facts facts() const { return part_ == nullptr ? scratch_->facts() : part_->batch.facts(part_->order[at_]); }

 private:
  const EventRun::Part* part_;
  const ClockFit* fit_;
  ZstdDecompressor* zstd_;
  std::optional<SortedRunCursor> scratch_;
  std::size_t at_ = static_cast<std::size_t>(-1);
  Event moved_;
};

RunWalk::RunWalk(SortRoom& room, const Shapes& shapes) : room_(room), shapes_(shapes) {}

RunWalk::~RunWalk() {
  for (const Source& source : sources_) {
    if (source.run.part != nullptr) room_.release(source.run.part->held_bytes());
  }
}

void RunWalk::add(std::vector<EventRun> runs, std::uint32_t clock, const IdMap* ids) {
  for (EventRun& run : runs) sources_.push_back({std::move(run), clock, ids});
}

void RunWalk::walk(const std::vector<ClockFit>& fits, EventSink& sink) {
  shape_table_.resize(shapes_.size());
  for (ShapeId id = 0; id < shape_table_.size(); ++id) shape_table_[id] = &shapes_[id];
  while (merge_some(fits)) {
  }
  ZstdDecompressor zstd;
  EventHeap<Cursor> heap(cursors(sources_.data(), sources_.data() + sources_.size(), fits, zstd));
  while (heap.next()) sink.event(heap.first().event(), heap.first().facts());
}

// One round, where more than kFanIn runs lie in the scratch file: neighbours become one run in their place, so that equal
// events stay in the order of their coming.
bool RunWalk::merge_some(const std::vector<ClockFit>& fits) {
  const auto in_scratch = [](const Source& source) { return source.run.part == nullptr; };
  if (std::count_if(sources_.begin(), sources_.end(), in_scratch) <= static_cast<std::ptrdiff_t>(kFanIn)) return false;
  Sources merged;
  ZstdDecompressor zstd;
  for (std::size_t begin = 0, end = 0; begin < sources_.size(); begin = end) {
    for (std::size_t count = 0; end < sources_.size() && count < kFanIn; ++end) count += in_scratch(sources_[end]);
    SortedRunWriter writer(room_.scratch());
    EventBatch block;
    for (EventHeap<Cursor> heap(cursors(sources_.data() + begin, sources_.data() + end, fits, zstd)); heap.next();) {
      block.add(heap.first().event(), heap.first().facts());
      if (block.size() < kBlockEvents && block.args_bytes() < kBlockArgs) continue;
      writer.add(block, nullptr);
      block.clear();
    }
    writer.add(block, nullptr);
    merged.push_back({{nullptr, writer.finish()}, kOnAxis, nullptr});
    for (std::size_t i = begin; i < end; ++i) {
      if (in_scratch(sources_[i])) continue;
      room_.release(sources_[i].run.part->held_bytes());
      sources_[i].run.part = nullptr;
    }
  }
  sources_ = std::move(merged);
  return true;
}

std::vector<RunWalk::Cursor> RunWalk::cursors(const Source* begin, const Source* end, const std::vector<ClockFit>& fits,
                                              ZstdDecompressor& zstd) const {
  std::vector<Cursor> cursors;
  for (; begin != end; ++begin) cursors.emplace_back(*begin, room_.scratch(), shape_table_, fit_of(begin->clock, fits), zstd);
  return cursors;
}

}  // namespace cli
