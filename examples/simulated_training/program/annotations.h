// What NVTX has beyond plain ranges: own domains, registered strings, categories, colours, payloads, names of things.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string_view>

namespace sim {

// Once: names the streams, the categories, the context and the device.
void name_things(cudaStream_t compute, cudaStream_t communication, int device);
// One of each kind of annotation, around nothing; `step` is in names and payloads.
void annotate(int step);

}  // namespace sim
