#include "cli/formats/ttrace/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "cli/base/error.h"
#include "cli/formats/ttrace/columns.h"
#include "cli/formats/ttrace/fields.h"
#include "cli/trace/event.h"
#include "cli/trace/names.h"

namespace cli::ttrace {

namespace {

constexpr std::size_t kMostChunkEvents = 32768, kLeastChunkEvents = 256;
constexpr std::size_t kLaunchSlots = std::size_t{1} << 20, kLeastLaunchSlots = 1024, kMostLaunchSlots = 16384;
constexpr std::size_t kReservedEvents = 4096;
constexpr std::size_t kChunkArgs = 4 << 20;
constexpr std::size_t kMaxArgs = 16 << 20;
static_assert(kMostChunkEvents <= kMaxChunkEvents);
static_assert(kChunkArgs + kMaxArgs + kMostChunkEvents * (kCommonColumns + kMostFields + kMostHoles) * kMaxVarint <
              kMaxChunkBytes);

std::int64_t checked_end(const Event& event, const std::string& source) {
  std::int64_t end;
  if (!__builtin_add_overflow(event.start_ns, std::max<std::int64_t>(event.duration_ns, 0), &end)) return end;
  throw Error(Exit::bad_content, fmt::format("{}: an event that starts at {} ns and lasts {} ns ends after the largest "
                                             "timestamp; the file is damaged; merge without it",
                                             source, event.start_ns, event.duration_ns));
}

ChunkSort sort_of(const Event& event, const Track& track) {
  if (event.kind == Kind::flow) return ChunkSort::flow;
  if (is_api_call(event.kind)) return ChunkSort::call;
  return track.kind == TrackKind::stream ? ChunkSort::stream : ChunkSort::other;
}

}  // namespace

ChunkWriter::ChunkWriter(const Catalog& catalog, const IdMap* ids, const ChunkOptions& options, Put put)
    : catalog_(catalog),
      ids_(ids),
      chunk_events_(std::clamp(options.held_events / (std::max<std::size_t>(options.processes, 1) * kSorts),
                               kLeastChunkEvents, kMostChunkEvents)),
      launch_slots_(
          std::clamp(kLaunchSlots / std::max<std::size_t>(options.processes, 1), kLeastLaunchSlots, kMostLaunchSlots)),
      put_(std::move(put)),
      zstd_(kChunkZstdLevel),
      processes_(catalog.processes.size()) {
  if (options.beside) background_.emplace();
}

ChunkWriter::~ChunkWriter() = default;

void ChunkWriter::event(const Event& event, const Facts& facts) {
  const Track& track = catalog_.tracks[event.track];
  const std::string& source = catalog_.processes[track.process].source;
  if (facts.args.size() > kMaxArgs) {
    throw Error(Exit::bad_content,
                fmt::format("{}: an event at {} ns has {} bytes of arguments, more than {}; merge without "
                            "this file",
                            source, event.start_ns, facts.args.size(), kMaxArgs));
  }
  const std::int64_t end_ns = checked_end(event, source);
  const ChunkSort sort = sort_of(event, track);
  Streams& process = processes_[track.process];
  Stream& stream = process.sorts[static_cast<std::size_t>(sort)];
  if (stream.batch == nullptr) begin(stream, event, track.process, static_cast<std::size_t>(sort));
  if (sort == ChunkSort::call && event.correlation != 0) {
    for (const std::size_t early : process.launches.note(event.correlation, event.start_ns, launch_slots_)) {
      if (early != LaunchStarts::kNoChunk) late_launches_[early] = std::max(late_launches_[early], event.start_ns);
    }
    if (process.launches.may_be_given_up(event.correlation)) process.late_given_up_ns = event.start_ns;
  }
  IndexEntry& entry = stream.entry;
  entry.last_ns = std::max(entry.last_ns, end_ns);
  entry.first_launch_ns = std::min(entry.first_launch_ns, launch_of(event, process, sort, stream.chunk));
  entry.kinds |= std::uint64_t{1} << static_cast<unsigned>(event.kind);
  stream.batch->add(event, facts);
  ++chunks_.events;
  if (stream.batch->size() == chunk_events_ || stream.batch->args_bytes() >= kChunkArgs) hand_over(stream);
}

void ChunkWriter::begin(Stream& stream, const Event& event, std::uint32_t process, std::size_t sort) {
  if (spare_.empty()) {
    stream.batch = std::make_shared<EventBatch>();
    stream.batch->reserve(std::min(chunk_events_, kReservedEvents));
  } else {
    stream.batch = std::move(spare_.back());
    spare_.pop_back();
  }
  stream.entry = {};
  stream.entry.first_ns = stream.entry.last_ns = stream.entry.first_launch_ns = event.start_ns;
  stream.chunk = late_launches_.size();
  late_launches_.push_back(event.start_ns);
  gave_up_waiting_.push_back(false);
  stream.entry.process = process;
  stream.entry.sort = static_cast<std::uint32_t>(sort);
}

// Returns true for the end of a flow from a call to its work; the start is at the call.
bool ChunkWriter::ends_launch(const Event& event) {
  if (event.phase == 's') return false;
  const StringId category = event.category != 0 ? event.category : event.name;
  for (StringId id = static_cast<StringId>(launch_flows_.size()); id <= category; ++id) {
    launch_flows_.push_back(is_launch_flow_name(catalog_.strings[id]));
  }
  return launch_flows_[category];
}

std::int64_t ChunkWriter::launch_of(const Event& event, Streams& process, ChunkSort sort, std::size_t chunk) {
  const bool launched = sort == ChunkSort::stream || (sort == ChunkSort::flow && ends_launch(event));
  if (!launched || event.correlation == 0) return event.start_ns;
  std::int64_t start_ns = event.start_ns;
  switch (process.launches.find(event.correlation, start_ns)) {
    case LaunchStarts::Found::yes:
      return std::min(start_ns, event.start_ns);
    case LaunchStarts::Found::forgotten:
      return kUnknownLaunch;
    case LaunchStarts::Found::no: {
      const auto what = sort == ChunkSort::flow ? LaunchStarts::flow : LaunchStarts::work;
      for (const std::size_t given_up : process.launches.wait(event.correlation, what, chunk)) {
        if (given_up != LaunchStarts::kNoChunk) gave_up_waiting_[given_up] = true;
      }
    }
  }
  return event.start_ns;
}

void ChunkWriter::hand_over(Stream& stream) {
  handed_over_.push_back(stream.chunk);
  if (background_) {
    background_->run([this, batch = std::move(stream.batch), entry = stream.entry] { write(*batch, entry); });
  } else {
    write(*stream.batch, stream.entry);
    stream.batch->clear();
    spare_.push_back(std::move(stream.batch));
  }
  stream.batch = nullptr;
}

void ChunkWriter::write(EventBatch& batch, IndexEntry entry) {
  if (ids_ != nullptr) ids_->translate_all(batch);
  encode_events(batch, nullptr, 0, batch.size(), raw_);
  pack_chunk(ChunkKind::events, batch.size(), raw_, zstd_, entry, packed_);
  entry.offset = offset_;
  offset_ += packed_.size();
  chunks_.index.push_back(entry);
  put_(packed_);
}

void ChunkWriter::end_of(ProcessId process) {
  for (Stream& stream : processes_[process].sorts) {
    if (stream.batch != nullptr) hand_over(stream);
  }
  processes_[process].launches = {};
}

InputChunks ChunkWriter::finish() {
  for (ProcessId id = 0; id < processes_.size(); ++id) end_of(id);
  if (background_) background_->wait();
  for (std::size_t i = 0; i < handed_over_.size(); ++i) {
    const std::size_t chunk = handed_over_[i];
    IndexEntry& entry = chunks_.index[i];
    entry.late_launch_ns = late_launches_[chunk];
    if (gave_up_waiting_[chunk])
      entry.late_launch_ns = std::max(late_launches_[chunk], processes_[entry.process].late_given_up_ns);
  }
  return std::move(chunks_);
}

void pack_chunk(ChunkKind kind, std::size_t count, std::string_view raw, ZstdCompressor& zstd, IndexEntry& entry,
                std::string& out) {
  zstd.compress(raw, out);
  entry.header = {static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(count),
                  static_cast<std::uint32_t>(raw.size()), static_cast<std::uint32_t>(out.size())};
  out.insert(0, reinterpret_cast<const char*>(&entry.header), sizeof(entry.header));
}

namespace {

constexpr std::size_t kListBytes = 4 << 20;
constexpr std::size_t kMostWaiting = 8 << 20;  // bytes of an input whose turn has not come

}  // namespace

MergedOutput::MergedOutput(ByteSink& out, std::size_t inputs) : out_(out), parts_(inputs), failed_(inputs) {
  MergedHeader header{};
  std::memcpy(header.magic, kMergedMagic, sizeof(header.magic));
  header.version = kMergedVersion;
  header.header_bytes = sizeof(header);
  header.features = kMergedFeatures;
  write_struct(header);
  begin_part();
}

void MergedOutput::begin_part() {
  if (turn_ == parts_.size()) return;
  parts_[turn_].begin = offset_;
  write_bytes(std::exchange(parts_[turn_].waiting, {}));
}

void MergedOutput::put(std::size_t input, std::string_view bytes) {
  std::unique_lock lock(mutex_);
  std::string& waiting = parts_[input].waiting;
  if (input != turn_) {
    waiting += bytes;
    if (waiting.size() < kMostWaiting) return;
    changed_.wait(lock, [&] { return input == turn_ || input > failed_; });
    if (input != turn_) throw Error(Exit::cannot_open, "an earlier input failed");
    return;
  }
  write_bytes(bytes);
}

void MergedOutput::done(std::size_t input, InputChunks chunks) {
  const std::lock_guard lock(mutex_);
  parts_[input].chunks = std::move(chunks);
  parts_[input].is_done = true;
  while (turn_ < parts_.size() && parts_[turn_].is_done) {
    ++turn_;
    begin_part();
  }
  changed_.notify_all();
}

void MergedOutput::give_up(std::size_t input) {
  const std::lock_guard lock(mutex_);
  failed_ = std::min(failed_, input);
  changed_.notify_all();
}

void MergedOutput::write_chunk(ChunkKind kind, std::size_t count, std::string_view raw) {
  IndexEntry entry{};
  pack_chunk(kind, count, raw, zstd_, entry, packed_);
  entry.offset = offset_;
  index_.push_back(entry);
  write_bytes(packed_);
}

void MergedOutput::write_bytes(std::string_view bytes) {
  out_.write(bytes);
  offset_ += bytes.size();
}

// `append` adds the fields of one entry to a string.
template <typename List, typename Append>
void MergedOutput::write_list(ChunkKind kind, const List& list, Append&& append) {
  std::string raw, entry;
  std::size_t count = 0;
  for (const auto& item : list) {
    entry.clear();
    append(entry, item);
    if (count != 0 && raw.size() + entry.size() > kListBytes) {
      write_chunk(kind, count, raw);
      list_bytes_ += raw.size();
      raw.clear();
      count = 0;
    }
    append_varint(raw, entry.size());
    raw += entry;
    ++count;
  }
  if (raw.size() > kMaxChunkBytes) throw Error(Exit::bad_content, "a name in the input is longer than 64 MiB");
  if (count != 0) write_chunk(kind, count, raw);
  list_bytes_ += raw.size();
}

void MergedOutput::finish(const Catalog& catalog, const std::vector<ClockFit>& fits,
                          const std::vector<ProcessSteps>& steps) {
  for (const Part& part : parts_) {
    for (IndexEntry entry : part.chunks.index) {
      entry.offset += part.begin;
      index_.push_back(entry);
    }
    events_ += part.chunks.events;
  }
  std::vector<std::string_view> strings(catalog.strings.size());
  for (std::size_t id = 0; id < strings.size(); ++id) strings[id] = catalog.strings[static_cast<StringId>(id)];
  write_list(ChunkKind::kinds, kKinds, [](std::string& entry, const KindInfo& kind) { entry = kind.name; });
  write_list(ChunkKind::schema, schema(), [](std::string& entry, const SchemaEntry& described) {
    FieldWriter fields(entry);
    schema_fields(fields, described);
  });
  write_list(ChunkKind::strings, strings, [](std::string& entry, std::string_view text) { entry = text; });
  std::vector<std::string_view> shapes(catalog.shapes.size() > 1 ? catalog.shapes.size() : 0);
  for (ShapeId id = 0; id < shapes.size(); ++id) shapes[id] = catalog.shapes[id].text;
  write_list(ChunkKind::shapes, shapes, [](std::string& entry, std::string_view text) { entry = text; });
  for_each_interned([&]<typename T>(const T*) {
    write_list(list_of<T>(), catalog.interned<T>().all(), [](std::string& entry, const T& value) {
      FieldWriter fields(entry);
      interned_fields(fields, value);
    });
  });
  write_list(ChunkKind::processes, catalog.processes, [](std::string& entry, const Process& process) {
    FieldWriter fields(entry);
    process_fields(fields, process);
  });
  write_list(ChunkKind::tracks, catalog.tracks, [](std::string& entry, const Track& track) {
    FieldWriter fields(entry);
    track_fields(fields, track);
  });
  write_list(ChunkKind::clocks, fits, [](std::string& entry, const ClockFit& fit) {
    FieldWriter fields(entry);
    clock_fields(fields, fit);
  });
  write_list(ChunkKind::steps, steps, [](std::string& entry, const ProcessSteps& found) {
    FieldWriter fields(entry);
    steps_fields(fields, found);
  });
  write_index();
}

void MergedOutput::write_index() {
  if (list_bytes_ > most_list_bytes(offset_)) {
    throw Error(
        Exit::bad_content,
        fmt::format(
            "the names and arguments of these inputs are {} bytes that hardly differ; readers reject such a merged "
            "file; export the inputs instead",
            list_bytes_));
  }
  MergedFooter footer{};
  footer.index_offset = offset_;
  footer.events = events_;
  const std::vector<IndexEntry> entries = std::move(index_);
  write_chunk(ChunkKind::index, entries.size(),
              {reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(IndexEntry)});
  footer.file_bytes = offset_ + sizeof(footer);
  std::memcpy(footer.magic, kMergedEnd, sizeof(footer.magic));
  write_struct(footer);
}

MergedWriter::MergedWriter(ByteSink& out, const Catalog& catalog, std::size_t held_events)
    : output_(out, 1),
      chunks_(catalog, nullptr, {catalog.processes.size(), held_events, true},
              [this](std::string_view bytes) { output_.put(0, bytes); }) {}

void MergedWriter::finish(const Catalog& catalog, const std::vector<ClockFit>& fits,
                          const std::vector<ProcessSteps>& steps) {
  output_.done(0, chunks_.finish());
  output_.finish(catalog, fits, steps);
}

}  // namespace cli::ttrace
