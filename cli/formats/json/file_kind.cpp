#include "cli/formats/json/file_kind.h"

#include <algorithm>
#include <array>

#include "cli/base/json_text.h"
#include "cli/formats/json/json_values.h"

namespace cli {

namespace {

using namespace std::string_view_literals;

struct FileKind {
  std::size_t at;
  std::string_view bytes, what;
};

constexpr std::string_view
    kNsight =
        "a report of Nsight Systems; tracetool reads its own recordings (tracetool record) and profiles of torch.profiler",
    kPickle = "a Python pickle; if it is a memory snapshot of PyTorch, use tracetool mem";

constexpr std::string_view kXplane =
    "a profile of XLA (*.xplane.pb); use the *.trace.json.gz that JAX writes next to it";

constexpr std::array kFileKinds{
    FileKind{0, "PK\x03\x04"sv, "a zip archive; unpack it and use the traces in it"},
    FileKind{257, "ustar"sv, "a tar archive; unpack it (tar -xf) and use the traces in it"},
    FileKind{0,
             "\xfd"
             "7zXZ\0"sv,
             "compressed by xz; decompress it (xz -d), or use gzip or zstd"},
    FileKind{0, "BZh"sv, "compressed by bzip2; decompress it (bzip2 -d), or use gzip or zstd"},
    FileKind{0, "7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive; unpack it and use the traces in it"},
    FileKind{0, "SQLite format 3\0"sv, "an SQLite database, like the output of nsys export"},
    FileKind{4, "NVIDIA Nsight"sv, kNsight},
    FileKind{0, "NVIDIA Nsight"sv, kNsight},
    FileKind{0, "QDR"sv, kNsight},
    FileKind{0, "NVR\0"sv, "a report of Nsight Compute; open it in ncu-ui"},
    FileKind{0, "\x80\x02"sv, kPickle},
    FileKind{0, "\x80\x03"sv, kPickle},
    FileKind{0, "\x80\x04"sv, kPickle},
    FileKind{0, "\x80\x05"sv, kPickle},
    FileKind{0, "\xff\xfe"sv, "text in UTF-16; convert it (iconv -f UTF-16 -t UTF-8)"},
    FileKind{0, "\xfe\xff"sv, "text in UTF-16; convert it (iconv -f UTF-16 -t UTF-8)"},
    FileKind{0, "version https://git-lfs"sv, "a pointer of Git LFS, not the file; get it with git lfs pull"},
    FileKind{0, "<!DOCTYPE"sv, "a web page, saved instead of the file; download the file again"},
    FileKind{0, "<html"sv, "a web page, saved instead of the file; download the file again"},
    FileKind{0, "\n"sv, "a Perfetto trace; open it in ui.perfetto.dev, or use the recording that it was exported from"},
};

struct JsonKind {
  std::string_view key, what;
};

constexpr std::array kJsonKinds{
    JsonKind{"profiles", "a profile of speedscope; open it in www.speedscope.app"},
    JsonKind{
        "nodes",
        "an execution trace of PyTorch (ExecutionTraceObserver); tracetool reads the output of export_chrome_trace"},
    JsonKind{"rocprofiler-sdk-tool", "a report of rocprofv3; tracetool reads the output of export_chrome_trace"},
    JsonKind{"entries", "a dump of NCCL's flight recorder; tracetool reads the output of export_chrome_trace"},
    JsonKind{"message", "a server response, saved instead of the file; download the file again"},
};

// XSpace is a protocol buffer, like a Perfetto trace. Its first field is a plane, whose first field is an id or a name.
bool is_xplane(std::string_view bytes) {
  const std::string_view begin = bytes.substr(0, 24);
  return begin.starts_with('\n') && (begin.find("/host:") != begin.npos || begin.find("/device:") != begin.npos);
}

}  // namespace

std::string_view foreign_file(std::string_view bytes) {
  if (is_xplane(bytes)) return kXplane;
  const auto found = std::find_if(kFileKinds.begin(), kFileKinds.end(), [&](const FileKind& kind) {
    return bytes.size() > kind.at && bytes.substr(kind.at).starts_with(kind.bytes);
  });
  return found == kFileKinds.end() ? std::string_view() : found->what;
}

std::string_view foreign_json(std::string_view key) {
  const auto found =
      std::find_if(kJsonKinds.begin(), kJsonKinds.end(), [&](const JsonKind& kind) { return kind.key == key; });
  return found == kJsonKinds.end() ? std::string_view() : found->what;
}

namespace {

constexpr std::string_view kKey = "\"tracetool\": {", kForm = "\"export\": ", kRun = "\"run_id\": ";

// Returns the text of the string after `key`, or "" if there is none.
std::string string_after(std::string_view members, std::string_view key) {
  const std::size_t at = members.find(key);
  if (at == members.npos) return {};
  members.remove_prefix(at + key.size());
  const std::size_t open = members.find('"'), close = members.find('"', open + 1);
  if (open != 0 || close == members.npos) return {};
  std::string scratch;
  return std::string(unescape_json(members.substr(1, close - 1), scratch));
}

}  // namespace

std::string export_mark(const ExportMark& mark) {
  std::string text(kKey);
  text.append(kForm).append(mark.form == ExportMark::Form::chrome ? "\"chrome\"" : "\"kineto\"");
  if (mark.form == ExportMark::Form::kineto) text.append(", ").append(kRun).append(json_quoted(mark.run_id));
  return text + "}";
}

ExportMark find_export_mark(std::string_view members) {
  const std::size_t at = members.find(kKey);
  if (at == members.npos) return {};
  members = members.substr(at, members.find('}', at) - at);
  const std::string form = string_after(members, kForm);
  if (form == "chrome") return {ExportMark::Form::chrome, {}};
  if (form == "kineto") return {ExportMark::Form::kineto, string_after(members, kRun)};
  return {};
}

}  // namespace cli
