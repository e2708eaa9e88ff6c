// Scratch files without a name, temporary names of outputs, and reads at an offset.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// A scratch file without a name. It disappears with the process, however the process ends.
class TempFile {
 public:
  explicit TempFile(std::string directory) : directory_(std::move(directory)) {}  // does not open the file yet
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  // Appends `bytes` contiguously and returns their offset. Throws Error (cannot_open). Any thread may call it.
  std::uint64_t append(std::string_view bytes);

  // Reads exactly `size` bytes that were appended at `offset`. Throws Error (cannot_open).
  void read(std::uint64_t offset, std::size_t size, std::string& out) const;

  // Must not run at the same time as append().
  std::uint64_t bytes() const { return bytes_; }

 private:
  [[noreturn]] void fail(const char* what, int error) const;

  std::string directory_;
  std::mutex mutex_;  // for append()
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
};

// Returns $TMPDIR, else the directory of the output (which is writable and has room for it), else /tmp.
std::string scratch_directory(const std::string& output_path);

// The name of an output until it is complete: `TARGET.tmp.` and eight random digits, because processes in several
// containers or on several hosts may have the same pid and write to one directory. Signals that end the process remove
// such files first; a signal that was ignored at start (nohup) stays ignored. Only SIGKILL leaves them behind. They are
// not removed later, because their writer may run on another host.
class TemporaryName {
 public:
  explicit TemporaryName(std::string target);
  ~TemporaryName();  // removes the file unless it was put in place
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  // Call it once. Returns a file descriptor for writing, or -1 with errno (EEXIST if the name exists already).
  int make_file();
  void put_in_place();  // throws Error (cannot_open)

  struct Node;  // data of the signal handler

 private:
  std::string target_;
  Node* node_;  // never freed
};

// Creates an output directory and its missing parents. If they are still empty when this object is destroyed or a
// signal ends the process, those that it created are removed.
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

// Complete files that appear together. They are renamed one after the other, so only a process that is killed in
// between leaves a part of them.
using Placement = std::vector<std::unique_ptr<TemporaryName>>;
void put_in_place(Placement& files);

// Complete reads at an offset. Returns the number of bytes read. It is less than `bytes` at the end of the file (errno
// is 0) or on an error (errno is set).
std::size_t read_at(int fd, void* to, std::size_t bytes, std::uint64_t offset);

}  // namespace cli
