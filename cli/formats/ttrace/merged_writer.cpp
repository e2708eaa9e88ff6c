#include "cli/formats/ttrace/merged_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "cli/trace/error.h"
#include "cli/trace/kinds.h"
#include "cli/formats/ttrace/merged_fields.h"

namespace cli {
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

void MergedOutput::finish(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<ProcessSteps>& steps) {
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
    throw Error(Exit::bad_content, fmt::format("the names and arguments of these inputs are {} bytes that hardly differ; readers reject such a merged "
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
      chunks_(catalog, nullptr, {catalog.processes.size(), held_events, true}, [this](std::string_view bytes) { output_.put(0, bytes); }) {}

void MergedWriter::finish(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<ProcessSteps>& steps) {
  output_.done(0, chunks_.finish());
  output_.finish(catalog, fits, steps);
}

}  // namespace cli
