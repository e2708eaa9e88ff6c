"""A host thread, a stream of a GPU and the queue between them, in virtual time: what a program of known costs takes, as a profile of
torch.profiler. A fault and the same program with that one thing mended give the true gain. Times are in us."""
import json

LATENCY_US, QUEUE = 2, 1024


class Model:
    def __init__(self, steps=True, operators=True, launches=True, gpu="NVIDIA A100-SXM4-40GB"):
        self.events, self.now, self.free, self.starts, self.correlation = [], 0.0, 0.0, [], 0
        self.steps, self.operators, self.launches, self.gpu, self.number, self.idle, self.begun = steps, operators, launches, gpu, 0, 0.0, False

    def slice(self, category, name, start, end, pid=1, tid=2, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": round(end - start, 3), "args": args})

    def span(self, category, name, us):
        self.slice(category, name, self.now, self.now + us)
        self.now += us

    def python(self, us):
        self.now += us

    def load(self, us):
        self.span("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", us)

    def collect(self, us):
        self.span("garbage_collection", "garbage collection (generation 2)", us)

    def step(self, body):
        begin = self.now
        body(self)
        if self.steps:
            self.slice("user_annotation", f"ProfilerStep#{self.number}", begin, self.now)
        self.number += 1

    def within(self, name, body, category="user_annotation"):
        begin = self.now
        body(self)
        self.slice(category, name, begin, self.now)

    def call(self, name, us):
        """Returns its correlation."""
        self.correlation += 1
        if self.launches:
            self.slice("cuda_runtime", name, self.now, self.now + us, correlation=self.correlation)
        self.now += us
        return self.correlation

    def run(self, category, name, us, correlation, **more):
        start = max(self.free, self.now + LATENCY_US)
        if self.begun:
            self.idle += start - self.free
        else:
            self.first = start
        self.begun, self.free = True, start + us
        self.slice(category, name, start, start + us, 0, 7, device=0, stream=7, correlation=correlation, **more)
        return start

    def kernel(self, name, us, cost=5, op=None, args=None):
        begin = self.now
        if op:
            self.now += 1
        pending = [start for start in self.starts if start > self.now]
        waits = pending[0] - self.now if len(pending) >= QUEUE else 0
        correlation = self.call("cudaLaunchKernel", max(cost, waits))
        self.starts = pending + [self.run("kernel", name, us, correlation, grid=[8, 1, 1], block=[64, 1, 1])]
        if op:
            self.now += 1
            if self.operators:
                self.slice("cpu_op", op, begin, self.now, **(args or {}))

    def graph(self, kernels):
        """[(name, us)] by one launch."""
        correlation = self.call("cudaGraphLaunch", 10)
        for name, us in kernels:
            self.run("kernel", name, us, correlation, grid=[8, 1, 1], block=[64, 1, 1])

    def sync(self):
        self.call("cudaStreamSynchronize", max(2, self.free + 3 - self.now))

    def release(self, us):
        """A call that waits for the GPU."""
        self.call("cudaFree", max(0, self.free - self.now) + us)

    def empty_cache(self, us, blocks):
        """The first release waits for the GPU."""
        self.release(us)
        for _ in range(blocks - 1):
            self.call("cudaFree", us)

    def retry(self, us, blocks):
        """An allocation fails, the allocator releases its cache and allocates again."""
        self.within("aten::empty", lambda each: (each.call("cudaMalloc", us), each.call("cudaGetLastError", 1), each.empty_cache(us, blocks),
                                                 each.call("cudaMalloc", us)), "cpu_op")

    def copy(self, us, pageable):
        name = "Memcpy HtoD (Pageable -> Device)" if pageable else "Memcpy HtoD (Pinned -> Device)"
        self.correlation += 1
        begin = self.now
        if not pageable:
            self.now += 5
        end = self.run("gpu_memcpy", name, us, self.correlation, bytes=8 << 20) + us
        if pageable:
            self.now = end + 2
        if self.launches:
            self.slice("cuda_runtime", "cudaMemcpyAsync", begin, self.now, correlation=self.correlation)

    def write(self, path):
        profile = {"deviceProperties": [{"id": 0, "name": self.gpu, "totalGlobalMem": 40 << 30, "computeMajor": 8, "computeMinor": 0}], "distributedInfo": {"rank": 0, "world_size": 1},
                   "baseTimeNanoseconds": 1700000000000000000, "traceEvents": self.events}
        with open(path, "w", encoding="utf-8") as out:
            json.dump(profile, out)
        return path
