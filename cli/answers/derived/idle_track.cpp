#include "cli/answers/derived/idle_track.h"

namespace cli {

void IdleTrack::gap(std::int64_t from_ns, std::int64_t to_ns) {
  DerivedFacts facts;
  facts.length_ns = to_ns - from_ns;
  if (facts.length_ns < kShortest_ns) {
    short_ns_ += facts.length_ns;
    ++short_gaps_;
    return;
  }
  facts.short_gaps = short_gaps_;
  facts.short_gaps_ns = short_ns_;
  out_.slice(DerivedTrack::idle, from_ns, to_ns, facts);
  short_ns_ = 0;
  short_gaps_ = 0;
}

}  // namespace cli
