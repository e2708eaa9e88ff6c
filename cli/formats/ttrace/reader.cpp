#include "cli/formats/ttrace/reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <limits>
#include <unordered_map>
#include <utility>

#include "cli/base/error.h"
#include "cli/base/files.h"
#include "cli/base/threads.h"
#include "cli/formats/ttrace/columns.h"
#include "cli/formats/ttrace/fields.h"
#include "cli/formats/ttrace/walk.h"
#include "cli/trace/clocks.h"
#include "cli/trace/event.h"

namespace cli::ttrace {

namespace {

constexpr std::uint64_t kLeast = sizeof(MergedHeader) + sizeof(ChunkHeader) + sizeof(MergedFooter);

bool is(const ChunkHeader& header, ChunkKind kind) { return header.kind == static_cast<std::uint32_t>(kind); }

}  // namespace

MergedChunks::MergedChunks(const std::string& path) : path_(path) {
  open();
  try {
    check_header();
    load_index();
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

MergedChunks::~MergedChunks() { ::close(fd_); }

void MergedChunks::open() {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (fd_ < 0 || ::fstat(fd_, &status) != 0) {
    const int error = errno;
    if (fd_ >= 0) ::close(fd_);
    throw Error(Exit::cannot_open,
                fmt::format("{}: cannot open: {}; check the path and its permissions", path_, std::strerror(error)));
  }
  file_bytes_ = static_cast<std::uint64_t>(status.st_size);
}

void MergedChunks::check_header() {
  if (file_bytes_ < kLeast) refuse(file_bytes_, "the file ends here, too early for a merged file");
  MergedHeader header;
  read(0, &header, sizeof(header));
  if (std::memcmp(header.magic, kMergedMagic, sizeof(kMergedMagic)) != 0) refuse(0, "this is not a merged trace");
  if (header.version != kMergedVersion || (header.features & ~kMergedFeatures) != 0) {
    throw Error(
        Exit::bad_content,
        fmt::format("{}: byte 8: written by another version of tracetool (format {}, features {:#x}; this one "
                    "reads format {}); merge the traces again with this version, or read them with the other one",
                    path_, header.version, header.features, kMergedVersion));
  }
  if (header.header_bytes < sizeof(header) || header.header_bytes > file_bytes_ - kLeast + sizeof(header)) {
    refuse(12, "the header has an impossible size");
  }
  chunks_begin_ = header.header_bytes;
}

void MergedChunks::load_index() {
  const std::uint64_t footer_at = file_bytes_ - sizeof(MergedFooter);
  MergedFooter footer;
  read(footer_at, &footer, sizeof(footer));
  if (std::memcmp(footer.magic, kMergedEnd, sizeof(kMergedEnd)) != 0 || footer.file_bytes != file_bytes_) {
    refuse(file_bytes_, "the file ends here without its footer: it was only partly written or copied");
  }
  const std::uint64_t at = footer.index_offset;
  if (at < chunks_begin_ || at > footer_at - sizeof(ChunkHeader))
    refuse(footer_at, "the index lies outside of the file");
  IndexEntry index{};
  index.offset = at;
  read(at, &index.header, sizeof(index.header));
  const ChunkHeader& header = index.header;
  if (!is(header, ChunkKind::index) || header.stored_bytes != footer_at - at - sizeof(header) ||
      header.raw_bytes != std::uint64_t{header.count} * sizeof(IndexEntry) ||
      header.count > file_bytes_ / sizeof(ChunkHeader)) {
    refuse(at, "the index has an impossible size");
  }
  std::string raw;
  load(index, raw);
  index_.resize(header.count);
  if (!raw.empty()) std::memcpy(index_.data(), raw.data(), raw.size());
  events_ = footer.events;
  check_index(at);
}

void MergedChunks::check_index(std::uint64_t end) const {
  std::uint64_t at = chunks_begin_, events = 0, lists = 0;
  for (const IndexEntry& entry : index_) {
    const ChunkHeader& header = entry.header;
    const bool of_events = is(header, ChunkKind::events);
    if (entry.offset != at || header.raw_bytes > kMaxChunkBytes || (of_events && header.count > kMaxChunkEvents) ||
        header.stored_bytes > end - at || end - at - header.stored_bytes < sizeof(header)) {
      refuse(at, "the index has an impossible entry");
    }
    at += sizeof(header) + header.stored_bytes;
    (of_events ? events : lists) += of_events ? header.count : header.raw_bytes;
  }
  if (at != end || events != events_) refuse(end, "the index does not cover the file");
  if (lists > most_list_bytes(file_bytes_)) refuse(end, "the lists need more memory than any trace");
}

void MergedChunks::load(const IndexEntry& entry, std::string& raw) {
  ChunkHeader header;
  read(entry.offset, &header, sizeof(header));
  if (std::memcmp(&header, &entry.header, sizeof(header)) != 0)
    refuse(entry.offset, "the chunk does not match the index");
  packed_.resize(header.stored_bytes);
  read(entry.offset + sizeof(header), packed_.data(), packed_.size());
  if (!zstd_.decompress(packed_, header.raw_bytes, raw))
    refuse(entry.offset, "the chunk is damaged (checksum or size)");
}

void MergedChunks::read(std::uint64_t offset, void* to, std::size_t size) const {
  const std::size_t got = read_at(fd_, to, size, offset);
  if (got == size) return;
  if (errno == 0) refuse(offset + got, "the file became shorter while it was read");
  throw Error(Exit::cannot_open, fmt::format("{}: byte {}: cannot read: {}; copy it to another disk", path_,
                                             offset + got, std::strerror(errno)));
}

void MergedChunks::refuse(std::uint64_t offset, std::string_view what) const {
  throw Error(Exit::bad_content, fmt::format("{}: byte {}: {}; copy the merged file again, or run `tracetool merge` on "
                                             "the recordings again",
                                             path_, offset, what));
}

bool is_merged_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char magic[sizeof(kMergedMagic)] = {};
  const bool same =
      read_at(fd, magic, sizeof(magic), 0) == sizeof(magic) && std::memcmp(magic, kMergedMagic, sizeof(magic)) == 0;
  ::close(fd);
  return same;
}

namespace {

Kind kind_of(std::string_view name) {
  const auto found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const KindInfo& info) { return info.name == name; });
  return found == kKinds.end() ? Kind::other : static_cast<Kind>(found - kKinds.begin());
}

constexpr std::uint64_t kLeastAhead = 1 << 16;  // minimum number of events for a separate thread

bool printable(char phase) { return phase > ' ' && phase < 127 && phase != '"' && phase != '\\'; }

}  // namespace

MergedReader::MergedReader(const std::string& path) : chunks_(path) {}

void MergedReader::read(Catalog& catalog, EventSink& sink) {
  read_lists(catalog);
  read_events(sink, {}, false);
}

// Calls f(entry, offset of its chunk) for each entry of the list; f returns false if the entry is invalid.
template <typename F>
void MergedReader::for_each_entry(ChunkKind kind, F&& f) {
  std::string content;
  for (const IndexEntry& chunk : chunks_.index()) {
    if (chunk.header.kind != static_cast<std::uint32_t>(kind)) continue;
    chunks_.load(chunk, content);
    std::string_view raw = content;
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
  kinds_.clear();
  processes_.clear();
  fits_.clear();
  process_fits_.clear();
  steps_.clear();
  ids_ = {};
  for_each_entry(ChunkKind::kinds, [&](std::string_view entry) {
    kinds_.push_back(kind_of(entry));
    return true;
  });
  // The entries have to be those that this version writes.
  std::size_t described = 0;
  for_each_entry(ChunkKind::schema, [&, known = schema()](std::string_view entry) {
    if (described == known.size()) return false;
    std::string own;
    FieldWriter fields(own);
    schema_fields(fields, known[described++]);
    return entry == own;
  });
  for_each_entry(ChunkKind::strings, [&](std::string_view entry) {
    ids_.strings.push_back(catalog.strings.intern(entry));
    return true;
  });
  for_each_entry(ChunkKind::shapes, [&](std::string_view entry) {
    if (entry.size() > kMostShapeText || holes_in(entry) > kMostHoles) return false;
    ids_.shapes.push_back(&catalog.shapes.intern(entry));
    return true;
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
    if (!known && clock >= 0) chunks_.refuse(0, "a process refers to a missing clock");
    process_fits_.push_back(
        known && fits_[static_cast<std::size_t>(clock)].moves() ? &fits_[static_cast<std::size_t>(clock)] : nullptr);
  }
  read_steps();
}

void MergedReader::read_steps() {
  for_each_entry(ChunkKind::steps, [&](std::string_view entry) {
    ProcessSteps found;
    FieldReader fields(entry, kinds_);
    steps_fields(fields, found);
    if (fields.bad() || steps_.size() == processes_.size()) return false;
    steps_.push_back(std::move(found));
    return true;
  });
  if (!steps_.empty() && steps_.size() != processes_.size()) chunks_.refuse(0, "the list of steps lacks a process");
}

std::vector<ProcessSteps> MergedReader::steps() const {
  std::vector<ProcessSteps> steps = steps_;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (const ClockFit* fit = process_fits_[i]; fit != nullptr) put_on_axis(steps[i], *fit);
  }
  return steps;
}

void MergedReader::read_interned(Catalog& catalog) {
  const auto read = [&]<typename T>(const T*) {
    for_each_entry(list_of<T>(), [&](std::string_view entry) {
      T value;
      FieldReader fields(entry, kinds_);
      interned_fields(fields, value);
      if (!ids_.translate_fields(value) || fields.bad()) return false;
      ids_.of<T>().push_back(catalog.interned<T>().intern(value));
      return true;
    });
  };
  // Entries that refer to others of their own list follow these.
  for_each_interned(read);
}

void MergedReader::read_processes(Catalog& catalog) {
  for_each_entry(ChunkKind::processes, [&](std::string_view entry) {
    Process process;
    FieldReader fields(entry, kinds_);
    process_fields(fields, process);
    if (fields.bad() || process.format > SourceFormat::nsys || processes_.size() == kMaxProcesses) return false;
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
    catalog.tracks[id].kineto_ids = std::move(track.kineto_ids);
    catalog.tracks[id].launcher = track.launcher;
    ids_.tracks.push_back(id);
    return true;
  });
}

// Reads the chosen chunks of a stream one after the other.
class MergedReader::Stream : public PieceStream {
 public:
  // If `fit` is null, times are not converted. Both have to outlive it.
  Stream(MergedReader& reader, const ClockFit* fit) : reader_(reader), axis_(fit), decoder_(reader.ids_.shapes) {}
  void add(const IndexEntry* chunk) { chunks_.push_back(chunk); }

  bool take(EventBatch& out, const PieceSize& most) override {
    while (true) {
      const std::size_t first = taken_;
      refuse_if(decoder_.take(out, most.events, most.text_bytes));
      taken_ += out.size();
      translate(out, first);
      if (out.size() != 0) return true;
      if (next_chunk_ == chunks_.size()) {
        raw_ = {};
        return false;
      }
      chunk_ = chunks_[next_chunk_++];
      reader_.chunks_.load(*chunk_, raw_);
      refuse_if(decoder_.open(raw_, chunk_->header.count));
      taken_ = 0;
    }
  }

 private:
  void refuse_if(const char* wrong) const {
    if (wrong != nullptr) reader_.chunks_.refuse(chunk_->offset, wrong);
  }
  void translate(EventBatch& batch, std::size_t first) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      Event& event = batch.events()[i];
      const auto kind = static_cast<std::size_t>(event.kind);
      if (kind >= reader_.kinds_.size() || !printable(event.phase) || !reader_.ids_.translate(batch, i)) {
        reader_.chunks_.refuse(chunk_->offset,
                               fmt::format("event {} of the chunk refers to a missing list entry", first + i));
      }
      if (event.start_ns < last_start_ns_) {
        reader_.chunks_.refuse(chunk_->offset,
                               fmt::format("event {} of the chunk starts before the event before it", first + i));
      }
      last_start_ns_ = event.start_ns;
      event.kind = reader_.kinds_[kind];
      axis_.place(event);
    }
  }

  MergedReader& reader_;
  AxisPlacer axis_;
  std::vector<const IndexEntry*> chunks_;
  std::size_t next_chunk_ = 0;
  const IndexEntry* chunk_ = nullptr;  // the current chunk
  std::string raw_;                    // its columns
  ColumnDecoder decoder_;
  std::size_t taken_ = 0;  // number of its events already taken
  std::int64_t last_start_ns_ = std::numeric_limits<std::int64_t>::min();
};

namespace {

// The times of a chunk on the axis, including when the calls began that launched its work.
struct Span {
  std::int64_t first_ns, last_ns, first_launch_ns, late_launch_ns;
};

Span span_of(const IndexEntry& chunk, const ClockFit* fit) {
  const auto on_axis = [&](std::int64_t ns) { return fit == nullptr ? ns : fit->on_axis(ns); };
  const bool unknown = chunk.first_launch_ns == kUnknownLaunch;
  return {on_axis(chunk.first_ns), on_axis(chunk.last_ns), unknown ? kUnknownLaunch : on_axis(chunk.first_launch_ns),
          on_axis(chunk.late_launch_ns)};
}

using Intervals = Wanted::Intervals;

bool overlaps(std::int64_t first_ns, std::int64_t last_ns, const Intervals& intervals) {
  return std::any_of(intervals.begin(), intervals.end(),
                     [&](const auto& interval) { return first_ns < interval.second && last_ns >= interval.first; });
}

// Determines which chunks of a process have to be read for some intervals of time.
class TimesToRead {
 public:
  // The intervals have to outlive it.
  explicit TimesToRead(const Intervals& wanted) : wanted_(wanted) {}

  // Adds a chunk of launched work. All of them have to be added before the queries.
  void launched(const Span& span, ChunkSort sort) {
    for (const auto& [from_ns, to_ns] : wanted_) {
      if (span.first_ns >= to_ns || span.last_ns < from_ns) continue;
      calls_.push_back({span.first_launch_ns, std::max(to_ns, later(span.late_launch_ns))});
    }
    if (sort == ChunkSort::stream && is_wanted(span)) beside_.push_back({span.first_ns, later(span.last_ns)});
  }
  void join() {
    join_intervals(calls_);
    join_intervals(beside_);
  }

  // Returns true if the chunk has events in an interval, or work launched by a call in one.
  bool is_wanted(const Span& span) const {
    return overlaps(std::min(span.first_ns, span.first_launch_ns), std::max(span.last_ns, span.late_launch_ns),
                    wanted_);
  }
  // Returns true if the chunk has calls that launched work in an interval.
  bool launches_wanted(const Span& span) const { return overlaps(span.first_ns, span.last_ns, calls_); }
  // Returns true if it has events while a wanted event runs.
  bool is_beside_wanted(const Span& span) const { return overlaps(span.first_ns, span.last_ns, beside_); }

 private:
  static std::int64_t later(std::int64_t ns) { return ns == INT64_MAX ? ns : ns + 1; }

  const Intervals& wanted_;
  Intervals calls_, beside_;
};

}  // namespace

// Calls and the work that they launched are chosen together, so that a walk includes the call for each piece of work in
// an interval, and the work for each call in it; also ranges on the GPU with the work in them.
std::vector<const IndexEntry*> MergedReader::choose(const Wanted& wanted, bool own_times, NotRead& not_read) const {
  const auto fit_of = [&](const IndexEntry& chunk) { return own_times ? nullptr : process_fits_[chunk.process]; };
  std::vector<TimesToRead> times;
  if (!wanted.times.empty()) {
    for (const ProcessId id : processes_) times.emplace_back(wanted.times[id]);
    for (const IndexEntry& chunk : chunks_.index()) {
      const auto sort = static_cast<ChunkSort>(chunk.sort);
      const bool launched = is_events(chunk) && (sort == ChunkSort::stream || sort == ChunkSort::flow);
      if (launched) times[chunk.process].launched(span_of(chunk, fit_of(chunk)), sort);
    }
    for (TimesToRead& of : times) of.join();
  }
  // An NCCL call is recognized by the launches in it.
  const auto is_of_calls = [&](const IndexEntry& chunk) {
    return static_cast<ChunkSort>(chunk.sort) == ChunkSort::call || holds(chunk, kinds_of({Kind::nccl}));
  };
  const auto in_time = [&](const IndexEntry& chunk) {
    if (times.empty()) return true;
    const TimesToRead& of = times[chunk.process];
    const Span span = span_of(chunk, fit_of(chunk));
    return of.is_wanted(span) || (of.launches_wanted(span) && is_of_calls(chunk)) ||
           (of.is_beside_wanted(span) && holds(chunk, kinds_of({Kind::gpu_annotation})));
  };
  std::vector<const IndexEntry*> chosen;
  for (const IndexEntry& chunk : chunks_.index()) {
    if (!is_events(chunk)) continue;
    if (!wanted.has(processes_[chunk.process])) {
      not_read.by_process += chunk.header.count;
    } else if (!wanted.has_now(processes_[chunk.process])) {
      continue;
    } else if (!in_time(chunk)) {
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
  if (chunk.process >= processes_.size()) chunks_.refuse(chunk.offset, "the chunk belongs to a missing process");
  return true;
}

bool MergedReader::holds(const IndexEntry& chunk, const KindSet& kinds) const {
  for (std::size_t kind = 0; kind < kinds_.size() && kind < 64; ++kind) {
    if ((chunk.kinds >> kind & 1) != 0 && kinds.test(static_cast<std::size_t>(kinds_[kind]))) return true;
  }
  return false;
}

NotRead MergedReader::read_events(EventSink& sink, const Wanted& wanted, bool ahead) {
  return read_chosen(sink, wanted, false, ahead);
}

NotRead MergedReader::read_own_times(EventSink& sink, const Wanted& wanted, bool ahead) {
  return read_chosen(sink, wanted, true, ahead);
}

NotRead MergedReader::read_chosen(EventSink& sink, const Wanted& wanted, bool own_times, bool ahead) {
  NotRead not_read;
  const bool one_by_one = own_times || wanted.any_order_of_processes;
  std::deque<StreamGroup> groups(one_by_one ? processes_.size() : 1);
  for (std::size_t i = 0; one_by_one && i < groups.size(); ++i) groups[i].process = processes_[i];
  std::unordered_map<std::uint64_t, Stream*> known;  // by process and stream
  std::uint64_t events = 0;
  for (const IndexEntry* chunk : choose(wanted, own_times, not_read)) {
    Stream*& stream = known[std::uint64_t{chunk->process} << 32 | chunk->sort];
    if (stream == nullptr) {
      auto made = std::make_unique<Stream>(*this, own_times ? nullptr : process_fits_[chunk->process]);
      stream = made.get();
      groups[one_by_one ? chunk->process : 0].streams.push_back(std::move(made));
    }
    stream->add(chunk);
    events += chunk->header.count;
  }
  merge_streams(std::move(groups), sink, ahead && events >= kLeastAhead && usable_cores() > 1);
  return not_read;
}

}  // namespace cli::ttrace
