#include <isa-l/igzip_lib.h>

#include <random>

#include "cli/base/output_file.h"
#include "tests/unit/catch.h"

namespace {

struct Text : cli::ByteSink {
  explicit Text(std::string& out, int& finished) : out(out), finished(finished) {}
  void write(std::string_view bytes) override { out += bytes; }
  void finish() override { ++finished; }
  std::string& out;
  int& finished;
};

std::string inflate(std::string packed, std::size_t size) {
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  std::string out(size + 1, '\0');
  state.next_in = reinterpret_cast<std::uint8_t*>(packed.data());
  state.avail_in = static_cast<std::uint32_t>(packed.size());
  state.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  state.avail_out = static_cast<std::uint32_t>(out.size());
  REQUIRE(isal_inflate(&state) == ISAL_DECOMP_OK);
  REQUIRE(state.block_state == ISAL_BLOCK_FINISH);
  out.resize(state.total_out);
  return out;
}

}  // namespace

TEST_CASE("gzip: what is written in any pieces comes back, and the sink below is finished once") {
  std::mt19937 random(7);
  for (const std::size_t size : {0u, 1u, 1000u, 3'000'000u}) {
    std::string text;
    while (text.size() < size) text += std::to_string(random() % 1000);
    std::string packed;
    int finished = 0;
    cli::GzipSink sink(std::make_unique<Text>(packed, finished));
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t part = 1 + random() % 300'000;
      sink.write(std::string_view(text).substr(at, part));
      at += part;
    }
    CHECK(finished == 0);
    sink.finish();
    CHECK(finished == 1);
    CHECK(inflate(packed, text.size()) == text);
    CHECK(packed.size() < text.size() / 2 + 50);
  }
}
