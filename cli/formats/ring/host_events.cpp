// Converts records of host threads and notices about the recording itself to events.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "cli/formats/ring/translator.h"
#include "cli/trace/words.h"

namespace cli::ring {

// Converts records of host threads to events: CUDA calls, NVTX, NCCL.

namespace {

class HostEvents : public RingTranslator {
 public:
  explicit HostEvents(RingOutput& out)
      : out_(out), ranges_([&out](const OpenRange& range) { out.emit(range.event, range.facts); }) {}
  // Emits the open ranges, whose ends are not in the recording.
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
    if (return_value == 0 && kind == Kind::runtime &&
        out_.cuda_events.is_record_call(out_.catalog.strings[event.name])) {
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

// Notices about the recording itself, as events and in Process::notices. They are held until the end of the file,
// because the end of a gap is a separate record; there are only a few.

namespace {

bool is(const trace::NoticeRecord& record, trace::NoticeCode code) {
  return record.code == static_cast<std::uint8_t>(code);
}

class Notices : public RingTranslator {
  struct Kept {
    trace::NoticeRecord record;
    Notice notice;
  };

 public:
  explicit Notices(RingOutput& out) : out_(out) {}

  void translate(const trace::NoticeRecord& record, std::size_t at) {
    Kept kept{record, {}};
    kept.notice.code = static_cast<trace::NoticeCode>(record.code);
    kept.notice.start_ns = out_.axis.from_mono(record.start_mono_ns);
    kept.notice.end_ns = record.end_mono_ns == 0 ? 0 : out_.axis.from_mono(record.end_mono_ns);
    kept.notice.value = record.value;
    kept.notice.text = out_.catalog.strings[out_.names.string(record.text_ref, at)];
    kept_.push_back(std::move(kept));
  }

  // A gap ends with the source_on that has the same start.
  void end_gaps() {
    std::unordered_map<std::uint64_t, const Kept*> ends;
    for (const Kept& kept : kept_) {
      if (is(kept.record, trace::NoticeCode::source_on)) ends[kept.record.start_mono_ns] = &kept;
    }
    for (Kept& kept : kept_) {
      if (!is(kept.record, trace::NoticeCode::gap) || kept.record.end_mono_ns != 0) continue;
      const auto end = ends.find(kept.record.start_mono_ns);
      if (end == ends.end()) continue;
      kept.record.end_mono_ns = end->second->record.end_mono_ns;
      kept.notice.end_ns = end->second->notice.end_ns;
    }
  }

  void emit(const Kept& kept) {
    const bool is_on = is(kept.record, trace::NoticeCode::source_on);
    const bool is_moment = is_on || kept.record.end_mono_ns == kept.record.start_mono_ns;
    Event event;
    event.kind = Kind::notice;
    event.phase = is_moment ? 'i' : 'X';
    event.track = out_.other_track(0, "recording");
    event.name = out_.catalog.strings.intern(word(kept.notice.code));
    event.start_ns = is_on && kept.notice.end_ns != 0 ? kept.notice.end_ns : kept.notice.start_ns;
    if (!is_moment) event.duration_ns = RingOutput::duration(kept.record.start_mono_ns, kept.record.end_mono_ns);
    NoticeFacts facts;
    facts.code = kept.record.code;
    facts.value = kept.notice.value;
    facts.text = out_.catalog.strings.intern(kept.notice.text);
    out_.emit(event, facts);
  }

  void finish() override {
    end_gaps();
    std::stable_sort(kept_.begin(), kept_.end(),
                     [](const Kept& a, const Kept& b) { return a.notice.start_ns < b.notice.start_ns; });
    for (const Kept& kept : kept_) {
      emit(kept);
      out_.catalog.processes[out_.process].notices.push_back(kept.notice);
    }
    kept_.clear();
  }

 private:
  RingOutput& out_;
  std::vector<Kept> kept_;
};

}  // namespace

std::unique_ptr<RingTranslator> notice_translator(RingOutput& out, RingHandlers& handlers) {
  return make_translator<Notices>(out, handlers);
}

}  // namespace cli::ring
