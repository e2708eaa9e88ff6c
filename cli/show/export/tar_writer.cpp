#include "cli/show/export/tar_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace cli {
namespace {

constexpr std::size_t kBlock = 512;

struct Header {
  char name[100];
  char mode[8] = {'0', '0', '0', '0', '6', '4', '4'};
  char uid[8] = {'0', '0', '0', '0', '0', '0', '0'};
  char gid[8] = {'0', '0', '0', '0', '0', '0', '0'};
  char size[12];
  char mtime[12] = {'0', '0', '0', '0', '0', '0', '0', '0', '0', '0', '0'};
  char checksum[8] = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '};  // counts as blanks
  char type = '0';                                              // a file
  char link[100] = {};
  char magic[6] = {'u', 's', 't', 'a', 'r'};
  char version[2] = {'0', '0'};
  char rest[247] = {};
};
static_assert(sizeof(Header) == kBlock);

void set_size(Header& header, std::uint64_t size) {
  if (size < std::uint64_t{1} << 33) {
    std::memcpy(header.size, fmt::format("{:011o}", size).c_str(), sizeof(header.size));
    return;
  }
  std::memset(header.size, 0, sizeof(header.size));
  header.size[0] = '\x80';
  for (std::size_t i = 0; i < 8; ++i) header.size[11 - i] = static_cast<char>(size >> 8 * i & 0xff);
}

void set_checksum(Header& header) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) sum += reinterpret_cast<const unsigned char*>(&header)[i];
  std::memcpy(header.checksum, fmt::format("{:06o}", sum).c_str(), 7);  // its zero stands before the last blank
}

}  // namespace

void TarWriter::member(std::string_view name, std::uint64_t size) {
  pad();
  Header header;
  std::memset(header.name, 0, sizeof(header.name));
  std::memcpy(header.name, name.data(), std::min(name.size(), sizeof(header.name) - 1));
  set_size(header, size);
  set_checksum(header);
  out_.write({reinterpret_cast<const char*>(&header), kBlock});
  size_ = size;
}

void TarWriter::write(std::string_view bytes) { out_.write(bytes); }

void TarWriter::pad() {
  out_.write(std::string((kBlock - size_ % kBlock) % kBlock, '\0'));
  size_ = 0;
}

void TarWriter::finish() {
  pad();
  out_.write(std::string(2 * kBlock, '\0'));
}

}  // namespace cli
