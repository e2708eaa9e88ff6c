#include "cli/base/file_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "cli/base/error.h"

namespace cli {
namespace {

constexpr std::size_t kMostRequestBytes = 16 << 10;
constexpr int kMostWaiting = 16;
constexpr timeval kPatience{10, 0};  // browsers open connections ahead of time and may send no request

// Returns the head of a request, or "" if the connection ends early or the head is too long.
std::string read_head(int connection) {
  std::string head;
  std::array<char, 4096> part;
  while (head.find("\r\n\r\n") == head.npos) {
    const ssize_t got = ::recv(connection, part.data(), part.size(), 0);
    if (got <= 0 || head.size() > kMostRequestBytes) return {};
    head.append(part.data(), static_cast<std::size_t>(got));
  }
  return head;
}

bool send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error(Exit::cannot_open, "the system provides no random numbers");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

FileServer::FileServer(std::uint16_t port) : token_(random_token()) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));  // allows a port that was in use a moment ago
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || ::bind(listener_, any, size) != 0 || ::listen(listener_, kMostWaiting) != 0 ||
      ::getsockname(listener_, any, &size) != 0) {
    throw Error(Exit::cannot_open, "127.0.0.1:{}: {}", port, std::strerror(errno));
  }
  port_ = ntohs(address.sin_port);
}

void FileServer::open(ServedFile file) {
  file_ = std::move(file);
  file_fd_ = ::open(file_.path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file_fd_ < 0 || ::fstat(file_fd_, &status) != 0)
    throw Error(Exit::cannot_open, "{}: {}", file_.path, std::strerror(errno));
  bytes_ = static_cast<std::uint64_t>(status.st_size);
}

FileServer::~FileServer() {
  if (listener_ >= 0) ::close(listener_);
  if (file_fd_ >= 0) ::close(file_fd_);
}

std::string FileServer::address() const { return fmt::format("http://127.0.0.1:{}/{}/{}", port_, token_, file_.name); }

std::string FileServer::answer(const std::string& request, bool& has_content) const {
  const std::size_t method_end = request.find(' ');
  const std::string method = request.substr(0, method_end);
  const std::size_t path_end =
      method_end == request.npos ? request.npos : request.find_first_of(" ?\r\n", method_end + 1);
  const std::string path = path_end == request.npos ? "" : request.substr(method_end + 1, path_end - method_end - 1);
  const bool is_asked_right = path == fmt::format("/{}/{}", token_, file_.name);
  const bool is_known = method == "GET" || method == "HEAD" || method == "OPTIONS";
  has_content = is_asked_right && method == "GET";
  std::string head = fmt::format("HTTP/1.1 {}\r\n", !is_known             ? "405 Method Not Allowed"
                                                    : !is_asked_right     ? "404 Not Found"
                                                    : method == "OPTIONS" ? "204 No Content"
                                                                          : "200 OK");
  head +=
      "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n";
  if (is_known && is_asked_right && !file_.allowed_origin.empty()) {
    head += fmt::format("Access-Control-Allow-Origin: {}\r\n", file_.allowed_origin);
    // Chrome asks before a public page may read from the local machine.
    if (method == "OPTIONS")
      head += "Access-Control-Allow-Methods: GET, HEAD\r\nAccess-Control-Allow-Private-Network: true\r\n";
  }
  if (is_known && is_asked_right && method != "OPTIONS")
    head += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", file_.type, bytes_);
  if (!is_known || !is_asked_right) head += "Content-Length: 0\r\n";
  return head + "\r\n";
}

void FileServer::serve(int connection) const {
  ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  const std::string request = read_head(connection);
  bool has_content = false;
  if (!request.empty() && send_all(connection, answer(request, has_content)) && has_content) {
    off_t at = 0;
    while (static_cast<std::uint64_t>(at) < bytes_ &&
           ::sendfile(connection, file_fd_, &at, bytes_ - static_cast<std::uint64_t>(at)) > 0) {
    }
  }
  ::shutdown(connection, SHUT_WR);
  ::close(connection);
}

void FileServer::run() const {
  for (;;) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection >= 0) {
      std::thread([this, connection] { serve(connection); }).detach();
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      ::usleep(100'000);
    }
  }
}

}  // namespace cli
