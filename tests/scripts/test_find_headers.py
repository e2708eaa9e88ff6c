#!/usr/bin/env python3
"""scripts/cuda/find_headers.py over made-up folders: the order of search, and what may be mixed."""
import importlib.util
import os
import tempfile
import unittest
from unittest import mock

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "cuda", "find_headers.py")


def load(path):
    spec = importlib.util.spec_from_file_location("find_headers", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class FindHeaders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = folder.name
        os.makedirs(f"{self.top}/scripts/cuda")
        with open(SCRIPT, encoding="utf-8") as real, open(f"{self.top}/scripts/cuda/find_headers.py", "w") as copy:
            copy.write(real.read())
        self.module = load(f"{self.top}/scripts/cuda/find_headers.py")
        self.module.DEFAULT_ROOT = f"{self.top}/default"
        paths = mock.patch.object(self.module.sysconfig, "get_paths", lambda: {"purelib": f"{self.top}/site"})
        paths.start()
        self.addCleanup(paths.stop)

    def put(self, folder, *headers):
        for header in headers:
            path = f"{self.top}/{folder}/{header}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "w").close()

    def put_toolkit(self, root):
        self.put(f"{root}/include", *self.module.CUDA, *self.module.NVTX)

    def find(self, given="", home=""):
        with mock.patch.dict(os.environ, {"CUDA_HOME": home and f"{self.top}/{home}"}):
            folders, missing = self.module.find(given and f"{self.top}/{given}")
        return [os.path.relpath(folder, self.top) for folder in folders], missing

    def test_order(self):
        everywhere = [".venv/lib/python3.11/site-packages/nvidia/cu13", "site/nvidia/cu13", "default", "home", "given"]
        for number, root in enumerate(everywhere):
            self.put_toolkit(root)
            found = self.find("given" if root == "given" else "", "home" if number >= 3 else "")
            self.assertEqual(found, ([f"{root}/include"], []))

    def test_nothing(self):
        self.assertEqual(self.find(), ([], self.module.CUDA))

    def test_given_root_is_not_replaced(self):
        self.put_toolkit("default")
        self.assertEqual(self.find("given"), ([], self.module.CUDA))

    def test_home_that_lacks_them_is_passed_over(self):
        self.put("home/include", "cuda.h")
        self.put_toolkit("default")
        self.assertEqual(self.find(home="home"), (["default/include"], []))

    def test_cupti_beside_the_toolkit(self):
        self.put("default/include", *self.module.CUDA[:3], *self.module.NVTX)
        self.put("default/extras/CUPTI/include", "cupti.h")
        self.assertEqual(self.find()[0], ["default/include", "default/extras/CUPTI/include"])

    def test_cuda_and_cupti_are_never_mixed(self):
        self.put("home/include", *self.module.CUDA[:3])
        self.put("default/include", "cupti.h")
        self.assertEqual(self.find(home="home"), ([], self.module.CUDA))

    def test_split_wheels(self):
        site = ".venv/lib/python3.11/site-packages/nvidia"
        self.put(f"{site}/cuda_runtime/include", "cuda.h", "cuda_runtime_api.h")
        self.put(f"{site}/cuda_nvcc/include", "crt/host_defines.h")
        self.put(f"{site}/cuda_cupti/include", "cupti.h")
        self.put(f"{site}/nvtx/include", *self.module.NVTX)
        self.assertEqual({os.path.dirname(folder) for folder in self.find()[0]},
                         {f"{site}/{part}" for part in ("cuda_runtime", "cuda_nvcc", "cuda_cupti", "nvtx")})

    def test_old_nvtx_is_replaced_and_hidden(self):
        self.put("default/include", *self.module.CUDA, "nvtx3/nvToolsExt.h")
        self.put(".venv/nvtx/nvidia/cu13/include", *self.module.NVTX)
        self.assertEqual(self.find("default")[0], [".venv/nvtx/nvidia/cu13/include", "default/include"])

    def test_nvtx_does_not_bring_another_cuda(self):
        self.put("default/include", *self.module.CUDA)
        self.put_toolkit("site/nvidia/cu13")
        self.assertEqual(self.find(), ([], self.module.NVTX))


if __name__ == "__main__":
    unittest.main()
