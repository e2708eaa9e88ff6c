// Serves one file over HTTP on 127.0.0.1, to a browser on this machine.
#pragma once
#include <cstdint>
#include <string>

namespace cli {

struct ServedFile {
  std::string path;
  std::string name;            // last part of the URL: letters, digits, '.', '-' and '_'
  std::string type;            // media type of the content
  std::string allowed_origin;  // the only site whose pages may read the file; "" for none
};

// Returns 32 hexadecimal digits. Throws Error (cannot_open).
std::string random_token();

// The URL contains a random token; requests without it get 404. Only GET, HEAD and OPTIONS are answered.
class FileServer {
 public:
  // Starts to listen. Port 0 selects any free port. Throws Error (cannot_open).
  explicit FileServer(std::uint16_t port);
  ~FileServer();
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;

  // Opens the file. Call it once, before the functions below. The file may be removed afterwards. Throws Error (cannot_open).
  void open(ServedFile file);

  std::string address() const;  // http://127.0.0.1:PORT/TOKEN/NAME

  // Serves requests until a signal ends the process.
  [[noreturn]] void run() const;

  // Returns the header of the response to the header of a request. Sets `has_content` if the file follows.
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
