#include "cli/timeline/sort/sort_runs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "cli/formats/ttrace/walk.h"

namespace cli {
namespace {

constexpr std::uint32_t kOnAxis = ~std::uint32_t{0};  // clock of a run that is already on the axis
constexpr std::size_t kPartsOfOne = 2;  // of a sorter with its own thread: one being filled, one being sorted

struct Start {
  std::uint64_t since_ns;  // since the earliest start
  std::uint32_t place;
};

// Sorts by start, keeping the order of equal starts. Radix sort from the lowest digit takes linear time, and a
// comparison sort is not faster for starts that are nearly sorted.
void sort_by_start(std::vector<Start>& starts, std::uint64_t most_ns) {
  constexpr int kDigitBits = 11;
  const int bits = static_cast<int>(std::bit_width(most_ns));
  std::vector<Start> sorted(starts.size());
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    const auto digit = [shift](const Start& start) { return start.since_ns >> shift & ((1u << kDigitBits) - 1); };
    std::array<std::uint32_t, 1 << kDigitBits> ends{};
    for (const Start& start : starts) ++ends[digit(start)];
    std::uint32_t end = 0;
    for (std::uint32_t& count : ends) end += std::exchange(count, end);
    for (const Start& start : starts) sorted[ends[digit(start)]++] = start;
    starts.swap(sorted);
  }
}

// In the order of cli/formats/ttrace/walk.h.
void find_order(const ttrace::EventBatch& batch, std::vector<std::uint32_t>& order) {
  const auto key = [&](std::uint32_t place) { return ttrace::key_of(batch.event(place), place); };
  const auto count = static_cast<std::uint32_t>(batch.size());
  order.resize(count);
  std::iota(order.begin(), order.end(), 0);
  std::uint32_t sorted = 1;
  while (sorted < count && key(sorted - 1) < key(sorted)) ++sorted;
  if (sorted >= count) return;
  std::int64_t first_ns = batch.event(0).start_ns, last_ns = first_ns;
  for (std::uint32_t i = 0; i < count; ++i) {
    first_ns = std::min(first_ns, batch.event(i).start_ns);
    last_ns = std::max(last_ns, batch.event(i).start_ns);
  }
  const auto since_first = [first_ns](std::int64_t ns) {
    return static_cast<std::uint64_t>(ns) - static_cast<std::uint64_t>(first_ns);
  };
  std::vector<Start> starts(count);
  for (std::uint32_t i = 0; i < count; ++i) starts[i] = {since_first(batch.event(i).start_ns), i};
  sort_by_start(starts, since_first(last_ns));
  for (std::uint32_t begin = 0, end = 0; begin < count; begin = end) {
    do order[end] = starts[end].place;
    while (++end < count && starts[end].since_ns == starts[begin].since_ns);
    if (end - begin == 1) continue;
    std::sort(order.begin() + begin, order.begin() + end,
              [&](std::uint32_t x, std::uint32_t y) { return key(x) < key(y); });
  }
}

const ClockFit* fit_of(std::uint32_t clock, const std::vector<ClockFit>& fits) {
  if (clock >= fits.size()) return nullptr;
  return fits[clock].moves() ? &fits[clock] : nullptr;
}

}  // namespace

SortRoom::SortRoom(std::size_t memory_bytes, std::size_t inputs, std::string scratch_directory)
    : part_bytes_(memory_bytes / 2 / std::clamp(inputs, kPartsOfOne, kMostSorters)),
      most_kept_bytes_(memory_bytes / 2),
      scratch_(std::move(scratch_directory)) {}

bool SortRoom::keep(const EventRun::Part& part) {
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = part.held_bytes();
  if (bytes > most_kept_bytes_ - kept_bytes_) return false;
  kept_bytes_ += bytes;
  last_room_ = part.batch.used();
  return true;
}

std::unique_ptr<EventRun::Part> SortRoom::new_part() {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<EventRun::Part> part;
  if (spare_.empty()) {
    part = std::make_unique<EventRun::Part>();
    const auto with_more = [](std::size_t count) { return count + count / 8; };
    part->batch.reserve({with_more(last_room_.events), with_more(last_room_.text_bytes), with_more(last_room_.words)});
  } else {
    part = std::move(spare_.back());
    spare_.pop_back();
  }
  return part;
}

void SortRoom::release(std::unique_ptr<EventRun::Part> part, bool was_kept) {
  const std::lock_guard lock(mutex_);
  if (was_kept) kept_bytes_ -= part->held_bytes();
  part->batch.clear();
  spare_.push_back(std::move(part));
}

EventSorter::EventSorter(SortRoom& room, bool beside) : room_(room), part_(room.new_part()) {
  if (beside) background_.emplace();
}

EventSorter::~EventSorter() = default;

void EventSorter::event(const Event& event, const Facts& facts) {
  if (part_->batch.bytes() >= room_.part_bytes() && part_->batch.size() != 0) hand_over();
  part_->batch.add(event, facts);
}

void EventSorter::hand_over() {
  if (background_) {
    background_->run([this, part = std::make_shared<std::unique_ptr<EventRun::Part>>(std::move(part_))] {
      make_run(std::move(*part));
    });
  } else {
    make_run(std::move(part_));
  }
  part_ = room_.new_part();
}

void EventSorter::make_run(std::unique_ptr<EventRun::Part> part) {
  find_order(part->batch, part->order);
  if (part->batch.held_bytes() > 2 * part->batch.bytes()) part->batch.shrink_to_fit();
  EventRun& run = runs_.emplace_back();
  if (room_.keep(*part)) {
    run.part = std::move(part);
    return;
  }
  ttrace::SortedRunWriter writer(room_.scratch());
  writer.add(part->batch, part->order.data());
  run.scratch = writer.finish();
  room_.release(std::move(part), false);
}

std::vector<EventRun> EventSorter::finish() {
  if (part_->batch.size() != 0) hand_over();
  room_.release(std::move(part_), false);
  if (background_) background_->wait();
  return std::move(runs_);
}

void translate_runs(std::vector<EventRun>& runs, const ttrace::IdMap& ids) {
  for (EventRun& run : runs) {
    if (run.part != nullptr) ids.translate_all(run.part->batch);
  }
}

struct RunWalk::Source {
  EventRun run;
  std::uint32_t clock;
  const ttrace::IdMap* ids;
};

class RunWalk::Cursor {
 public:
  Cursor(const Source& source, RunWalk& walk, const ClockFit* fit, ZstdDecompressor& zstd)
      : part_(source.run.part.get()), moves_(fit != nullptr), axis_(fit), zstd_(&zstd) {
    if (part_ != nullptr) return;
    const ttrace::ShapeTable& shapes = source.ids != nullptr ? source.ids->shapes : walk.shape_table();
    scratch_.emplace(walk.room_.scratch(), source.run.scratch, source.ids, shapes, fit);
  }

  bool next() {
    if (part_ == nullptr) return scratch_->next(*zstd_);
    const auto& order = part_->order;
    if (++at_ >= order.size()) return false;
    // Ordered by time, events alternate between threads and streams, whose data is far apart in memory.
    if (at_ + kAhead < order.size()) part_->batch.prefetch(order[at_ + kAhead]);
    if (at_ + kAhead / 2 < order.size()) part_->batch.prefetch_payload(order[at_ + kAhead / 2]);
    if (!moves_) return true;
    moved_ = part_->batch.event(order[at_]);
    axis_.place(moved_);
    return true;
  }
  const Event& event() const {
    if (part_ == nullptr) return scratch_->event();
    return !moves_ ? part_->batch.event(part_->order[at_]) : moved_;
  }
  Facts facts() const { return part_ == nullptr ? scratch_->facts() : part_->batch.facts(part_->order[at_]); }

 private:
  static constexpr std::size_t kAhead = 16;

  const EventRun::Part* part_;
  bool moves_;
  AxisPlacer axis_;
  ZstdDecompressor* zstd_;
  std::optional<ttrace::SortedRunCursor> scratch_;
  std::size_t at_ = static_cast<std::size_t>(-1);
  Event moved_;
};

RunWalk::RunWalk(SortRoom& room, const Shapes& shapes) : room_(room), shapes_(shapes) {}

RunWalk::~RunWalk() {
  for (Source& source : sources_) {
    if (source.run.part != nullptr) room_.release(std::move(source.run.part), true);
  }
}

void RunWalk::add(std::vector<EventRun> runs, std::uint32_t clock, const ttrace::IdMap* ids) {
  for (EventRun& run : runs) sources_.push_back({std::move(run), clock, ids});
}

std::vector<EventRun> RunWalk::take() {
  std::vector<EventRun> runs;
  for (Source& source : sources_) runs.push_back(std::move(source.run));
  sources_.clear();
  return runs;
}

bool RunWalk::in_memory() const {
  return std::all_of(sources_.begin(), sources_.end(), [](const Source& source) { return source.run.part != nullptr; });
}

void RunWalk::walk(const std::vector<ClockFit>& fits, EventSink& sink) {
  while (merge_some(fits)) {
  }
  ZstdDecompressor zstd;
  std::vector<Cursor> runs = cursors(sources_.data(), sources_.data() + sources_.size(), fits, zstd);
  if (runs.size() == 1) {  // the usual case
    for (Cursor& run = runs.front(); run.next();) sink.event(run.event(), run.facts());
    return;
  }
  ttrace::EventHeap<Cursor> heap(std::move(runs));
  while (heap.next()) sink.event(heap.first().event(), heap.first().facts());
}

// Merges runs once if more than kFanIn runs are in the scratch file. Neighbours become one run in their place, so that
// equal events keep their order of arrival.
bool RunWalk::merge_some(const std::vector<ClockFit>& fits) {
  const auto in_scratch = [](const Source& source) { return source.run.part == nullptr; };
  if (std::count_if(sources_.begin(), sources_.end(), in_scratch) <= static_cast<std::ptrdiff_t>(kFanIn)) return false;
  Sources merged;
  ZstdDecompressor zstd;
  for (std::size_t begin = 0, end = 0; begin < sources_.size(); begin = end) {
    for (std::size_t count = 0; end < sources_.size() && count < kFanIn; ++end) count += in_scratch(sources_[end]);
    ttrace::SortedRunWriter writer(room_.scratch());
    ttrace::EventBatch block;
    for (ttrace::EventHeap<Cursor> heap(cursors(sources_.data() + begin, sources_.data() + end, fits, zstd));
         heap.next();) {
      block.add(heap.first().event(), heap.first().facts());
      if (block.size() < ttrace::kBlockEvents && block.args_bytes() < ttrace::kBlockArgs) continue;
      writer.add(block, nullptr);
      block.clear();
    }
    writer.add(block, nullptr);
    merged.push_back({{nullptr, writer.finish()}, kOnAxis, nullptr});
    for (std::size_t i = begin; i < end; ++i) {
      if (!in_scratch(sources_[i])) room_.release(std::move(sources_[i].run.part), true);
    }
  }
  sources_ = std::move(merged);
  return true;
}

std::vector<RunWalk::Cursor> RunWalk::cursors(const Source* begin, const Source* end, const std::vector<ClockFit>& fits,
                                              ZstdDecompressor& zstd) {
  std::vector<Cursor> cursors;
  for (; begin != end; ++begin) cursors.emplace_back(*begin, *this, fit_of(begin->clock, fits), zstd);
  return cursors;
}

const ttrace::ShapeTable& RunWalk::shape_table() {
  if (shape_table_.size() == shapes_.size()) return shape_table_;
  shape_table_.resize(shapes_.size());
  for (ShapeId id = 0; id < shape_table_.size(); ++id) shape_table_[id] = &shapes_[id];
  return shape_table_;
}

}  // namespace cli
