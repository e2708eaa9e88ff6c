#include "cli/merge/merged_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cli/model/error.h"
#include "cli/model/kinds.h"
#include "cli/model/name_classes.h"
#include "cli/read/merged_columns.h"
#include "cli/read/merged_fields.h"

namespace cli {
namespace {

constexpr int kZstdLevel = 1;
constexpr std::size_t kMostChunkEvents = 32768, kLeastChunkEvents = 256;
constexpr std::size_t kLaunchSlots = std::size_t{1} << 20, kLeastLaunchSlots = 1024, kMostLaunchSlots = 16384;
constexpr std::size_t kChunkArgs = 4 << 20;
constexpr std::size_t kListBytes = 4 << 20;
constexpr std::size_t kMaxArgs = 16 << 20;
static_assert(kMostChunkEvents <= kMaxChunkEvents);
static_assert(kChunkArgs + kMaxArgs + kMostChunkEvents * (kCommonColumns + kMostFields + kMostHoles) * kMaxVarint < kMaxChunkBytes);

std::int64_t checked_end(const Event& event) {
  std::int64_t end;
  if (!__builtin_add_overflow(event.start_ns, std::max<std::int64_t>(event.duration_ns, 0), &end)) return end;
  throw Error(Exit::bad_content, fmt::format("an event that starts at {} ns lasts {} ns, which is beyond the end of "
                                             "time; the input is damaged: leave that file out",
                                             event.start_ns, event.duration_ns));
}

ChunkSort sort_of(const Event& event, const Track& track) {
  if (event.kind == Kind::flow) return ChunkSort::flow;
  if (is_api_call(event.kind)) return ChunkSort::call;
  return track.kind == TrackKind::stream ? ChunkSort::stream : ChunkSort::other;
}

}  // namespace

MergedWriter::MergedWriter(ByteSink& out, const Catalog& catalog, std::size_t held_events)
    : out_(out),
      catalog_(catalog),
      chunk_events_(std::clamp(held_events / (std::max<std::size_t>(catalog.processes.size(), 1) * kSorts),
                               kLeastChunkEvents, kMostChunkEvents)),
      launch_slots_(std::clamp(kLaunchSlots / std::max<std::size_t>(catalog.processes.size(), 1), kLeastLaunchSlots, kMostLaunchSlots)),
      zstd_(kZstdLevel),
      processes_(catalog.processes.size()) {
  MergedHeader header{};
  std::memcpy(header.magic, kMergedMagic, sizeof(header.magic));
  header.version = kMergedVersion;
  header.header_bytes = sizeof(header);
  header.features = kMergedFeatures;
  write_struct(header);
}

MergedWriter::~MergedWriter() = default;

void MergedWriter::event(const Event& event, const Facts& facts) {
  if (facts.args.size() > kMaxArgs) {
    throw Error(Exit::bad_content, fmt::format("an event at {} ns has {} bytes of arguments, more than {}; leave its "
                                               "file out",
                                               event.start_ns, facts.args.size(), kMaxArgs));
  }
  const std::int64_t end_ns = checked_end(event);
  const Track& track = catalog_.tracks[event.track];
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
  ++events_;
  if (stream.batch->size() == chunk_events_ || stream.batch->args_bytes() >= kChunkArgs) hand_over(stream);
}

void MergedWriter::begin(Stream& stream, const Event& event, std::uint32_t process, std::size_t sort) {
  stream.batch = std::make_shared<EventBatch>();
  stream.entry = {};
  stream.entry.first_ns = stream.entry.last_ns = stream.entry.first_launch_ns = event.start_ns;
  stream.chunk = late_launches_.size();
  late_launches_.push_back(event.start_ns);
  gave_up_waiting_.push_back(false);
  stream.entry.process = process;
  stream.entry.sort = static_cast<std::uint32_t>(sort);
}

// Whether it is the end of an arrow from a call to what that launched: the start is where the call is.
bool MergedWriter::ends_launch(const Event& event) {
  if (event.phase == 's') return false;
  const StringId category = event.category != 0 ? event.category : event.name;
  for (StringId id = static_cast<StringId>(launch_flows_.size()); id <= category; ++id) {
    launch_flows_.push_back(is_launch_flow_name(catalog_.strings[id]));
  }
  return launch_flows_[category];
}

std::int64_t MergedWriter::launch_of(const Event& event, Streams& process, ChunkSort sort, std::size_t chunk) {
  const bool launched = sort == ChunkSort::stream || (sort == ChunkSort::flow && ends_launch(event));
  if (!launched || event.correlation == 0) return event.start_ns;
  std::int64_t start_ns = event.start_ns;
  switch (process.launches.find(event.correlation, start_ns)) {
    case LaunchStarts::Found::yes: return std::min(start_ns, event.start_ns);
    case LaunchStarts::Found::forgotten: return kUnknownLaunch;
    case LaunchStarts::Found::no: {
      const auto what = sort == ChunkSort::flow ? LaunchStarts::flow : LaunchStarts::work;
      for (const std::size_t given_up : process.launches.wait(event.correlation, what, chunk)) {
        if (given_up != LaunchStarts::kNoChunk) gave_up_waiting_[given_up] = true;
      }
    }
  }
  return event.start_ns;
}

void MergedWriter::hand_over(Stream& stream) {
  handed_over_.push_back(stream.chunk);
  background_.run([this, batch = std::move(stream.batch), entry = stream.entry] {
    encode_events(*batch, nullptr, 0, batch->size(), raw_);
    write_chunk(ChunkKind::events, batch->size(), raw_, entry);
  });
  stream.batch = nullptr;
}

void MergedWriter::write_chunk(ChunkKind kind, std::size_t count, std::string_view raw, IndexEntry entry) {
  zstd_.compress(raw, packed_);
  entry.offset = offset_;
  entry.header = {static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(count),
                  static_cast<std::uint32_t>(raw.size()), static_cast<std::uint32_t>(packed_.size())};
  index_.push_back(entry);
  write_struct(entry.header);
  write_bytes(packed_);
}

void MergedWriter::write_bytes(std::string_view bytes) {
  out_.write(bytes);
  offset_ += bytes.size();
}

// `append` adds the fields of one entry to a string.
template <typename List, typename Append>
void MergedWriter::write_list(ChunkKind kind, const List& list, Append&& append) {
  std::string raw, entry;
  std::size_t count = 0;
  for (const auto& item : list) {
    entry.clear();
    append(entry, item);
    if (count != 0 && raw.size() + entry.size() > kListBytes) {
      write_chunk(kind, count, raw);
      list_bytes_ += raw.size();
      raw.clear(), count = 0;
    }
    append_varint(raw, entry.size());
    raw += entry;
    ++count;
  }
  if (raw.size() > kMaxChunkBytes) throw Error(Exit::bad_content, "a name in the input is longer than 64 MiB");
  if (count != 0) write_chunk(kind, count, raw);
  list_bytes_ += raw.size();
}

void MergedWriter::finish(const Catalog& catalog, const std::vector<ClockFit>& fits,
                          const std::vector<ProcessSteps>& steps) {
  for (Streams& process : processes_) {
    for (Stream& stream : process.sorts) {
      if (stream.batch != nullptr) hand_over(stream);
    }
  }
  background_.wait();
  std::vector<std::string_view> strings(catalog.strings.size());
  for (std::size_t id = 0; id < strings.size(); ++id) strings[id] = catalog.strings[static_cast<StringId>(id)];
  write_list(ChunkKind::kinds, kKinds, [](std::string& entry, const KindRow& kind) { entry = kind.name; });
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

void MergedWriter::write_index() {
  if (list_bytes_ > most_list_bytes(offset_)) {
    throw Error(Exit::bad_content, fmt::format("the names and arguments of these inputs are {} bytes, but hardly differ: no reader of a merged "
                                               "file would take them; export the inputs themselves",
                                               list_bytes_));
  }
  MergedFooter footer{};
  footer.index_offset = offset_;
  footer.events = events_;
  std::vector<IndexEntry> entries = index_;  // chunks of events come first
  for (std::size_t i = 0; i < handed_over_.size(); ++i) {
    const std::size_t chunk = handed_over_[i];
    entries[i].late_launch_ns = late_launches_[chunk];
    if (gave_up_waiting_[chunk]) entries[i].late_launch_ns = std::max(late_launches_[chunk], processes_[entries[i].process].late_given_up_ns);
  }
  write_chunk(ChunkKind::index, entries.size(),
              {reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(IndexEntry)});
  footer.file_bytes = offset_ + sizeof(footer);
  std::memcpy(footer.magic, kMergedEnd, sizeof(footer.magic));
  write_struct(footer);
}

}  // namespace cli
