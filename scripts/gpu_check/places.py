"""Where things are: in a checkout (scripts/gpu_check) and in dist/ (gpu_check)."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))  # of a checkout
IN_DIST = os.path.isdir(os.path.join(HERE, "examples"))
EXAMPLES = os.path.join(HERE if IN_DIST else ROOT, "examples")


class Missing(Exception):
    """A file that is needed is not there; the text says which and what to do."""


class Places:
    """agent, tool, capture (the library of raw captures), and with a build its folder and its stand-ins."""

    def __init__(self, dist, build):
        if dist is None and build is None:
            dist, build = (os.path.dirname(HERE), None) if IN_DIST else (None, os.path.join(ROOT, "build"))
        self.build = os.path.abspath(build) if build else None
        home = self.build or os.path.abspath(dist)
        self.agent = os.path.join(home, "agent/libagent.so" if build else "libagent.so")
        self.tool = os.path.join(home, "cli/tracetool" if build else "tracetool")
        self.capture = os.path.join(home, "scripts/gpu_check/capture/libraw_capture.so" if build else
                                    "gpu_check/libraw_capture.so")
        self.standins = os.path.join(home, "examples/simulated_training/standin") if build else None
        for path in (self.agent, self.tool, self.capture):
            if not os.path.exists(path):
                raise Missing(f"there is no {path}; name the folder with --dist or --build")
