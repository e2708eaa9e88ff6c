// A merged file from anywhere: cut off, damaged, or made to do harm.
#include <cstring>

#include "cli/base/error.h"
#include "cli/formats/ttrace/fields.h"
#include "merged_sample.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/scratch.h"

using namespace cli;
using namespace cli::ttrace;
namespace {

// "" when it reads; else the message.
std::string read_all(const std::string& path, std::vector<Collected>* events = nullptr) {
  try {
    Catalog catalog;
    Collect out;
    MergedReader(path).read(catalog, out);
    if (events != nullptr) *events = out.all;
    return "";
  } catch (const Error& error) {
    CHECK(error.exit() == Exit::bad_content);
    CHECK_THAT(error.what(), contains_text(path) && contains_text(": byte "));
    return error.what();
  }
}

std::vector<Collected> few_events() {
  std::vector<Collected> events = random_events(200, 1);
  for (std::size_t i = 0; i < events.size(); ++i) events[i].event.start_ns = static_cast<std::int64_t>(i);
  return events;
}

template <typename T>
T at(const std::string& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// A file of one chunk of this kind and content, whole and with right checksums.
void write_crafted(const std::string& path, ChunkKind kind, std::uint32_t count, const std::string& raw) {
  write_merged(path, {}, {});
  std::string file = read_file(path).substr(0, sizeof(MergedHeader)), packed;
  ZstdCompressor zstd(1);
  const auto add = [&](ChunkKind chunk_kind, std::uint32_t chunk_count, const std::string& content) {
    zstd.compress(content, packed);
    IndexEntry entry{};
    entry.offset = file.size();
    entry.header = {static_cast<std::uint32_t>(chunk_kind), chunk_count, static_cast<std::uint32_t>(content.size()),
                    static_cast<std::uint32_t>(packed.size())};
    file.append(reinterpret_cast<const char*>(&entry.header), sizeof(entry.header)) += packed;
    return entry;
  };
  const IndexEntry entry = add(kind, count, raw);
  MergedFooter footer{file.size(), 0, kind == ChunkKind::events ? count : 0, {}};
  add(ChunkKind::index, 1, {reinterpret_cast<const char*>(&entry), sizeof(entry)});
  footer.file_bytes = file.size() + sizeof(footer);
  std::memcpy(footer.magic, kMergedEnd, sizeof(footer.magic));
  write_file(path, file.append(reinterpret_cast<const char*>(&footer), sizeof(footer)));
}

}  // namespace

TEST_CASE("merged file: every truncation is refused with what to do") {
  const Scratch scratch;
  write_merged(scratch.path("m"), sample_catalog(), few_events());
  const std::string whole = read_file(scratch.path("m"));
  for (std::size_t size = 0; size < whole.size(); size += case_step()) {
    write_file(scratch.path("cut"), whole.substr(0, size));
    CHECK_THAT(read_all(scratch.path("cut")), contains_text("the file ends here") && contains_text("tracetool merge"));
  }
  write_file(scratch.path("longer"), whole + "x");
  CHECK_THAT(read_all(scratch.path("longer")), contains_text("footer"));
}

// What may change unseen: the reserved field, and bits that zstd itself does not use. The events stay the same.
TEST_CASE("merged file: no changed byte changes an event unseen, and none crashes") {
  const Scratch scratch;
  const std::vector<Collected> events = few_events();
  write_merged(scratch.path("m"), sample_catalog(), events);
  const std::string whole = read_file(scratch.path("m"));
  std::mt19937 random(2);
  std::size_t unseen = 0;
  for (std::size_t offset = 0; offset < whole.size(); offset += case_step()) {
    std::string broken = whole;
    broken[offset] = static_cast<char>(broken[offset] ^ (1u << random() % 8));
    write_file(scratch.path("broken"), broken);
    std::vector<Collected> read;
    if (!read_all(scratch.path("broken"), &read).empty()) continue;
    ++unseen;
    INFO("offset " << offset);
    CHECK((read == events));
  }
  const std::size_t chunks = MergedChunks(scratch.path("m")).index().size() + 1;
  CHECK(unseen <= (sizeof(MergedHeader::reserved) + 2 * chunks) / case_step() + 1);
}

TEST_CASE("merged file: another version is said to be that") {
  const Scratch scratch;
  write_merged(scratch.path("m"), {}, {});
  std::string file = read_file(scratch.path("m"));
  file[offsetof(MergedHeader, version)] = 1;
  write_file(scratch.path("m"), file);
  CHECK_THAT(read_all(scratch.path("m")), contains_text("another version"));
}

TEST_CASE("merged file: lists that name too much are refused before memory is taken", "[slow]") {
  const Scratch scratch;
  const std::string path = scratch.path("m");
  write_crafted(path, ChunkKind::processes, kMaxProcesses + 1, std::string(kMaxProcesses + 1, '\0'));
  CHECK_THAT(read_all(path), contains_text("damaged"));
  write_crafted(path, ChunkKind::processes, 1'000, std::string(kMaxChunkBytes + 1, '\0'));
  CHECK_THAT(read_all(path), contains_text("index"));
  write_crafted(path, ChunkKind::events, kMaxChunkEvents + 1, "");
  CHECK_THAT(read_all(path), contains_text("index"));
  write_crafted(path, ChunkKind::strings, 1, std::string("\xff\xff\xff\xff\x0f", 5));
  CHECK_THAT(read_all(path), contains_text("damaged"));
}

TEST_CASE("merged file: shapes beyond their limits are refused") {
  const Scratch scratch;
  const auto with_shape = [&](const std::string& text) {
    std::string raw;
    append_varint(raw, text.size());
    write_crafted(scratch.path("m"), ChunkKind::shapes, 1, raw + text);
    return read_all(scratch.path("m"));
  };
  CHECK(with_shape(std::string(kMostHoles, kHole)).empty());
  CHECK(with_shape(std::string(kMostShapeText, 'x')).empty());
  CHECK_THAT(with_shape(std::string(kMostHoles + 1, kHole)), contains_text("damaged"));
  CHECK_THAT(with_shape(std::string(kMostShapeText + 1, 'x')), contains_text("damaged"));
}

TEST_CASE("merged file: a chunk of a kind that is not known is skipped") {
  const Scratch scratch;
  write_crafted(scratch.path("m"), static_cast<ChunkKind>(99), 5, "from a later version");
  CHECK(read_all(scratch.path("m")).empty());
}

TEST_CASE("merged file: events must name what the lists hold, in the order of time") {
  const Scratch scratch;
  std::vector<Collected> events = few_events();
  for (Collected& e : events) e.event.track = 0, e.event.kind = Kind::nvtx;  // one stream
  Catalog more_tracks = sample_catalog();
  more_tracks.track(0, TrackKind::thread, 1000, 99);
  for (const auto& change :
       std::vector<void (*)(Event&)>{[](Event& e) { e.track = 3; }, [](Event& e) { e.name = 6; },
                                     [](Event& e) { e.category = 6; }, [](Event& e) { e.kind = Kind::count_; },
                                     [](Event& e) { e.phase = '"'; }, [](Event& e) { e.phase = '\n'; }}) {
    std::vector<Collected> changed = events;
    change(changed[77].event);
    write_merged(scratch.path("m"), sample_catalog(), changed, {}, &more_tracks);
    CHECK_THAT(read_all(scratch.path("m")), contains_text("event 77"));
  }
  std::swap(events[10].event.start_ns, events[11].event.start_ns);
  write_merged(scratch.path("m"), sample_catalog(), events);
  CHECK_THAT(read_all(scratch.path("m")), contains_text("event 11") && contains_text("before"));
}

TEST_CASE("merged file: one that is not there, or is something else") {
  const Scratch scratch;
  CHECK_THROWS_WITH(MergedReader(scratch.path("none")), contains_text("cannot open"));
  CHECK_FALSE(is_merged_file(scratch.path("none")));
  write_file(scratch.path("text"), std::string(1000, 'x'));
  CHECK_FALSE(is_merged_file(scratch.path("text")));
  CHECK_THAT(read_all(scratch.path("text")), contains_text("not a merged trace"));
}
