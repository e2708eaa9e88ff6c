#include "cli/formats/kineto/kineto_category.h"

#include <array>
#include <utility>

namespace cli {
namespace {

enum class OnTrack { stream, thread, any };

struct Entry {
  std::string_view text;
  Kind kind;
  OnTrack on;
};

constexpr std::array kEntries{
    Entry{"kernel", Kind::kernel, OnTrack::stream},
    Entry{"Kernel", Kind::kernel, OnTrack::stream},
    Entry{"gpu_memcpy", Kind::memcpy, OnTrack::stream},
    Entry{"Memcpy", Kind::memcpy, OnTrack::stream},
    Entry{"gpu_memset", Kind::memset, OnTrack::stream},
    Entry{"Memset", Kind::memset, OnTrack::stream},
    Entry{"cuda_runtime", Kind::runtime, OnTrack::thread},
    Entry{"Runtime", Kind::runtime, OnTrack::thread},
    Entry{"cuda_driver", Kind::driver, OnTrack::thread},
    Entry{"xpu_runtime", Kind::runtime, OnTrack::thread},
    Entry{"xpu_driver", Kind::driver, OnTrack::thread},
    Entry{"privateuse1_runtime", Kind::runtime, OnTrack::thread},
    Entry{"privateuse1_driver", Kind::driver, OnTrack::thread},
    Entry{"nvtx", Kind::nvtx, OnTrack::thread},
    Entry{"nccl", Kind::nccl, OnTrack::thread},
    Entry{"cuda_sync", Kind::sync, OnTrack::stream},
    Entry{"cuda_event", Kind::cuda_event, OnTrack::stream},
    Entry{"overhead", Kind::overhead, OnTrack::thread},
    Entry{"cuda_graph", Kind::graph, OnTrack::stream},
    Entry{"notice", Kind::notice, OnTrack::any},
    Entry{"cpu_op", Kind::cpu_op, OnTrack::thread},
    Entry{"Operator", Kind::cpu_op, OnTrack::thread},
    Entry{"user_annotation", Kind::user_annotation, OnTrack::thread},
    Entry{"gpu_user_annotation", Kind::gpu_annotation, OnTrack::stream},
    Entry{"python_function", Kind::python_function, OnTrack::thread},
    Entry{"garbage_collection", Kind::garbage_collection, OnTrack::thread},
    Entry{"cpu_instant_event", Kind::other, OnTrack::thread},
};

// "async" is the word of 2020, before "async_cpu_to_gpu" and "ac2g".
bool is_launch_flow(std::string_view text) { return text == "ac2g" || text == "async_cpu_to_gpu" || text == "async"; }

}  // namespace

const KinetoCategory& device_work() {
  static const KinetoCategory category{.text = {}, .kind = Kind::kernel, .on_stream = true};
  return category;
}

const KinetoCategory& KinetoCategories::find(std::string_view text) {
  for (const KinetoCategory* last : last_) {
    if (last != nullptr && last->text == text) return *last;
  }
  auto at = entries_.find(text);
  if (at == entries_.end()) {
    auto made = std::make_unique<KinetoCategory>();
    made->text = text;
    made->id = strings_->intern(text);
    for (const Entry& entry : kEntries) {
      if (entry.text != text) continue;
      made->kind = entry.kind;
      made->on_stream = entry.on == OnTrack::stream;
      made->on_thread = entry.on == OnTrack::thread;
    }
    made->launch_flow = is_launch_flow(text);
    at = entries_.emplace(made->text, made.get()).first;
    owned_.push_back(std::move(made));
  }
  last_[1] = std::exchange(last_[0], at->second);
  return *at->second;
}

}  // namespace cli
