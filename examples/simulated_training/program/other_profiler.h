// Another user of CUPTI in the same process, as torch.profiler is: between two steps it registers buffer callbacks of
// its own in place of whoever had some, gives CUPTI another clock, pushes external ids, enables its kinds, and at the
// end flushes and disables them for everybody.
#pragma once
#include <string>

namespace sim {

class OtherProfiler {
 public:
  // "A-B"; empty: it does nothing. Exits where the text is no such pair or the process has no CUPTI.
  explicit OtherProfiler(const std::string& steps);
  void at_step(int step);

 private:
  void start();
  void stop();
  int first_ = -1, last_ = -1;
};

}  // namespace sim
