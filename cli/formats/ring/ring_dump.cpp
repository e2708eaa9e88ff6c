#include "cli/formats/ring/ring_dump.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "cli/base/text.h"
#include "cli/trace/words.h"
#include "cli/base/error.h"
#include "cli/formats/ring/record_fields.h"
#include "cli/formats/ring/ring_file.h"
#include "cli/formats/ring/ring_names.h"

namespace cli {
namespace {

void write_line(ByteSink& out, std::string_view text) { out.write(visible_text(text) + '\n'); }

// The fields of a record as text, by the names of common/records: "correlation=7 name_ref=@40"; references by where they
// lead, arrays with commas, texts as they stand.
struct ShowFields {
  template <typename T>
  void operator()(std::string_view name, const T& value) {
    fmt::format_to(std::back_inserter(out), "{}{}=", out.empty() ? "" : " ", name);
    show(name, value);
  }
  template <typename T>
  void show(std::string_view name, const T& value) {
    name.ends_with("_ref") ? fmt::format_to(std::back_inserter(out), "@{:x}", value)
                           : fmt::format_to(std::back_inserter(out), "{}", +value);
  }
  template <typename T, std::size_t Size>
  void show(std::string_view, const T (&values)[Size]) {
    for (std::size_t i = 0; i < Size; ++i) fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ",", +values[i]);
  }
  template <std::size_t Size>
  void show(std::string_view, const char (&text)[Size]) {
    out += terminated(text);
  }

  std::string out;
};

// "" for a kind that we do not know.
std::string show_record(const std::vector<std::byte>& bytes, std::size_t at, std::uint8_t kind, std::size_t size) {
  ShowFields fields;
  trace::for_each_record([&]<typename R>(R*) {
    if (static_cast<std::uint8_t>(R::kKind) == kind) trace::record_fields(record_at<R>(bytes, at, size), fields);
  });
  return fields.out;
}

// "byte 4096: kernel start ..."; a string also shows its text.
void print_record(const std::vector<std::byte>& bytes, std::uint64_t offset, std::size_t at, std::uint8_t kind,
                  std::size_t size, ByteSink& out) {
  std::string line =
      fmt::format("byte {}: {} {}", offset + at, trace::record_name(kind), show_record(bytes, at, kind, size));
  if (kind == static_cast<std::uint8_t>(trace::StringRecord::kKind) && size >= sizeof(trace::StringRecord)) {
    const auto head = record_at<trace::StringRecord>(bytes, at, size);
    const std::size_t room = size - sizeof(head);
    line += " ";
    line.append(reinterpret_cast<const char*>(bytes.data()) + at + sizeof(head),
                head.length < room ? head.length : room);
  }
  write_line(out, line);
}

// Returns the damage in it: 0 or 1.
std::uint64_t print_records(const std::vector<std::byte>& bytes, std::uint64_t offset, ByteSink& out) {
  const std::size_t end = walk_records(bytes, [&](std::size_t at, std::uint8_t kind, std::size_t size) {
    print_record(bytes, offset, at, kind, size, out);
  });
  if (end == bytes.size()) return 0;
  out.write(fmt::format("# byte {}: not a record; {} bytes are skipped\n", offset + end, bytes.size() - end));
  return 1;
}

void print_header(const RingFile& file, const std::string& shown, ByteSink& out) {
  const trace::FileHeader& h = file.header();
  write_line(out, "# " + shown);
  write_line(out, fmt::format("# {} host {} boot {} pid {} run {} program {}", word(file.state()), h.host, h.boot_id, h.pid, h.run_id, h.program));
  out.write(fmt::format("# {} blocks of {} bytes, definitions {} of {} bytes, CUPTI {} {} error {}\n", h.block_count,
                        h.block_bytes, h.definitions_used, h.definitions_bytes, h.cupti_version,
                        word(static_cast<trace::SourceState>(h.cupti_state)), h.cupti_error));
}

}  // namespace

void dump_ring(const std::string& path, const std::string& shown, ByteSink& out) {
  RingFile file(path);
  print_header(file, shown, out);
  std::uint64_t damaged = print_records(file.definitions(), file.header().definitions_offset, out);
  file.for_each_block([&](const RingBlock& block) {
    const trace::BlockHeader& h = block.header;
    out.write(fmt::format("# block {} writer {} cupti {} mono {} real {}{}\n", h.ticket, h.tid, h.clock.cupti_ns,
                          h.clock.mono_ns, h.clock.real_ns,
                          block.spooled ? fmt::format(" spooled at byte {}", block.offset) : ""));
    damaged += print_records(block.payload, block.spooled ? 0 : block.offset, out);
  });
  if (file.changed_blocks() > 0) {
    out.write(fmt::format("# {} blocks changed while they were read and were skipped\n", file.changed_blocks()));
  }
  for (const std::string& note : file.notes()) write_line(out, "# " + note);
  out.finish();
  if (damaged > 0) {
    throw Error(
        Exit::bad_content,
        fmt::format("{}: {} positions contain no record (lines beginning with '# byte'); the rest is above", path, damaged));
  }
}

}  // namespace cli
