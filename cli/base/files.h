// Scratch space without a name, temporary names of outputs, and reads from a place in a file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// Scratch space on disk without a name: gone with the process, however that ends.
class TempFile {
 public:
  explicit TempFile(std::string directory);  // opens nothing yet
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  // Returns the offset at which `bytes` now lie, in one piece. Throws Error (cannot_open). Any thread.
  std::uint64_t append(std::string_view bytes);

  // Exactly `size` bytes that were appended at `offset`. Throws Error (cannot_open).
  void read(std::uint64_t offset, std::size_t size, std::string& out) const;

  // While nothing is appended.
  std::uint64_t bytes() const { return bytes_; }

 private:
  void open();
  [[noreturn]] void fail(const char* what, int error) const;

  std::string directory_;
  std::mutex mutex_;  // of append()
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
};

// $TMPDIR, else the directory of the output (large and writable, as the output must fit there), else /tmp.
std::string scratch_directory(const std::string& output_path);

// The name of an output until it is whole: `TARGET.tmp.` and eight random digits, as processes of several containers or hosts have
// one id and may write to one directory. Signals that end a process remove such files and then end it as they would have; one
// that was ignored at start (nohup) stays ignored. Only SIGKILL leaves them: they are not removed later, as their writer may live
// on another host.
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

// Whole reads from a place in a file.

// Bytes read: fewer than asked for at the end of the file (errno is 0) or when it cannot be read (errno says why).
std::size_t read_at(int fd, void* to, std::size_t bytes, std::uint64_t offset);

}  // namespace cli
