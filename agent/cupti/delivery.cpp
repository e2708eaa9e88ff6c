#include "agent/cupti/delivery.h"

#include <cerrno>

#include "agent/cupti/buffer_pool.h"
#include "agent/cupti/cupti_library.h"
#include "agent/ring/recorder.h"
#include "agent/translate/translate.h"

namespace agent {
namespace {

constinit Spinlock s_translating{};
constinit Translation s_translation{};
constinit bool s_we_zero = false;  // CUPTI leaves the zeroing of buffers to us

// Records that came when nothing can be written any more.
void count_buffer_lost(std::uint8_t* buffer, std::size_t valid) {
  CUpti_Activity* activity = nullptr;
  while (cupti().get_next_record(buffer, valid, &activity) == CUPTI_SUCCESS) {
    for (const TranslatorRow* row = kTranslators; row->translate != nullptr; ++row) {
      if (row->activity == activity->kind) count_lost(row->record);
    }
  }
}

// A buffer's way into the ring. The lock is held over CUPTI's iterator only, which takes no lock of its own.
void translate_buffer(std::uint8_t* buffer, std::size_t valid) {
  const Locked locked(s_translating);
  if (!s_translation.begin()) return count_buffer_lost(buffer, valid);
  CUpti_Activity* activity = nullptr;
  while (cupti().get_next_record(buffer, valid, &activity) == CUPTI_SUCCESS) s_translation.record(activity);
  s_translation.end();
}

}  // namespace

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  const int before = errno;
  *buffer = take_buffer();
  errno = before;
  *size = kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                                  std::size_t valid) {
  if (buffer == nullptr) return;
  const Guard guard;
  if (guard && open_recording(guard)) {
    translate_buffer(buffer, valid);
  } else if (guard && recording() == Recording::closed) {
    count_buffer_lost(buffer, valid);
  }
  give_back_buffer(buffer, s_we_zero ? kBufferBytes : valid);
  // Not under the lock: CUPTI may hold one of its own that a buffer callback waits for.
  std::size_t dropped = 0;
  if (guard && recording() == Recording::open && cupti().get_dropped(context, stream, &dropped) == CUPTI_SUCCESS) {
    trace::SharedMemory::add(ring().header->cupti_dropped, dropped);
  }
}

void take_over_zeroing() noexcept {
  std::uint8_t on = 1;
  std::size_t size = sizeof(on);
  s_we_zero = cupti().set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &on) == CUPTI_SUCCESS;
}

}  // namespace agent
