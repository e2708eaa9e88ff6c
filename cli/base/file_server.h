// Serves one file to the browser of this machine, over HTTP on 127.0.0.1.
#pragma once
#include <cstdint>
#include <string>

namespace cli {

struct ServedFile {
  std::string path;
  std::string name;            // last part of the address: letters, digits, '.', '-' and '_'
  std::string type;            // media type of the content
  std::string allowed_origin;  // the only site whose pages may read it; "" for none
};

// Returns 32 hexadecimal digits. Throws Error (cannot_open).
std::string random_token();

// The address contains a random token. Requests without it get 404. Only GET, HEAD and OPTIONS are answered.
class FileServer {
 public:
  // Starts to listen. Port 0 takes any free port. Throws Error (cannot_open).
  explicit FileServer(std::uint16_t port);
  ~FileServer();
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;

  // Opens the file. Call it once, before the functions below. The file may be removed afterwards. Throws Error (cannot_open).
  void open(ServedFile file);

  std::string address() const;  // http://127.0.0.1:PORT/TOKEN/NAME

  // Answers requests until a signal ends the process.
  [[noreturn]] void run() const;

  // Returns the head of the answer to the head of a request; sets `has_content` if the file follows it.
  std::string answer(const std::string& request, bool& has_content) const;

 private:
  void serve(int connection) const;

  ServedFile file_;
  std::string token_;
  int file_fd_ = -1, listener_ = -1;
  std::uint64_t bytes_ = 0;
  std::uint16_t port_ = 0;
};

}  // namespace cli
