#include <isa-l/igzip_lib.h>

#include <string>

#include "cli/formats/json/byte_source.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;
using namespace cli::kineto;

namespace {

std::string gzip(std::string text) {
  std::string out(text.size() + 1024, '\0');
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.next_in = reinterpret_cast<std::uint8_t*>(text.data());
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  stream.end_of_stream = 1;
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  REQUIRE(isal_deflate_stateless(&stream) == COMP_OK);
  out.resize(stream.total_out);
  return out;
}

struct Unpacked {
  std::string text, damage;
};

Unpacked unpack(const std::string& bytes, std::size_t piece_in = 1 << 20, std::size_t piece_out = 1 << 16) {
  GzipSource source(std::make_unique<TextSource>(bytes, piece_in));
  Unpacked out;
  std::string piece(piece_out, '\0');
  while (const std::size_t got = source.read(piece.data(), piece.size())) out.text.append(piece, 0, got);
  out.damage = source.damage();
  return out;
}

std::string gunzip(const std::string& bytes, std::size_t piece_in = 1 << 20, std::size_t piece_out = 1 << 16) {
  const Unpacked unpacked = unpack(bytes, piece_in, piece_out);
  CHECK(unpacked.damage.empty());
  return unpacked.text;
}

std::string sample() {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "{\"ts\":" + std::to_string(i * 7919 % 10007) + "},";
  return text;
}

}  // namespace

TEST_CASE("gzip is read whole, in pieces of any size") {
  const std::string text = sample(), bytes = gzip(text);
  CHECK(gunzip(bytes) == text);
  for (std::size_t piece : {1, 7, 100, 5000}) {
    CHECK(gunzip(bytes, piece, 1 << 16) == text);
    CHECK(gunzip(bytes, 1 << 20, piece) == text);
    CHECK(gunzip(bytes, piece, piece) == text);
  }
}

TEST_CASE("members follow one another, also empty ones and padding") {
  const std::string text = sample();
  const std::string bytes = gzip(text) + gzip("") + gzip("tail");
  CHECK(gunzip(bytes) == text + "tail");
  CHECK(gunzip(bytes, 1, 1) == text + "tail");
  CHECK(gunzip(bytes + std::string(512, '\0')) == text + "tail");
  CHECK(gunzip(gzip("")).empty());
}

TEST_CASE("a gzip file that is cut gives what is before the cut") {
  const std::string text = sample().substr(0, 2000), bytes = gzip(text) + gzip("tail");
  const std::size_t first = gzip(text).size();
  std::size_t longest = 0;
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    if (size == first) continue;  // a whole member is a whole file
    const Unpacked unpacked = unpack(bytes.substr(0, size), 64, 128);
    CAPTURE(size, unpacked.damage);
    REQUIRE(unpacked.damage.find("byte " + std::to_string(size) + " of the compressed file: ") == 0);
    REQUIRE(unpacked.damage.find("ends too early") != std::string::npos);
    REQUIRE((text + "tail").starts_with(unpacked.text));
    REQUIRE(unpacked.text.size() >= longest);
    longest = unpacked.text.size();
    if (size == first - 9) CHECK(longest == text.size());  // all but the checksum and the length
  }
}

TEST_CASE("damage in a gzip file is found by its offset or its checksum") {
  const std::string text = sample().substr(0, 5000), bytes = gzip(text);
  std::size_t found = 0;
  for (std::size_t at = 10; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const Unpacked unpacked = unpack(damaged);
    CAPTURE(at, unpacked.damage);
    found += !unpacked.damage.empty();
    const bool named = unpacked.damage.find("of the compressed file") != std::string::npos;
    REQUIRE((unpacked.text == text || named));  // some bits mean nothing
  }
  CHECK(found > bytes.size() * 9 / 10);
  CHECK(unpack(bytes + "garbage").damage.find("byte " + std::to_string(bytes.size())) == 0);
  CHECK(unpack(bytes + "garbage").text == text);
}

TEST_CASE("a trace is read from gzip whatever its name") {
  const TestFolder folder;
  const std::string path = folder.write("trace.json", gzip(R"([{"ph":"i","name":"a","pid":1,"tid":1,"ts":1}])"));
  KeptTrace trace;
  kineto::open(path)->read(trace.catalog, trace);
  CHECK(trace.events.size() == 1);
}

TEST_CASE("a trace in a gzip file that is cut gives its events up to there") {
  std::string json = "[";
  for (int i = 0; i < 2000; ++i) json += R"({"ph":"i","name":"a","pid":1,"tid":1,"ts":)" + std::to_string(i) + "},\n";
  const std::string bytes = gzip(json + R"({"ph":"i","name":"end","ts":1}])");
  const TestFolder folder;
  KeptTrace trace;
  kineto::open(folder.write("t.json.gz", bytes.substr(0, bytes.size() / 2)))->read(trace.catalog, trace);
  CHECK(trace.events.size() > 500);
  CHECK(trace.events.size() < 2000);
  CHECK(trace.process().state == RecordingState::recovered);
  CHECK(trace.process().notes.back().find("(byte " + std::to_string(bytes.size() / 2) + " of the compressed file: ") !=
        std::string::npos);
}
