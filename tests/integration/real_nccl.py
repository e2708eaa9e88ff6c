"""Where a real libnccl is."""
import ctypes.util
import glob
import sys


def find_nccl():
    places = glob.glob("/usr/local/cuda/lib64/libnccl.so.2")
    places += [path for folder in sys.path for path in glob.glob(f"{folder}/nvidia/nccl/lib/libnccl.so.2")]
    return places[0] if places else ctypes.util.find_library("nccl")
