#include "cli/show/export/write_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cli/base/files.h"
#include "cli/base/json_text.h"
#include "cli/show/export/pieces.h"
#include "cli/show/export/write_directory.h"

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
  char checksum[8] = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '};  // blanks while the checksum is computed
  char type = '0';                                              // regular file
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
  std::memcpy(header.checksum, fmt::format("{:06o}", sum).c_str(), 7);  // the terminating zero is before the last blank
}

constexpr std::size_t kCopyBytes = 1 << 20;

class ScratchSink : public ByteSink {
 public:
  explicit ScratchSink(TempFile& file) : file_(file) {}
  void write(std::string_view bytes) override { file_.append(bytes); }
  void finish() override {}

 private:
  TempFile& file_;
};

struct TextSink : ByteSink {
  void write(std::string_view bytes) override { text += bytes; }
  void finish() override {}
  std::string text;
};

// Perfetto v58 treats a compressed member as an archive of its own, which a manifest cannot describe. The TAR as a
// whole may be compressed.
std::string_view member_extension(std::string_view extension) {
  return extension.ends_with(".gz") ? extension.substr(0, extension.size() - 3) : extension;
}

void copy(const TempFile& file, TarWriter& tar) {
  std::string piece;
  for (std::uint64_t at = 0; at < file.bytes(); at += piece.size()) {
    file.read(at, static_cast<std::size_t>(std::min<std::uint64_t>(kCopyBytes, file.bytes() - at)), piece);
    tar.write(piece);
  }
}

class Archive {
 public:
  Archive(const ExportJob& job, ByteSink& out, std::string scratch, std::string_view extension)
      : job_(job),
        tar_(out),
        scratch_(std::move(scratch)),
        names_(process_file_names(*job.catalog, extension)),
        files_(names_.size()),
        has_clock_(extension != ".json") {}

  std::unique_ptr<ByteSink> open(ProcessId id) {
    files_[id] = std::make_unique<TempFile>(scratch_);
    return std::make_unique<ScratchSink>(*files_[id]);
  }

  void add(ProcessId id) {
    tar_.member(names_[id], files_[id]->bytes());
    copy(*files_[id], tar_);
    files_[id].reset();
    members_.push_back(id);
  }

  void drop(ProcessId id) { files_[id].reset(); }

  // Perfetto reads the manifest first, wherever it is in the archive.
  void finish() {
    const std::string text = manifest();
    tar_.member("perfetto_manifest.json", text.size());
    tar_.write(text);
    tar_.finish();
  }

  const std::string& name(ProcessId id) const { return names_[id]; }

 private:
  std::string manifest() const {
    TextSink sink;
    write_json(sink, [&](JsonWriter& json) {
      json.open('{', "perfetto_manifest");  // readers recognize the file by these bytes, without a blank before them
      json.number("version", 1);
      json.array("files", members_, [&](ProcessId id) { write_file(json, id); });
      json.close('}');
    });
    return sink.text;
  }

  void write_file(JsonWriter& json, ProcessId id) const {
    json.open('{');
    json.text("path", names_[id]);
    if (const std::string& host = job_.catalog->processes[id].host; !host.empty()) json.object("machine", "name", host);
    if (!has_clock_ && id != members_[0]) {
      json.open('{', "clocks");
      json.object("sync_to", "file", names_[members_[0]]);
      json.number("offset_ns", 0);
      json.close('}');
    }
    json.close('}');
  }

  const ExportJob& job_;
  TarWriter tar_;
  std::string scratch_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<TempFile>> files_;  // by ProcessId
  std::vector<ProcessId> members_;
  bool has_clock_;
};

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

void TarWriter::pad() {
  out_.write(std::string((kBlock - size_ % kBlock) % kBlock, '\0'));
  size_ = 0;
}

void TarWriter::finish() {
  pad();
  out_.write(std::string(2 * kBlock, '\0'));
}

ExportReport write_manifest(const ExportJob& job, const std::string& output, const std::string& scratch) {
  const std::unique_ptr<ByteSink> out = open_output(output, nullptr, job.gzip);
  Archive archive(job, *out, scratch, member_extension(job.format->extension));
  ExportReport report;
  write_processes(
      job,
      {[&](ProcessId id) { return archive.open(id); },
       [&](ProcessId id, const Piece& piece) {
         if (piece.dropped()) return archive.drop(id);
         archive.add(id);
         report.files.push_back({archive.name(id), piece.bytes(), piece.events(), job.catalog->processes[id].rank});
       }},
      report);
  archive.finish();
  out->finish();
  return report;
}

}  // namespace cli
