#include "cli/read/ring_reader.h"

#include "cli/read/ring_events.h"

namespace cli {

Kind event_kind(std::uint8_t record_kind) {
  switch (static_cast<trace::RecordKind>(record_kind)) {
    case trace::RecordKind::kernel:
    case trace::RecordKind::kernel_wide:
      return Kind::kernel;
    case trace::RecordKind::memcpy:
    case trace::RecordKind::memcpy_peer:
      return Kind::memcpy;
    case trace::RecordKind::memset:
      return Kind::memset;
    case trace::RecordKind::runtime:
    case trace::RecordKind::runtime_wide:
      return Kind::runtime;
    case trace::RecordKind::driver:
    case trace::RecordKind::driver_wide:
      return Kind::driver;
    case trace::RecordKind::nvtx_push:
    case trace::RecordKind::nvtx_start:
    case trace::RecordKind::nvtx_mark:
      return Kind::nvtx;
    case trace::RecordKind::nccl_call:
      return Kind::nccl;
    default:
      return Kind::count_;
  }
}

namespace {

class RingReader : public Reader {
 public:
  explicit RingReader(const std::string& path) : file_(path) {}

  void read(Catalog& catalog, EventSink& sink) override {
    const ProcessId process = catalog.add_process(describe());
    RingEvents events(file_, catalog, process, sink, ClockAxis(file_.clock_samples()));
    file_.for_each_block([&](const RingBlock& block) { events.block(block); });
    events.finish();
    add_losses(catalog.processes[process]);
  }

 private:
  Process describe() const {
    const trace::FileHeader& header = file_.header();
    Process process;
    process.source = file_.path();
    process.format = SourceFormat::ring;
    process.pid = header.pid;
    process.host = header.host;
    process.boot_id = header.boot_id;
    process.run_id = header.run_id;
    process.program = header.program;
    process.state = file_.state();
    return process;
  }

  void add_losses(Process& process) const {
    for (std::size_t i = 0; i < trace::kEventKinds; ++i) {
      const Kind kind = event_kind(static_cast<std::uint8_t>(trace::kFirstEventKind + i));
      if (kind == Kind::count_) continue;
      process.overwritten[static_cast<std::size_t>(kind)] += file_.overwritten()[i];
      process.lost[static_cast<std::size_t>(kind)] += file_.header().lost[i];
    }
    process.lost_unknown_kind = file_.header().cupti_dropped;
    add_cupti_note(process);
  }

  void add_cupti_note(Process& process) const {
    const auto state = static_cast<trace::SourceState>(file_.header().cupti_state);
    if (state == trace::SourceState::taken) {
      process.notes.push_back("another tool held CUPTI: GPU work was not recorded");
    } else if (state == trace::SourceState::failed) {
      process.notes.push_back("CUPTI could not be used (error " + std::to_string(file_.header().cupti_error) +
                              "): GPU work was not recorded");
    }
  }

  RingFile file_;
};

}  // namespace

std::unique_ptr<Reader> open_ring(const std::string& path) { return std::make_unique<RingReader>(path); }

}  // namespace cli
