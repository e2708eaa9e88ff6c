#include "cli/base/sinks.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include <cstdint>
#include <vector>

#include "cli/base/error.h"

namespace cli {

namespace {

constexpr std::uint32_t kLevel = 1;
constexpr std::size_t kLevelBytes = ISAL_DEF_LVL1_DEFAULT;
constexpr std::size_t kOutputBytes = 256 << 10;
constexpr std::size_t kMaxInput = 1u << 30;  // the library counts in 32 bits

}  // namespace

struct GzipSink::State {
  isal_zstream stream{};
  std::vector<std::uint8_t> level = std::vector<std::uint8_t>(kLevelBytes);
  std::vector<std::uint8_t> output = std::vector<std::uint8_t>(kOutputBytes);
};

GzipSink::GzipSink(std::unique_ptr<ByteSink> below) : below_(std::move(below)), state_(std::make_unique<State>()) {
  isal_zstream& stream = state_->stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.level = kLevel;
  stream.level_buf = state_->level.data();
  stream.level_buf_size = static_cast<std::uint32_t>(state_->level.size());
}

GzipSink::~GzipSink() = default;

void GzipSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMaxInput);
    bytes.remove_prefix(part.size());
    state_->stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(part.data()));
    state_->stream.avail_in = static_cast<std::uint32_t>(part.size());
    deflate();
  }
}

// Until the input is taken and the output did not fill its buffer: then nothing more is ready.
void GzipSink::deflate() {
  isal_zstream& stream = state_->stream;
  do {
    stream.next_out = state_->output.data();
    stream.avail_out = static_cast<std::uint32_t>(state_->output.size());
    const int result = isal_deflate(&stream);
    if (result != COMP_OK) throw Error(Exit::cannot_open, fmt::format("gzip: the compressor failed ({})", result));
    const std::size_t made = state_->output.size() - stream.avail_out;
    below_->write({reinterpret_cast<const char*>(state_->output.data()), made});
  } while (stream.avail_out == 0);
}

void GzipSink::finish() {
  state_->stream.end_of_stream = 1;
  state_->stream.avail_in = 0;
  deflate();
  below_->finish();
}

}  // namespace cli
