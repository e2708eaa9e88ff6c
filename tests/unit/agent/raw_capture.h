// A file of libraw_capture.so (scripts/gpu_check/capture/raw_capture_file.h), read whole, and what its program says it
// did.
#pragma once
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "scripts/gpu_check/capture/raw_capture_file.h"
#include "tests/unit/catch.h"

struct RawBuffer {
  std::string bytes;
  std::vector<raw_capture::RecordPlace> places;
  std::size_t size_of(std::size_t record) const {
    const std::size_t end = record + 1 < places.size() ? places[record + 1].offset : bytes.size();
    return end - places[record].offset;
  }
};

struct RawNvtx {
  raw_capture::NvtxPart part;
  std::string attributes, message, payload;
};

// One line of NAME.expected: KIND COUNT BYTES NAME, "-" where a number or a name is not known. Bytes are of all of
// them.
struct Expected {
  std::string kind, count, bytes, name;
};

class RawCapture {
 public:
  explicit RawCapture(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    data_.assign(std::istreambuf_iterator<char>(file), {});
    header = take<raw_capture::FileHeader>(0);
    REQUIRE(std::string(header.magic, 8) == std::string(raw_capture::kMagic, 8));
    REQUIRE(header.version == raw_capture::kVersion);
    std::size_t at = header.header_bytes;
    while (at < data_.size()) at = read_section(at);
    read_expected(std::filesystem::path(path).replace_extension("expected"));
  }

  bool is_of_hardware() const { return device.find("simulated") == std::string::npos; }

  raw_capture::FileHeader header;
  raw_capture::Totals totals{};
  std::string device;
  std::vector<raw_capture::Clocks> clocks;
  std::map<std::uint64_t, std::string> texts;  // by address
  std::vector<RawBuffer> buffers;
  std::vector<RawNvtx> nvtx;
  std::vector<Expected> expected;

 private:
  template <typename Value>
  Value take(std::size_t at) const {
    REQUIRE(at + sizeof(Value) <= data_.size());
    Value value;
    std::memcpy(&value, data_.data() + at, sizeof(value));
    return value;
  }

  std::size_t read_section(std::size_t at) {
    const auto section = take<raw_capture::Section>(at);
    at += sizeof(section);
    REQUIRE(at + section.bytes <= data_.size());
    read_content(section.type, at, section.bytes);
    return at + (section.bytes + 7) / 8 * 8;
  }

  void read_content(raw_capture::SectionType type, std::size_t at, std::size_t bytes) {
    using raw_capture::SectionType;
    if (type == SectionType::device) device = data_.substr(at, bytes);
    if (type == SectionType::clocks) clocks.push_back(take<raw_capture::Clocks>(at));
    if (type == SectionType::text) texts[take<std::uint64_t>(at)] = data_.substr(at + 8, bytes - 8);
    if (type == SectionType::records) read_places(at, bytes);
    if (type == SectionType::buffer) buffers.push_back({data_.substr(at, bytes), std::move(places_)});
    if (type == SectionType::nvtx) read_nvtx(at);
    if (type == SectionType::totals) totals = take<raw_capture::Totals>(at);
  }

  void read_places(std::size_t at, std::size_t bytes) {
    places_.resize(bytes / sizeof(places_[0]));
    for (auto& place : places_) place = take<raw_capture::RecordPlace>(at), at += sizeof(place);
  }

  void read_nvtx(std::size_t at) {
    const auto part = take<raw_capture::NvtxPart>(at);
    at += sizeof(part);
    const std::size_t message = at + part.attributes_bytes;
    nvtx.push_back({part, data_.substr(at, part.attributes_bytes), data_.substr(message, part.message_bytes),
                    data_.substr(message + part.message_bytes, part.payload_bytes)});
  }

  void read_expected(const std::filesystem::path& path) {
    std::ifstream file(path);
    REQUIRE(file.good());
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      Expected each;
      std::istringstream words(line);
      words >> each.kind >> each.count >> each.bytes >> std::ws;
      std::getline(words, each.name);
      expected.push_back(each);
    }
  }

  std::string data_;
  std::vector<raw_capture::RecordPlace> places_;
};
