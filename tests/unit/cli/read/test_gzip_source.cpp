#include <isa-l/igzip_lib.h>

#include <string>

#include "../../catch.h"
#include "cli/read/gzip_source.h"
#include "read_helpers.h"

using namespace cli;

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

std::string gunzip(const std::string& bytes, std::size_t piece_in = 1 << 20, std::size_t piece_out = 1 << 16) {
  GzipSource source(std::make_unique<TextSource>(bytes, piece_in), "x.gz");
  std::string out, piece(piece_out, '\0');
  while (const std::size_t got = source.read(piece.data(), piece.size())) out.append(piece, 0, got);
  return out;
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

TEST_CASE("every truncation of a gzip file is refused") {
  const std::string bytes = gzip(sample().substr(0, 2000)) + gzip("tail");
  const std::size_t first = gzip(sample().substr(0, 2000)).size();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    if (size == first) continue;  // a whole member is a whole file
    const std::string message = message_of([&] { gunzip(bytes.substr(0, size), 64, 128); });
    CAPTURE(size, message);
    REQUIRE(message.find("x.gz: byte " + std::to_string(size) + " of the compressed file: ") == 0);
    REQUIRE(message.find("ends too early") != std::string::npos);
  }
}

TEST_CASE("damage in a gzip file is found by its offset or its checksum") {
  const std::string text = sample().substr(0, 5000), bytes = gzip(text);
  std::size_t refused = 0;
  for (std::size_t at = 10; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    std::string read;
    const std::string message = message_of([&] { read = gunzip(damaged); });
    CAPTURE(at, message);
    refused += !message.empty();
    REQUIRE((read == text || message.find("of the compressed file") != std::string::npos));  // some bits mean nothing
  }
  CHECK(refused > bytes.size() * 9 / 10);
  CHECK(message_of([&] { gunzip(bytes + "garbage"); }).find("byte " + std::to_string(bytes.size())) !=
        std::string::npos);
}

TEST_CASE("a trace is read from gzip whatever its name") {
  const TestFolder folder;
  const std::string path = folder.write("trace.json", gzip(R"([{"ph":"i","name":"a","pid":1,"tid":1,"ts":1}])"));
  KeptTrace trace;
  open_kineto(path)->read(trace.catalog, trace);
  CHECK(trace.events.size() == 1);
}
