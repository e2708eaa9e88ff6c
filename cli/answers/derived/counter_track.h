// A counter's values in the order of time: the last of each moment, and none that repeats the one before.
#pragma once
#include <cstdint>
#include <limits>

#include "cli/timeline/gpu/launch_queue.h"
#include "cli/answers/derived/track_out.h"

namespace cli {

class CounterTrack final : public Changes {
 public:
  CounterTrack(TrackOut out, DerivedTrack track) : out_(out), track_(track) {}

  // `ns` ascends.
  void set(std::int64_t ns, double value) {
    if (ns > ns_) give();
    ns_ = ns;
    value_ = value;
    waits_ = true;
  }
  void add(std::int64_t ns, double change) override { set(ns, value_ + change); }

  // Values before `at_ns` are given; the one that holds there comes again, with that time, when the next is known.
  void cut(std::int64_t at_ns) {
    if (ns_ < at_ns) give();
    if (!given_ && !waits_) return;
    repeat_ = true;
    if (!waits_) {
      ns_ = at_ns;
      waits_ = true;
    }
  }
  void finish() { give(); }

 private:
  void give() {
    if (waits_ && (repeat_ || !given_ || value_ != last_)) {
      out_.value(track_, ns_, value_);
      last_ = value_;
      given_ = true;
      repeat_ = false;
    }
    waits_ = false;
  }

  TrackOut out_;
  DerivedTrack track_;
  std::int64_t ns_ = std::numeric_limits<std::int64_t>::min();
  double value_ = 0, last_ = 0;  // last_: as given
  bool waits_ = false, given_ = false, repeat_ = false;
};

}  // namespace cli
