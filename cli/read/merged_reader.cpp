#include "cli/read/merged_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "cli/model/event_heap.h"
#include "cli/model/kinds.h"
#include "cli/read/merged_columns.h"
#include "cli/read/merged_fields.h"

namespace cli {
namespace {

Kind kind_of(std::string_view name) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const KindRow& row) { return row.name == name; });
  return found == kKinds.end() ? Kind::other : static_cast<Kind>(found - kKinds.begin());
}

bool printable(char phase) { return phase > ' ' && phase < 127 && phase != '"' && phase != '\\'; }

}  // namespace

MergedReader::MergedReader(const std::string& path) : chunks_(path) {}

void MergedReader::read(Catalog& catalog, EventSink& sink) {
  read_lists(catalog);
  read_events(sink, {});
}

// f(entry, offset of its chunk) for each entry of the list; false: the entry is broken.
template <typename F>
void MergedReader::for_each_entry(ChunkKind kind, F&& f) {
  for (const IndexEntry& chunk : chunks_.index()) {
    if (chunk.header.kind != static_cast<std::uint32_t>(kind)) continue;
    std::string_view raw = chunks_.load(chunk);
    for (std::uint32_t entry = 0; entry < chunk.header.count; ++entry) {
      bool bad = false;
      const std::uint64_t size = take_varint(raw, bad);
      if (bad || size > raw.size() || !f(raw.substr(0, size))) {
        chunks_.refuse(chunk.offset, fmt::format("entry {} of a list is damaged", entry));
      }
      raw.remove_prefix(size);
    }
  }
}

void MergedReader::read_lists(Catalog& catalog) {
  kinds_.clear(), strings_.clear(), launches_.clear(), captures_.clear(), shapes_.clear();
  processes_.clear(), tracks_.clear(), fits_.clear(), process_fits_.clear(), steps_.clear();
  for_each_entry(ChunkKind::kinds, [&](std::string_view entry) { return kinds_.push_back(kind_of(entry)), true; });
  for_each_entry(ChunkKind::strings,
                 [&](std::string_view entry) { return strings_.push_back(catalog.strings.intern(entry)), true; });
  for_each_entry(ChunkKind::shapes, [&](std::string_view entry) {
    if (entry.size() > kMostShapeText || holes_in(entry) > kMostHoles) return false;
    return shapes_.push_back(&catalog.shapes.intern(entry)), true;
  });
  read_interned(catalog);
  read_processes(catalog);
  read_tracks(catalog);
  for_each_entry(ChunkKind::clocks, [&](std::string_view entry) {
    FieldReader fields(entry, kinds_);
    clock_fields(fields, fits_.emplace_back());
    return !fields.bad() && fits_.size() <= kMaxProcesses;
  });
  for (const ProcessId id : processes_) {
    const std::int64_t clock = catalog.processes[id].clock;
    const bool known = clock >= 0 && static_cast<std::uint64_t>(clock) < fits_.size();
    if (!known && clock >= 0) chunks_.refuse(0, "a process names a clock that no list holds");
    process_fits_.push_back(known && fits_[static_cast<std::size_t>(clock)].moves() ? &fits_[static_cast<std::size_t>(clock)] : nullptr);
  }
  read_steps();
}

void MergedReader::read_steps() {
  for_each_entry(ChunkKind::steps, [&](std::string_view entry) {
    ProcessSteps found;
    FieldReader fields(entry, kinds_);
    steps_fields(fields, found);
    if (fields.bad() || steps_.size() == processes_.size()) return false;
    if (const ClockFit* fit = process_fits_[steps_.size()]; fit != nullptr && found.first_ns <= found.last_ns) {
      found.first_ns = fit->on_axis(found.first_ns), found.last_ns = fit->on_axis(found.last_ns);
      for (Step& step : found.steps) step.start_ns = fit->on_axis(step.start_ns), step.end_ns = fit->on_axis(step.end_ns);
    }
    steps_.push_back(std::move(found));
    return true;
  });
  if (!steps_.empty() && steps_.size() != processes_.size()) chunks_.refuse(0, "the list of steps lacks a process");
}

// A visitor of fields: ids of the file become those of the catalogue.
struct MergedReader::Translate {
  template <typename T>
  void number(const char*, T&, bool = true) {}
  template <typename T>
  void delta(const char*, T&, bool = true) {}
  template <typename T>
  void hex(const char*, T&, bool = true) {}
  void string(const char*, StringId& id, bool = true) { look_up(of.strings_, id); }
  void launch(const char*, LaunchId& id, bool = true) { look_up(of.launches_, id); }
  void capture(const char*, CaptureId& id, bool = true) { look_up(of.captures_, id); }
  void look_up(const std::vector<std::uint32_t>& ids, std::uint32_t& id) {
    good = good && id < ids.size();
    if (good) id = ids[id];
  }

  const MergedReader& of;
  bool good = true;
};

void MergedReader::read_interned(Catalog& catalog) {
  const auto read = [&]<typename T>(ChunkKind kind, Interned<T>& to, std::vector<std::uint32_t>& ids) {
    for_each_entry(kind, [&](std::string_view entry) {
      T value;
      FieldReader fields(entry, kinds_);
      interned_fields(fields, value);
      Translate translate{*this};
      payload_fields(translate, value);
      if (fields.bad() || !translate.good) return false;
      ids.push_back(to.intern(value));
      return true;
    });
  };
  read(ChunkKind::launches, catalog.launches, launches_);
  read(ChunkKind::captures, catalog.captures, captures_);
}

void MergedReader::read_processes(Catalog& catalog) {
  for_each_entry(ChunkKind::processes, [&](std::string_view entry) {
    Process process;
    FieldReader fields(entry, kinds_);
    process_fields(fields, process);
    if (fields.bad() || process.format > SourceFormat::kineto || processes_.size() == kMaxProcesses) return false;
    processes_.push_back(catalog.add_process(std::move(process)));
    return true;
  });
}

void MergedReader::read_tracks(Catalog& catalog) {
  for_each_entry(ChunkKind::tracks, [&](std::string_view entry) {
    Track track;
    FieldReader fields(entry, kinds_);
    track_fields(fields, track);
    if (fields.bad() || track.process >= processes_.size() || track.kind > TrackKind::other) return false;
    const TrackId id = catalog.track(processes_[track.process], track.kind, track.group, track.id, track.group_name);
    catalog.tracks[id].name = std::move(track.name);
    catalog.tracks[id].priority = track.priority;
    catalog.tracks[id].kineto_row = std::move(track.kineto_row);
    tracks_.push_back(id);
    return true;
  });
}

// A stream's chunks that were chosen, read one after the other.
class MergedReader::Stream {
 public:
  explicit Stream(const ClockFit* fit) : fit_(fit) {}
  void add(const IndexEntry* chunk) { chunks_.push_back(chunk); }

  bool next(MergedReader& reader) {  // false: the end
    if (++at_ < batch_.size()) return true;
    for (at_ = 0; next_chunk_ < chunks_.size();) {
      reader.load(*chunks_[next_chunk_++], batch_, fit_, last_start_ns_);
      if (batch_.size() != 0) return true;
    }
    batch_ = EventBatch();
    return false;
  }
  const Event& event() const { return batch_.event(at_); }
  Facts facts() const { return batch_.facts(at_); }

 private:
  const ClockFit* fit_;
  std::vector<const IndexEntry*> chunks_;
  std::size_t next_chunk_ = 0;
  EventBatch batch_;
  std::size_t at_ = 0;
  std::int64_t last_start_ns_ = std::numeric_limits<std::int64_t>::min();
};

namespace {

// Where a chunk lies on the axis: what is in it, and what launched that.
struct Span {
  std::int64_t launch_ns, first_ns, last_ns;
};

Span span_of(const IndexEntry& chunk, const ClockFit* fit) {
  const auto on_axis = [&](std::int64_t ns) { return fit == nullptr ? ns : fit->on_axis(ns); };
  const std::int64_t launch_ns = chunk.first_launch_ns == kUnknownLaunch ? kUnknownLaunch : on_axis(chunk.first_launch_ns);
  return {launch_ns, on_axis(chunk.first_ns), on_axis(chunk.last_ns)};
}

bool overlaps(std::int64_t first_ns, std::int64_t last_ns, const std::pair<std::int64_t, std::int64_t>& interval) {
  return first_ns < interval.second && last_ns >= interval.first;
}

// For each interval the time that has to be read: back to the first call that launched something in it.
Wanted::Intervals with_launches(const Wanted::Intervals& wanted, const std::vector<Span>& spans) {
  Wanted::Intervals wider = wanted;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (const Span& span : spans) {
      if (overlaps(std::min(span.launch_ns, span.first_ns), span.last_ns, wanted[i])) {
        wider[i].first = std::min(wider[i].first, span.launch_ns);
      }
    }
  }
  return wider;
}

}  // namespace

// Calls and what they launched are chosen together, so that whoever walks sees for each piece of work in an interval the
// call, and for each call in it the work.
std::vector<const IndexEntry*> MergedReader::choose(const Wanted& wanted, NotRead& not_read) const {
  std::vector<const IndexEntry*> chosen;
  std::vector<Wanted::Intervals> times(processes_.size());
  if (!wanted.times.empty()) {
    std::vector<std::vector<Span>> spans(processes_.size());
    for (const IndexEntry& chunk : chunks_.index()) {
      if (is_events(chunk)) spans[chunk.process].push_back(span_of(chunk, process_fits_[chunk.process]));
    }
    for (std::size_t id = 0; id < times.size(); ++id) times[id] = with_launches(wanted.times[processes_[id]], spans[id]);
  }
  for (const IndexEntry& chunk : chunks_.index()) {
    if (!is_events(chunk)) continue;
    const Span span = span_of(chunk, process_fits_[chunk.process]);
    const auto& intervals = times[chunk.process];
    const bool in_time = wanted.times.empty() || std::any_of(intervals.begin(), intervals.end(), [&](const auto& interval) {
      return overlaps(std::min(span.launch_ns, span.first_ns), span.last_ns, interval);
    });
    if (!wanted.has(processes_[chunk.process])) {
      not_read.by_process += chunk.header.count;
    } else if (!in_time) {
      not_read.by_time += chunk.header.count;
    } else if (wanted.kinds && !holds(chunk, *wanted.kinds)) {
      not_read.by_kind += chunk.header.count;
    } else {
      chosen.push_back(&chunk);
    }
  }
  return chosen;
}

bool MergedReader::is_events(const IndexEntry& chunk) const {
  if (chunk.header.kind != static_cast<std::uint32_t>(ChunkKind::events)) return false;
  if (chunk.process >= processes_.size()) chunks_.refuse(chunk.offset, "the chunk is of a process that no list holds");
  return true;
}

bool MergedReader::holds(const IndexEntry& chunk, const KindSet& kinds) const {
  for (std::size_t kind = 0; kind < kinds_.size() && kind < 64; ++kind) {
    if ((chunk.kinds >> kind & 1) != 0 && kinds.test(static_cast<std::size_t>(kinds_[kind]))) return true;
  }
  return false;
}

NotRead MergedReader::read_events(EventSink& sink, const Wanted& wanted) { return read_events(sink, wanted, false); }

NotRead MergedReader::read_own_times(EventSink& sink) { return read_events(sink, {}, true); }

NotRead MergedReader::read_events(EventSink& sink, const Wanted& wanted, bool own_times) {
  NotRead not_read;
  std::vector<Stream> streams;
  std::unordered_map<std::uint64_t, std::size_t> known;  // by process and stream
  for (const IndexEntry* chunk : choose(wanted, not_read)) {
    const auto [stream, is_new] = known.try_emplace(std::uint64_t{chunk->process} << 32 | chunk->stream, streams.size());
    if (is_new) streams.emplace_back(own_times ? nullptr : process_fits_[chunk->process]);
    streams[stream->second].add(chunk);
  }
  struct Cursor {
    Stream& stream;
    MergedReader& reader;
    bool next() { return stream.next(reader); }
    const Event& event() const { return stream.event(); }
  };
  std::vector<Cursor> cursors;
  for (Stream& stream : streams) cursors.push_back({stream, *this});
  for (EventHeap<Cursor> heap(std::move(cursors)); heap.next();) sink.event(heap.first().event(), heap.first().stream.facts());
  return not_read;
}

// False: it names what no list holds.
bool MergedReader::translate(EventBatch& batch, std::size_t index) const {
  Translate translate{*this};
  visit_payload(batch.tag(index), batch.payload(index), [&](auto& payload) { payload_fields(translate, payload); });
  return translate.good;
}

void MergedReader::load(const IndexEntry& chunk, EventBatch& batch, const ClockFit* fit, std::int64_t& last_start_ns) {
  if (const char* wrong = decode_events(chunks_.load(chunk), chunk.header.count, shapes_, batch)) {
    chunks_.refuse(chunk.offset, wrong);
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Event& event = batch.events()[i];
    const auto kind = static_cast<std::size_t>(event.kind);
    if (event.track >= tracks_.size() || event.name >= strings_.size() || event.category >= strings_.size() ||
        kind >= kinds_.size() || !printable(event.phase) || !translate(batch, i)) {
      chunks_.refuse(chunk.offset, fmt::format("event {} of the chunk names what no list holds", i));
    }
    if (event.start_ns < last_start_ns) {
      chunks_.refuse(chunk.offset, fmt::format("event {} of the chunk starts before the event before it", i));
    }
    last_start_ns = event.start_ns;
    event.track = tracks_[event.track];
    event.name = strings_[event.name];
    event.category = strings_[event.category];
    event.kind = kinds_[kind];
    if (fit != nullptr) event.start_ns = fit->on_axis(event.start_ns);
  }
}

}  // namespace cli
