#include "cli/merge/merged_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cli/error.h"
#include "cli/model/kinds.h"
#include "cli/read/merged_columns.h"
#include "cli/read/merged_fields.h"

namespace cli {
namespace {

constexpr int kZstdLevel = 1;
constexpr std::size_t kChunkEvents = 32768;
constexpr std::size_t kChunkArgs = 4 << 20;
constexpr std::size_t kListBytes = 4 << 20;
constexpr std::size_t kMaxArgs = 16 << 20;
static_assert(kChunkEvents <= kMaxChunkEvents);
static_assert(kChunkArgs + kMaxArgs + kChunkEvents * (kCommonColumns + kMostFields) * 10 < kMaxChunkBytes);

std::int64_t checked_end(const Event& event) {
  std::int64_t end;
  if (!__builtin_add_overflow(event.start_ns, std::max<std::int64_t>(event.duration_ns, 0), &end)) return end;
  throw Error(Exit::bad_content, fmt::format("an event that starts at {} ns lasts {} ns, which is beyond the end of "
                                             "time; the input is damaged: leave that file out",
                                             event.start_ns, event.duration_ns));
}

}  // namespace

MergedWriter::MergedWriter(ByteSink& out) : out_(out), zstd_(kZstdLevel), batch_(std::make_shared<EventBatch>()) {
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
  checked_end(event);
  batch_->add(event, facts);
  ++events_;
  if (batch_->size() == kChunkEvents || batch_->args_bytes() >= kChunkArgs) hand_over();
}

void MergedWriter::hand_over() {
  background_.run([this, batch = std::move(batch_)] {
    encode_events(*batch, nullptr, 0, batch->size(), raw_);
    std::int64_t last_ns = checked_end(batch->event(0));
    for (const Event& event : batch->events()) last_ns = std::max(last_ns, checked_end(event));
    write_chunk(ChunkKind::events, batch->size(), raw_, batch->event(0).start_ns, last_ns);
  });
  batch_ = std::make_shared<EventBatch>();
}

void MergedWriter::write_chunk(ChunkKind kind, std::size_t count, std::string_view raw, std::int64_t first_ns,
                               std::int64_t last_ns) {
  zstd_.compress(raw, packed_);
  const ChunkHeader header{static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(count),
                           static_cast<std::uint32_t>(raw.size()), static_cast<std::uint32_t>(packed_.size())};
  index_.push_back({offset_, first_ns, last_ns, header});
  write_struct(header);
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
      raw.clear(), count = 0;
    }
    append_varint(raw, entry.size());
    raw += entry;
    ++count;
  }
  if (raw.size() > kMaxChunkBytes) throw Error(Exit::bad_content, "a name in the input is longer than 64 MiB");
  if (count != 0) write_chunk(kind, count, raw);
}

void MergedWriter::finish(const Catalog& catalog, const std::vector<ClockFit>& fits) {
  if (batch_->size() != 0) hand_over();
  background_.wait();
  std::vector<std::string_view> strings(catalog.strings.size());
  for (std::size_t id = 0; id < strings.size(); ++id) strings[id] = catalog.strings[static_cast<StringId>(id)];
  write_list(ChunkKind::kinds, kKinds, [](std::string& entry, const KindRow& kind) { entry = kind.name; });
  write_list(ChunkKind::strings, strings, [](std::string& entry, std::string_view text) { entry = text; });
  write_list(ChunkKind::launches, catalog.launches.all(), [](std::string& entry, const Launch& launch) {
    FieldWriter fields(entry);
    interned_fields(fields, launch);
  });
  write_list(ChunkKind::captures, catalog.captures.all(), [](std::string& entry, const Capture& capture) {
    FieldWriter fields(entry);
    interned_fields(fields, capture);
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
  write_index();
}

void MergedWriter::write_index() {
  MergedFooter footer{};
  footer.index_offset = offset_;
  footer.events = events_;
  const std::vector<IndexEntry> entries = index_;
  write_chunk(ChunkKind::index, entries.size(),
              {reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(IndexEntry)});
  footer.file_bytes = offset_ + sizeof(footer);
  std::memcpy(footer.magic, kMergedEnd, sizeof(footer.magic));
  write_struct(footer);
}

}  // namespace cli
