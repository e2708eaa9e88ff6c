// When the client may call this library: not from the callbacks whose contract forbids it, not after the driver's
// teardown has begun, and not from two threads where the header leaves the serialization to the client.
#pragma once
#include <atomic>

#include "exports.h"

namespace sim {

// Where this thread is inside a function of the client that this library has called.
enum class Inside : unsigned char { nothing, api_callback, other_callback, buffer_callback };

class InsideClient {
 public:
  explicit InsideClient(Inside where) noexcept;
  ~InsideClient();
  InsideClient(const InsideClient&) = delete;
  InsideClient& operator=(const InsideClient&) = delete;

 private:
  Inside before_;
};

// The driver has begun to leave: from here on only reading a buffer that is just being handed over is allowed.
void begin_teardown();

// Each ends the process where the rule is broken. `name`: of the function that is called.
void check_not_torn_down(const char* name);
void check_may_flush();
void check_may_read();  // records

// Held by functions of which a client may be in one at a time.
class OneAtATime {
 public:
  OneAtATime(std::atomic<bool>& occupied, const char* rule) noexcept;
  ~OneAtATime();
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;

 private:
  std::atomic<bool>& occupied_;
};

}  // namespace sim
