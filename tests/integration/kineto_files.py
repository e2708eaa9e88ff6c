"""Reads Kineto's files by rules of its own, for comparison: every number exact, every event as one hashable value."""
import collections
import decimal
import gzip
import json


def load(path):
    """(members but the events, events); a file that is an array of events has no members."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    trace = json.loads(data, parse_float=decimal.Decimal)
    if isinstance(trace, list):
        return {}, trace
    events = trace.pop("traceEvents")
    return trace, events


PLAIN = {str, int, decimal.Decimal}  # what nearly all is: looked at where it stands, without a call for each


def frozen(value):
    if isinstance(value, dict):
        return tuple((key, each if type(each) in PLAIN else frozen(each)) for key, each in sorted(value.items()))
    if isinstance(value, list):
        return tuple(each if type(each) in PLAIN else frozen(each) for each in value)
    if isinstance(value, (bool, type(None))):
        return str(value)  # True is not 1
    return value


def multiset(events):
    return collections.Counter(frozen(event) for event in events)
