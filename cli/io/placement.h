// Files that appear together: each is finished beside its target as `NAME.tmp.PID`, and all are renamed at the end. One
// rename follows the other, so only a process that is killed between them leaves some. What is dropped before, or ended
// by SIGINT, SIGTERM or SIGHUP, leaves nothing.
#pragma once
#include <string>
#include <vector>

namespace cli {

class Placement {
 public:
  Placement() = default;
  ~Placement();
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  // A whole file; `slot` is that of remove_on_signal().
  void add(std::string temporary, std::string target, int slot);
  // Throws Error (cannot_open).
  void place();

 private:
  struct File {
    std::string temporary, target;
    int slot;
  };
  std::vector<File> files_;
};

}  // namespace cli
