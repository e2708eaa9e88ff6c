#include "cli/formats/chrome/async_spans.h"

#include <map>
#include <tuple>
#include <utility>

namespace cli::chrome {
namespace {

bool begins_span(const Event& event) { return event.phase == 'b' || event.phase == 'S'; }
bool ends_span(const Event& event) { return event.phase == 'e' || event.phase == 'F'; }

class WithAsyncSlices : public Exporter {
 public:
  explicit WithAsyncSlices(std::unique_ptr<Exporter> format) : format_(std::move(format)) {}

  bool needs_two_passes() const override { return true; }
  void origin(std::int64_t ns) override { format_->origin(ns); }
  void begin(const Catalog& catalog, ByteSink& sink) override {
    catalog_ = &catalog;
    format_->begin(catalog, sink);
  }
  void collectives(const JoinedCollectives& joined) override { format_->collectives(joined); }
  void clocks(const std::vector<ClockFit>& fits) override { format_->clocks(fits); }
  void prepare(const Event& event, const Facts& facts) override {
    if (begins_span(event)) {
      open_[key_of(event)].push_back({durations_.size(), event.start_ns});
      durations_.push_back(kUnknownDuration);
    } else if (ends_span(event)) {
      std::vector<Open>& open = open_[key_of(event)];
      const bool joined = !open.empty();
      ends_joined_.push_back(joined);
      if (joined) durations_[open.back().span] = event.start_ns - open.back().start_ns, open.pop_back();
    }
    format_->prepare(event, facts);
  }
  void steps(const Steps& steps) override { format_->steps(steps); }
  void derived(const Derived& derived) override { format_->derived(derived); }
  void event(const Event& event, const Facts& facts) override {
    if (begins_span(event)) {
      Event slice = event;
      slice.phase = 'X';
      slice.duration_ns = durations_[spans_++];
      format_->event(slice, facts);
    } else if (ends_span(event) && ends_joined_[ends_++]) {
      ++joined_ends_;
    } else {
      format_->event(event, facts);
    }
  }
  void left_out(const Event& event, const Facts& facts) override { format_->left_out(event, facts); }
  ExportSummary finish() override {
    ExportSummary summary = format_->finish();
    summary.events_in += joined_ends_;
    summary.joined_ends += joined_ends_;
    return summary;
  }
  std::uint64_t pending_bytes() const override { return format_->pending_bytes(); }

 private:
  using Key = std::tuple<ProcessId, StringId, std::uint64_t>;
  struct Open {
    std::size_t span;
    std::int64_t start_ns;
  };
  Key key_of(const Event& event) const {
    return {catalog_->tracks[event.track].process, event.category, event.correlation};
  }

  std::unique_ptr<Exporter> format_;
  const Catalog* catalog_ = nullptr;
  std::map<Key, std::vector<Open>> open_;
  std::vector<std::int64_t> durations_;  // of the spans, in the order of their begins
  std::vector<bool> ends_joined_;        // by end, in order
  std::size_t spans_ = 0, ends_ = 0;     // seen by event()
  std::uint64_t joined_ends_ = 0;
};

}  // namespace

std::unique_ptr<Exporter> with_async_slices(std::unique_ptr<Exporter> format) {
  return std::make_unique<WithAsyncSlices>(std::move(format));
}

}  // namespace cli::chrome
