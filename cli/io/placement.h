// Files that appear together: finished ones wait without a name, or as `NAME.tmp.PID` beside their targets where they are
// many or the file system knows no files without a name, and all are renamed at the end. One rename follows the other,
// so only a process that is killed between them leaves some. What is dropped before, or ended by SIGINT, SIGTERM or
// SIGHUP, leaves nothing.
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
  // A whole file without a name, which is closed here. False: too many are open; give it a name.
  bool add(int descriptor, const std::string& target);
  // Throws Error (cannot_open).
  void place();

 private:
  struct File {
    std::string temporary, target;
    int slot;
    int descriptor;  // -1: it has a name
  };
  void name(File& file);

  std::vector<File> files_;
  int open_ = 0;  // descriptors that are held
};

// Links a file without a name as `TARGET.tmp.PID`; `slot`: of remove_on_signal(). Returns "" and errno where that fails.
std::string name_file(int descriptor, const std::string& target, int& slot);

}  // namespace cli
