#include "cli/read/merged_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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
  read_events(sink);
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
  kinds_.clear(), strings_.clear(), launches_.clear(), captures_.clear(), processes_.clear(), tracks_.clear(), fits_.clear();
  for_each_entry(ChunkKind::kinds, [&](std::string_view entry) { return kinds_.push_back(kind_of(entry)), true; });
  for_each_entry(ChunkKind::strings,
                 [&](std::string_view entry) { return strings_.push_back(catalog.strings.intern(entry)), true; });
  read_interned(catalog);
  read_processes(catalog);
  read_tracks(catalog);
  for_each_entry(ChunkKind::clocks, [&](std::string_view entry) {
    FieldReader fields(entry, kinds_);
    clock_fields(fields, fits_.emplace_back());
    return !fields.bad() && fits_.size() <= kMaxProcesses;
  });
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

void MergedReader::read_events(EventSink& sink) {
  EventBatch batch;
  last_start_ns_ = std::numeric_limits<std::int64_t>::min();
  for (const IndexEntry& chunk : chunks_.index()) {
    if (chunk.header.kind != static_cast<std::uint32_t>(ChunkKind::events)) continue;
    if (const char* wrong = decode_events(chunks_.load(chunk), chunk.header.count, batch)) {
      chunks_.refuse(chunk.offset, wrong);
    }
    send(chunk, batch, sink);
  }
}

// False: it names what no list holds.
bool MergedReader::translate(EventBatch& batch, std::size_t index) const {
  Translate translate{*this};
  visit_payload(batch.tag(index), batch.payload(index), [&](auto& payload) { payload_fields(translate, payload); });
  return translate.good;
}

void MergedReader::send(const IndexEntry& chunk, EventBatch& batch, EventSink& sink) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Event event = batch.event(i);
    const auto kind = static_cast<std::size_t>(event.kind);
    if (event.track >= tracks_.size() || event.name >= strings_.size() || event.category >= strings_.size() ||
        kind >= kinds_.size() || !printable(event.phase) || !translate(batch, i)) {
      chunks_.refuse(chunk.offset, fmt::format("event {} of the chunk names what no list holds", i));
    }
    if (event.start_ns < last_start_ns_) {
      chunks_.refuse(chunk.offset, fmt::format("event {} of the chunk starts before the event before it", i));
    }
    last_start_ns_ = event.start_ns;
    event.track = tracks_[event.track];
    event.name = strings_[event.name];
    event.category = strings_[event.category];
    event.kind = kinds_[kind];
    sink.event(event, batch.facts(i));
  }
}

}  // namespace cli
