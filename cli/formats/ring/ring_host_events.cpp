// What host threads did, to events: CUDA calls, NVTX, NCCL.
#include "cli/formats/ring/open_ranges.h"
#include "cli/formats/ring/ring_translator.h"

namespace cli {
namespace {

class HostEvents : public RingTranslator {
 public:
  explicit HostEvents(RingOutput& out)
      : out_(out), ranges_([&out](const OpenRange& range) { out.emit(range.event, range.facts); }) {}
  // Emits the ranges that are open: their ends are not in the recording.
  void skip_records() override { ranges_.finish(); }
  void finish() override {
    ranges_.finish();
    out_.note(ranges_.endless(), "ranges without an end: open when the recording ended, or never popped");
    out_.note(ranges_.unmatched_ends(), "range ends without a start: overwritten, or never pushed");
  }

  template <typename Record>
  void call(Kind kind, trace::RecordKind domain, const Record& record, std::uint32_t return_value) {
    if (!out_.has_time(record.start_cupti_ns)) return;
    Event event;
    event.kind = kind;
    event.track = out_.thread_track(record.tid);
    event.name = out_.names.api_name(domain, record.cbid);
    out_.set_times(event, record);
    event.correlation = record.correlation;
    if (return_value == 0 && kind == Kind::runtime && out_.cuda_events.is_record_call(out_.catalog.strings[event.name])) {
      return out_.cuda_events.hold_call(event, record.cbid);
    }
    out_.emit(event, CallFacts{record.cbid, return_value});
  }

  void translate(const trace::RuntimeRecord& record, std::size_t) {
    call(Kind::runtime, trace::RuntimeRecord::kKind, record, 0);
  }

  void translate(const trace::DriverRecord& record, std::size_t) {
    call(Kind::driver, trace::DriverRecord::kKind, record, 0);
  }

  void translate(const trace::RuntimeWideRecord& record, std::size_t) {
    call(Kind::runtime, trace::RuntimeRecord::kKind, record, record.return_value);
  }

  void translate(const trace::DriverWideRecord& record, std::size_t) {
    call(Kind::driver, trace::DriverRecord::kKind, record, record.return_value);
  }

  template <typename Record>
  Event host_event(Kind kind, const Record& record, std::size_t at) {
    Event event;
    event.kind = kind;
    event.track = out_.thread_track(record.tid);
    event.name = out_.names.string(record.name_ref, at);
    event.start_ns = out_.axis.from_mono(record.time_mono_ns);
    return event;
  }

  template <typename Record>
  OpenRange nvtx_range(const Record& record, std::size_t at) {
    RangeFacts facts;
    facts.has_domain = record.domain_ref != trace::kNoRef;
    facts.domain = out_.names.string(record.domain_ref, at);
    facts.category = record.category;
    if (record.category != 0) facts.category_name = out_.definitions.category(facts.domain, record.category);
    facts.color_argb = record.color_argb;
    facts.payload_type = record.payload_type;
    facts.payload = record.payload_type == 0 ? 0 : record.payload;
    return {host_event(Kind::nvtx, record, at), facts};
  }

  void translate(const trace::NvtxPushRecord& record, std::size_t at) {
    ranges_.push(record.tid, out_.names.string(record.domain_ref, at), nvtx_range(record, at));
  }

  void translate(const trace::NvtxPopRecord& record, std::size_t at) {
    ranges_.pop(record.tid, out_.names.string(record.domain_ref, at), out_.axis.from_mono(record.time_mono_ns));
  }

  void translate(const trace::NvtxStartRecord& record, std::size_t at) {
    ranges_.start(record.range_id, nvtx_range(record, at));
  }

  void translate(const trace::NvtxEndRecord& record, std::size_t) {
    ranges_.end(record.range_id, out_.axis.from_mono(record.time_mono_ns));
  }

  void translate(const trace::NvtxMarkRecord& record, std::size_t at) {
    OpenRange mark = nvtx_range(record, at);
    mark.event.phase = 'i';
    out_.emit(mark.event, mark.facts);
  }

  void translate(const trace::NcclCallRecord& record, std::size_t at) {
    Event event = host_event(Kind::nccl, record, at);
    event.has_bytes = (record.has & Collective::kBytes) != 0;
    event.bytes = record.bytes;
    NcclFacts facts;
    Collective& c = facts.collective;
    c.has = record.has;
    c.nccl_class = record.nccl_class;
    c.communicator = record.communicator;
    c.epoch = record.epoch;
    c.ordinal = record.ordinal;
    c.reduction = record.reduction_op;
    c.peer = static_cast<std::int32_t>(record.peer);
    c.data_type = record.data_type;
    c.count = record.count;
    c.stream = record.stream;
    ranges_.push(record.tid, out_.names.string(record.domain_ref, at), {event, facts});
  }

 private:
  RingOutput& out_;
  OpenRanges ranges_;
};

}  // namespace

std::unique_ptr<RingTranslator> host_translator(RingOutput& out, RingHandlers& handlers) {
  return make_translator<HostEvents>(out, handlers);
}

}  // namespace cli
