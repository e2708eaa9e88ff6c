// What happened to the recording itself, as events and for those who ask. Notices are few: they are kept to the end,
// because the end of a gap is a record of its own.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "cli/trace/words.h"
#include "cli/formats/ring/ring_translator.h"

namespace cli {
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

  // A gap ends with the source_on of the same start.
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

}  // namespace cli
