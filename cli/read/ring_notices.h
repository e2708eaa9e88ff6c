// What happened to the recording itself, as events and for those who ask. Notices are few: they are kept to the end,
// because the end of a gap is a record of its own.
#pragma once
#include <vector>

#include "cli/read/ring_output.h"

namespace cli {

class RingNotices {
 public:
  explicit RingNotices(RingOutput& out) : out_(out) {}

  void translate(const trace::NoticeRecord& record, std::size_t at);
  // Emits them all and gives them to the process.
  void finish();

 private:
  struct Kept {
    trace::NoticeRecord record;
    Notice notice;
  };
  void end_gaps();
  void emit(const Kept& kept);

  RingOutput& out_;
  std::vector<Kept> kept_;
};

}  // namespace cli
