// The name of an output until it is whole: `TARGET.tmp.` and eight random digits, as processes of several containers or hosts have
// one id and may write to one directory. Signals that end a process remove such files and then end it as they would have; one
// that was ignored at start (nohup) stays ignored. Only SIGKILL leaves them: they are not removed later, as their writer may live
// on another host.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace cli {

class TemporaryName {
 public:
  explicit TemporaryName(std::string target);
  ~TemporaryName();  // removes the file where it was not put in place
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  // Once. A descriptor to write to; -1 with errno, which is EEXIST where the name is another's file.
  int make_file();
  void put_in_place();  // throws Error (cannot_open)

  struct Node;  // what a handler of signals sees

 private:
  std::string target_;
  Node* node_;  // is never freed
};

// Creates an output directory and its missing parents. Removes those it created if they are still empty when this object, or the process
// by a signal, ends.
class NewDirectory {
 public:
  explicit NewDirectory(const std::string& path);  // throws Error (cannot_open)
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

 private:
  void remove_empty();

  std::vector<TemporaryName::Node*> made_;  // never freed
};

// Whole files that appear together. One rename follows the other, so only a process that is killed between them leaves some.
using Placement = std::vector<std::unique_ptr<TemporaryName>>;
void put_in_place(Placement& files);

}  // namespace cli
