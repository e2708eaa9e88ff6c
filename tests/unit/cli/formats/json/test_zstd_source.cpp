#include <zstd.h>

#include <string>

#include "cli/formats/json/byte_source.h"
#include "cli/formats/reading/reader.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;

namespace {

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

struct ZstdUnpacked {
  std::string text, damage;
};

ZstdUnpacked unpack_zstd(const std::string& bytes, std::size_t piece_in = 1 << 20, std::size_t piece_out = 1 << 16) {
  ZstdSource source(std::make_unique<TextSource>(bytes, piece_in));
  ZstdUnpacked out;
  std::string piece(piece_out, '\0');
  while (const std::size_t got = source.read(piece.data(), piece.size())) out.text.append(piece, 0, got);
  out.damage = source.damage();
  return out;
}

std::string zstd_sample() {
  std::string text;
  for (int i = 0; i < 30000; ++i) text += "{\"ts\":" + std::to_string(i * 7919 % 10007) + "},";
  return text;
}

const std::string kSkippable("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);

}  // namespace

TEST_CASE("zstd is read whole, frame after frame, in pieces of any size") {
  const std::string text = zstd_sample(), bytes = kSkippable + zstd(text) + zstd("") + kSkippable + zstd("tail");
  for (std::size_t in : {1, 7, 5000, 1 << 20}) {
    for (std::size_t out : {1, 100, 1 << 16}) {
      const ZstdUnpacked unpacked = unpack_zstd(bytes, in, out);
      CHECK(unpacked.text == text + "tail");
      CHECK(unpacked.damage.empty());
    }
  }
}

TEST_CASE("a zstd file that is cut or damaged gives what is before") {
  const std::string text = zstd_sample().substr(0, 3000), bytes = zstd(text);
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const ZstdUnpacked unpacked = unpack_zstd(bytes.substr(0, size), 64, 128);
    CAPTURE(size);
    REQUIRE(text.starts_with(unpacked.text));
    REQUIRE(unpacked.damage.find("byte " + std::to_string(size) + " of the compressed file: ") == 0);
  }
  std::string damaged = bytes;
  damaged[bytes.size() - 1] ^= 1;
  CHECK(unpack_zstd(damaged).damage.find("checksum") != std::string::npos);
  CHECK(unpack_zstd(bytes + "garbage").text == text);
  CHECK_FALSE(unpack_zstd(bytes + "garbage").damage.empty());
}

TEST_CASE("a trace is read from zstd, and up to where it is cut") {
  std::string json = "[";
  for (int i = 0; i < 200000; ++i)
    json += R"({"ph":"i","name":"a","pid":1,"tid":1,"ts":)" + std::to_string(i * 977) + "},\n";
  json += R"({"ph":"i","name":"end","ts":1}])";
  const std::string bytes = zstd(json);
  const TestFolder folder;
  KeptTrace whole, cut;
  open_trace(folder.write("a.json.zst", bytes))->read(whole.catalog, whole);
  CHECK(whole.events.size() == 200001);
  CHECK(whole.process().state == RecordingState::clean);
  open_trace(folder.write("b.json.zst", bytes.substr(0, bytes.size() / 2)))->read(cut.catalog, cut);
  CHECK(cut.events.size() > 50000);
  CHECK(cut.process().state == RecordingState::recovered);
  CHECK(cut.process().notes.back().find("ends too early") != std::string::npos);
}
