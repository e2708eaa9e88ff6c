#!/usr/bin/env python3
"""`tracetool diagnose`: the saving of a finding against the same program with that one thing mended, in virtual time (host_gpu_model.py). It
is an upper bound of the true gain and not much more; one gap is one finding; a rule that cannot look says so.

  test_savings.py --tracetool PATH
"""
import argparse
import json
import os
import random

from harness import Folder, check, finish, run
from host_gpu_model import Model

GAP_RULES = {"data-starved", "garbage-collection", "host-sync", "pageable-copy", "allocation-in-step", "allocation-retries", "single-tensor-optimizer", "launch-bound", "host-late", "gpu-idle"}
ALLOCATIONS = ("allocation-in-step", "allocation-retries")
STEPS = 12
GEMM = "nvjet_hsh_128x64"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)"
CAST = "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}>(int)"
SOFTMAX = "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 10, false, false>(c10::BFloat16*)"
LOG_SOFTMAX = SOFTMAX.replace("10, false", "10, true")


def program(body, **how):
    model = Model(**how)
    for _ in range(STEPS):
        model.step(body)
    return model


def layers(model, count=20, us=100):
    for _ in range(count):
        model.kernel(GEMM, us, op="aten::mm")


def after(before):
    """A step that does this, then its layers."""
    def body(model):
        before(model)
        layers(model)
    return body


def synced(model):
    for _ in range(8):
        layers(model, 3)
        model.python(20)
        model.sync()


def tiny(model):
    for _ in range(200):
        model.kernel(ADD, 3, cost=8)


def optimizer(model):
    layers(model, 4)
    model.within("Optimizer.step#Adam.step", lambda each: [each.kernel("adam_single", 3, cost=12) for _ in range(300)])


def fused(model):
    layers(model, 4)
    model.within("Optimizer.step#Adam.step", lambda each: each.kernel("void at::native::multi_tensor_apply_kernel<int>()", 900))


def attention(model):
    layers(model, 4)
    for _ in range(4):
        model.kernel("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn", 60, op="aten::bmm")
        model.kernel(ADD, 40, op="aten::mul")
        model.kernel(SOFTMAX, 60, op="aten::_softmax")
        model.kernel("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_nn", 60, op="aten::bmm")


def flash(model):
    layers(model, 4)
    for _ in range(4):
        model.kernel("void pytorch_flash::flash_fwd_kernel<int>(int)", 80, op="aten::_flash_attention_forward")


def of_kernel(name, us, **how):
    return lambda model: [model.kernel(name, us, **how) for _ in range(20)]


# rule: (a step with the fault, the same with that mended)
MENDED = {
    "data-starved": (after(lambda each: each.load(6000)), after(lambda each: each.load(50))),
    "garbage-collection": (after(lambda each: each.collect(4000)), after(lambda each: None)),
    "host-late": (after(lambda each: each.python(4000)), after(lambda each: None)),
    "host-sync": (synced, lambda each: [(layers(each, 3), each.python(20)) for _ in range(8)]),
    "launch-bound": (tiny, lambda each: each.graph([(ADD, 3)] * 200)),
    "pageable-copy": (after(lambda each: each.copy(1500, True)), after(lambda each: each.copy(300, False))),
    "allocation-in-step": (after(lambda each: each.release(500)), after(lambda each: None)),
    "allocation-retries": (after(lambda each: each.retry(40, 10)), after(lambda each: None)),
    "single-tensor-optimizer": (optimizer, fused),
    "unfused-attention": (attention, flash),
    "unaligned-matmul": (of_kernel("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_64x3_nn_align1>(int)", 200),
                         of_kernel("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_64x3_nn_align8>(int)", 50)),
    "fp32-matmul": (of_kernel("ampere_sgemm_128x64_tn", 400), of_kernel("cutlass_80_tensorop_s1688gemm_128x64_tn_align4", 52)),
    "exposed-copy": (after(lambda each: each.copy(300, pageable=False)), after(lambda each: None)),
    "copy-cast": (lambda each: [(each.kernel(GEMM, 100), each.kernel(CAST, 50)) for _ in range(20)], lambda each: [each.kernel(GEMM, 100) for _ in range(20)]),
}
LOOSE = {"fp32-matmul", "unaligned-matmul", "unfused-attention", "pageable-copy"}  # bounds whose mended kernels may be slower than the bound assumes


def diagnose(options, model, folder, *words):
    done = run([options.tracetool, "diagnose", model.write(os.path.join(folder, "rank0.json")), *words, "--format", "json"])
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr, "findings": [], "not_checked": []}


def saving_of(diagnosis, rule):
    return next((each["saving_ns"] for each in diagnosis["findings"] if each["rule"] == rule), None)


def check_mended(options, folder):
    for rule, (fault, mended) in MENDED.items():
        for steps in (True, False):
            if not steps and rule in (*ALLOCATIONS, "single-tensor-optimizer"):
                continue
            slow, fast = program(fault, steps=steps), program(mended, steps=steps)
            found, healthy = diagnose(options, slow, folder, "--time", "0s-"), diagnose(options, fast, folder, "--time", "0s-")
            # From the first GPU work on; of allocations those of the first two steps are usual, of which one comes before it.
            gain, saving = 1000 * ((slow.free - slow.first) - (fast.free - fast.first)), saving_of(found, rule) or 0
            gain *= (STEPS - 2) / (STEPS - 1) if rule in ALLOCATIONS else 1
            check(saving >= 0.98 * gain > 0, f"{rule}: the saving is an upper bound", (saving, gain, found))
            check(saving <= (2 if rule in LOOSE else 1.2) * gain, f"{rule}: and not much more", (saving, gain))
            check(saving_of(healthy, rule) is None, f"{rule}: silent when mended", healthy)
            if not found.get("steps"):
                check(not any("a step" in each["title"] for each in found["findings"]), f"{rule}: no word of steps where there are none", found)


def check_caches(options, folder):
    """An emptied cache. It causes the allocation after it, too."""
    def empties(model):
        model.empty_cache(40, 10)
        model.within("aten::empty", lambda each: (each.python(1), each.call("cudaMalloc", 300)), "cpu_op")
    slow, fast = program(after(empties)), program(after(lambda each: None))
    found = diagnose(options, slow, folder, "--time", "0s-")
    gain = 1000 * ((slow.free - slow.first) - (fast.free - fast.first)) * (STEPS - 2) / (STEPS - 1)
    saving = saving_of(found, "allocation-retries") or 0
    check(0.98 * gain <= saving <= 1.2 * gain, "allocation-retries: an emptied cache", (saving, gain, found))
    check(saving_of(found, "allocation-in-step") is None, "and no second finding", found)


def check_one_gap(options, folder):
    both = program(lambda each: (layers(each), each.sync(), each.load(6000)))
    found = diagnose(options, both, folder)
    rules = {each["rule"] for each in found["findings"]} & GAP_RULES
    check(rules == {"data-starved"}, "a wait before data is loaded is no second finding", found)
    for seed in range(12):
        choose = random.Random(seed)
        parts = [lambda each: each.load(choose.randint(0, 3000)), lambda each: each.collect(choose.randint(0, 2000)), lambda each: each.sync(), lambda each: each.python(choose.randint(0, 1500)),
                 lambda each: each.release(choose.randint(1, 300)), lambda each: each.retry(choose.randint(1, 60), 8), lambda each: each.copy(choose.randint(10, 900), True), tiny,
                 lambda each: each.within("Optimizer.step#SGD.step", lambda inner: [inner.kernel("sgd", 4, cost=9) for _ in range(choose.choice((50, 250)))])]

        def body(each):
            for _ in range(6):
                choose.choice(parts)(each)
                layers(each, choose.randint(1, 6), choose.choice((5, 50, 200)))
        model = program(body)
        found = diagnose(options, model, folder, "--time", "0s-")
        copies = sum(event["dur"] for event in model.events if event["cat"] == "gpu_memcpy") if saving_of(found, "pageable-copy") else 0
        total = sum(each["saving_ns"] for each in found["findings"] if each["rule"] in GAP_RULES)
        check(0 < total <= 1000 * (model.idle + copies) + 1000, f"seed {seed}: findings of idle time together are no more than it is", (total, model.idle, copies, found))


def check_queue(options, folder):
    def far_ahead(model):
        for _ in range(500):
            model.kernel(GEMM, 50)
    ahead = diagnose(options, program(far_ahead), folder)
    check(saving_of(ahead, "launch-queue-full") == 0, "a full launch queue is told, and saves nothing", ahead)
    check(saving_of(ahead, "launch-bound") is None, "and is no launch overhead", ahead)
    text = run([options.tracetool, "diagnose", os.path.join(folder, "rank0.json")]).stdout
    check("saving:  none; this is an observation" in text, "an observation says so", text)
    near = diagnose(options, program(lambda each: (far_ahead(each), each.sync())), folder)
    check(saving_of(near, "launch-queue-full") is None, "a host that is 500 launches ahead is healthy", near)


def check_silent(options, folder):
    """What looks like it and is not."""
    def loss(model):
        for _ in range(20):
            model.kernel("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn", 60, op="aten::mm")
            model.kernel(LOG_SOFTMAX, 100, op="aten::_log_softmax")
            model.kernel("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn", 60, op="aten::mm")

    def router(model):
        for _ in range(20):
            model.kernel("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn", 60, op="aten::mm")
            model.kernel(SOFTMAX, 100, op="aten::_softmax")
            model.kernel("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn", 60, op="aten::mm")
    for what, body in (("a loss", loss), ("a router", router)):
        found = diagnose(options, program(body), folder)
        check(saving_of(found, "unfused-attention") is None, f"{what} is no attention", found)
    found = diagnose(options, program(attention, operators=False), folder)
    check(saving_of(found, "unfused-attention") is not None, "attention by the names of kernels alone", found)
    for name in ("cutlass_80_tensorop_s1688gemm_128x64_tn_align4", "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_64x3_nn_align8", "cutlass_80_simt_sgemm_128x32_8x5_nn_align1",
                 "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage3_warpsize2x2x1_tensor16x8x16_aligna8_alignc4_execute_kernel__51_cublas"):
        found = diagnose(options, program(of_kernel(name, 200)), folder)
        check(saving_of(found, "unaligned-matmul") is None, f"{name}: aligned, or no tensor cores", found)
    shaped = {"Input Dims": [[4096, 512], [512, 1003]], "Input type": ["c10::BFloat16", "c10::BFloat16"], "External id": 5}
    model = Model()
    for step in range(STEPS):
        model.step(lambda each: [each.kernel("nvjet_tst_128x64", 200, op="aten::mm", args=shaped) for _ in range(4)])
    for event in model.events:
        if event["cat"] == "kernel":
            event["args"]["External id"] = 5
    found = diagnose(options, model, folder)
    check(any("aten::mm of 4096x512 * 512x1003" in each["title"] for each in found["findings"] if each["rule"] == "unaligned-matmul"), "by the operator's shape", found)
    check_saving_ends_at_roof(options, folder)


def check_saving_ends_at_roof(options, folder):
    """A product that writes much gets no shorter than the memory allows, however its rows are aligned."""
    us, calls = 1000, 10
    dims = {"Input Dims": [[16, 5185, 64], [16, 64, 5185]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}
    model = Model(gpu="NVIDIA H100 80GB HBM3")
    model.step(lambda each: [each.kernel("void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1>(int)", us, op="aten::bmm", args=dims | {"External id": i + 1})
                             for i in range(calls)])
    for i, event in enumerate(event for event in model.events if event["cat"] == "kernel"):
        event["args"]["External id"] = i + 1
    moved_ns = 2 * (2 * 16 * 5185 * 64 + 16 * 5185 * 5185) / 3350
    saving = saving_of(diagnose(options, model, folder), "unaligned-matmul")
    check(saving is not None and abs(saving - calls * (1000 * us - moved_ns)) <= calls, "unaligned-matmul: down to the roof", (saving, moved_ns))


def check_earlier_work(options, folder):
    """Work that waits as the first of its stream, and work that waits for something else."""
    for stream, known in ((7, True), (9, False)):
        model = Model()
        model.kernel("k", 1000)
        model.slice("cuda_runtime", "cudaLaunchKernel", 10, 15, correlation=77)
        model.slice("kernel", "k", 50_000, 51_000, 0, stream, device=0, stream=stream, correlation=77)
        found = [each for each in diagnose(options, model, folder)["findings"] if each["rule"] == "gpu-idle"]
        check(len(found) == 1 and (found[0]["saving_ns"] is not None) == known, f"gpu-idle before work of stream {stream}", found)


def check_before_first_work(options, folder):
    """The GPU waits for its first work, too, from the start of the step that launches it on."""
    model = Model()
    for step in range(3):
        model.step(lambda each: (each.load(5000), each.kernel("k", 1000), each.sync()))
    starved = {words: saving_of(diagnose(options, model, folder, *words), "data-starved") for words in ((), ("--steps", "0-2"), ("--time", "0ms-"))}
    check_earlier_work(options, folder)
    check(list(starved.values()) == [15_000_000, 15_000_000, 10_000_000], "data-starved: before the first work", starved)
    model = Model()
    model.launches = False
    for _ in range(20):
        model.kernel(CAST, 50)
    model.launches = True
    model.step(lambda each: [(each.kernel(GEMM, 100), each.kernel(CAST, 50)) for _ in range(20)])
    cast = saving_of(diagnose(options, model, folder), "copy-cast")
    check(cast == 1_000_000, "copy-cast: without what was launched before the trace", cast)


def check_not_checked(options, folder):
    def reasons(model, *words):
        return {each["rule"]: each["reason"] for each in diagnose(options, model, folder, *words)["not_checked"]}
    whole = reasons(program(layers))
    check(not {"host-sync", "data-starved", "launch-bound", "step-outlier"} & set(whole), "a whole trace: idle time is looked at", whole)
    check(whole.get("garbage-collection") == "no Python garbage collections in the trace" and whole.get("memory-peak") == "no memory events in the trace", "what is not recorded is said", whole)
    blind = reasons(program(layers, launches=False))
    check(all(blind.get(rule) == "no launch calls in the trace" for rule in ("host-sync", "launch-bound", "launch-queue-full", "data-starved")), "no launches", blind)
    check(reasons(program(lambda each: [each.kernel(GEMM, 50) for _ in range(9)], steps=False, operators=False)).get("data-starved") == "no operators or ranges in the trace", "no operators")
    check(reasons(program(layers, steps=False)).get("step-outlier") == "no steps found", "no steps")
    alone = reasons(program(layers))
    check(alone.get("comm-slow") == "no collectives in the trace", "no collectives", alone)
    text = run([options.tracetool, "diagnose", program(layers, launches=False).write(os.path.join(folder, "rank0.json"))]).stdout
    line = next((line for line in text.splitlines() if line.startswith("not checked (no launch calls in the trace): ")), "")
    check("host-sync" in line and "launch-bound" in line, "a line for each reason", text)
    empty = reasons(Model())
    check("no GPU work in the trace" in empty.values() or not empty, "no GPU work", empty)


def check_sources(options, folder):
    listed = run([options.tracetool, "diagnose", "--list"]).stdout.splitlines()[1:]
    wrong = [line for line in listed if not line.startswith(("straggler", "comm-exposed")) and "https://" not in line and "docs/" not in line]
    check(len(listed) > 20 and not wrong, "each rule names a document that a reader can open", wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tracetool", required=True)
    options = parser.parse_args()
    with Folder() as folder:
        for each in (check_mended, check_caches, check_one_gap, check_queue, check_silent, check_before_first_work, check_not_checked, check_sources):
            each(options, folder)
    finish()


if __name__ == "__main__":
    main()
