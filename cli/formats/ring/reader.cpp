#include "cli/formats/ring/reader.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/base/error.h"
#include "cli/base/text.h"
#include "cli/formats/ring/clock_axis.h"
#include "cli/formats/ring/file.h"
#include "cli/formats/ring/header.h"
#include "cli/formats/ring/names.h"
#include "cli/formats/ring/record_fields.h"
#include "cli/trace/words.h"
#include "common/record.h"

namespace cli::ring {

RingEvents::RingEvents(const RingFile& file, Catalog& catalog, ProcessId process, EventSink& sink, ClockAxis axis)
    : out_(file, catalog, process, sink, std::move(axis)) {
  for (const auto make :
       {device_translator, host_translator, operator_translator, python_translator, notice_translator}) {
    translators_.push_back(make(out_, handlers_));
  }
  trace::for_each_record([&]<typename R>(R*) {
    RingHandler& handler = handlers_[static_cast<std::size_t>(R::kKind)];
    constexpr bool is_event = requires { R::kCountsAs; };
    if (!is_event && handler.translate == nullptr) handler = {&none_, [](auto&, auto&, auto, auto) {}};
  });
}

void RingEvents::record(const RingBlock& block, std::size_t at, std::uint8_t kind, std::size_t size) {
  if (kind < trace::kFirstEventKind) out_.definitions.define(block, at, kind, size);
  const RingHandler& handler = handlers_[kind];
  if (handler.translate != nullptr) return handler.translate(*handler.translator, block, at, size);
  ++unknown_records_;
}

void RingEvents::block(const RingBlock& block) {
  if (out_.file.holes() != holes_) {  // open ranges may have ended in the missing records
    holes_ = out_.file.holes();
    for (const auto& translator : translators_) translator->skip_records();
  }
  out_.axis.enter_block(block.header.clock);
  out_.definitions.enter_block(block);
  for (const auto& translator : translators_) translator->enter_block();
  const std::size_t end = walk_records(
      block.payload, [&](std::size_t at, std::uint8_t kind, std::size_t size) { record(block, at, kind, size); });
  if (end == block.payload.size()) return;
  if (damaged_blocks_++ == 0) damaged_at_ = block.offset + end;
}

void RingEvents::note_set_clock() {
  const auto& steps = out_.axis.steps();
  if (steps.empty()) return;
  const ClockAxis::Step& first = steps[0];
  out_.catalog.processes[out_.process].notes.push_back(fmt::format(
      "the wall clock was set {} by {} after {}{}: all times use the last setting",
      first.by_ns > 0 ? "forward" : "back", duration_text(std::llabs(first.by_ns)), time_text(first.after_ns),
      steps.size() > 1 ? fmt::format(", and {} more", count_text(steps.size() - 1, "time")) : ""));
}

void RingEvents::finish() {
  for (const auto& translator : translators_) translator->finish();
  const trace::FileHeader& header = out_.file.header();
  const auto cuda_events = static_cast<std::size_t>(trace::CudaEventRecord::kKind) - trace::kFirstEventKind;
  out_.cuda_events.finish(header.lost[cuda_events] == 0 && header.cupti_dropped == 0 && header.discarded_buffers == 0,
                          [&](const Event& event, const Facts& facts) { out_.emit(event, facts); });
  out_.definitions.finish();
  Process& process = out_.catalog.processes[out_.process];
  out_.note(out_.timeless_records, "records without a timestamp, or with an unknown clock: skipped");
  out_.note(unknown_records_, "records of kinds unknown to this tracetool; use a newer version");
  out_.note(out_.axis.stepped_blocks(), "blocks in which CUPTI's time base had been changed");
  note_set_clock();
  out_.note(out_.file.changed_blocks(),
            "blocks changed while they were read, or are damaged or incomplete, and were skipped");
  if (damaged_blocks_ == 0) return;
  process.damage = Damage{damaged_at_, "not a record"};
  process.notes.push_back(
      fmt::format("byte {}: not a record; the rest of its block is skipped{}", damaged_at_,
                  damaged_blocks_ > 1 ? fmt::format(", and in {} other blocks", damaged_blocks_ - 1) : ""));
}

namespace {

class RingReader : public Reader {
 public:
  explicit RingReader(const std::string& path) : file_(path) {}

  void read(Catalog& catalog, EventSink& sink) override {
    const ProcessId process = catalog.add_process(describe_recording(file_));
    ClockAxis axis(file_.clock_samples(), file_.clock_records());
    if (axis.set_clock().any()) learn(axis.set_clock());
    RingEvents events(file_, catalog, process, sink, std::move(axis));
    file_.for_each_block([&](const RingBlock& block) { events.block(block); });
    events.finish();
    add_losses(file_, catalog.processes[process]);
    for (std::string& note : file_.notes()) catalog.processes[process].notes.push_back(std::move(note));
  }

 private:
  // Records of 32 bytes; a clock set back by hours concerns nearly all of them
  static constexpr std::size_t kMostLearnt = std::size_t{1} << 22;

  // Finds when CUPTI's clock was set, from the records near that time; needs one more pass over the file.
  void learn(SetClock& clock) const {
    std::vector<CuptiTimes> near;
    RingFile file(file_.path());
    file.for_each_block([&](const RingBlock& block) {
      walk_records(block.payload, [&](std::size_t at, std::uint8_t kind, std::size_t size) {
        trace::for_each_record([&]<typename Record>(Record*) {
          if constexpr (TimedByCupti<Record>) {
            if (kind != static_cast<std::uint8_t>(Record::kKind)) return;
            const CuptiTimes times = cupti_times(record_at<Record>(block.payload, at, size));
            if (times.start_ns != 0 && near.size() < kMostLearnt && clock.is_near(times)) near.push_back(times);
          }
        });
      });
    });
    clock.learn(near);
  }

  RingFile file_;
};

}  // namespace

std::unique_ptr<Reader> open_ring(const std::string& path, std::size_t) { return std::make_unique<RingReader>(path); }

namespace {

void write_line(ByteSink& out, std::string_view text) { out.write(visible_text(text) + '\n'); }

// Writes the fields of a record as text, with the names in common/records: "correlation=7 name_ref=@40"; references as
// their target, arrays with commas, texts verbatim.
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
    for (std::size_t i = 0; i < Size; ++i)
      fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ",", +values[i]);
  }
  template <std::size_t Size>
  void show(std::string_view, const char (&text)[Size]) {
    out += terminated(text);
  }

  std::string out;
};

// Returns "" for an unknown kind.
std::string show_record(const std::vector<std::byte>& bytes, std::size_t at, std::uint8_t kind, std::size_t size) {
  ShowFields fields;
  trace::for_each_record([&]<typename R>(R*) {
    if (static_cast<std::uint8_t>(R::kKind) == kind) trace::record_fields(record_at<R>(bytes, at, size), fields);
  });
  return fields.out;
}

// Writes "byte 4096: kernel start ..."; for a string also its text.
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

// Returns the number of damaged positions in it: 0 or 1.
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
  write_line(out, fmt::format("# {} host {} boot {} pid {} run {} program {}", word(file.state()), h.host, h.boot_id,
                              h.pid, h.run_id, h.program));
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
    throw Error(Exit::bad_content,
                fmt::format("{}: {} positions contain no record (lines beginning with '# byte'); the rest is above",
                            path, damaged));
  }
}

}  // namespace cli::ring
