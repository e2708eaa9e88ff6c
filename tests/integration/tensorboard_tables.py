"""What TensorBoard's PyTorch plugin shows of a folder of Kineto files, as one JSON document on stdout: {worker: {view:
tables}}; run by the Python that has torch_tb_profiler.

  tensorboard_tables.py FOLDER
"""
import json
import logging
import re
import sys

# Not tables: a folder of its own, and objects that the tables are made of.
LEFT_OUT = {"trace_file_path", "memory_snapshot", "tid2tree", "pl_tid2tree"}


def plain(value):
    """Kineto's older files have whole microseconds without decimals, and the plugin shows them as they are spelled."""
    text = json.dumps(value, default=lambda each: getattr(each, "__dict__", repr(each)), sort_keys=True)
    return json.loads(re.sub(r"(\d)\.0(?!\d)", r"\1", text))


def main():
    logging.disable(logging.CRITICAL)
    from torch_tb_profiler.io.cache import Cache
    from torch_tb_profiler.profiler.loader import RunLoader
    with Cache() as cache:
        run = RunLoader("run", sys.argv[1], cache).load()
    found = {str(key): {name: plain(value) for name, value in vars(profile).items() if name not in LEFT_OUT}
             for key, profile in run.profiles.items()}
    json.dump(found, sys.stdout, sort_keys=True)


if __name__ == "__main__":  # the plugin starts processes that import this
    main()
