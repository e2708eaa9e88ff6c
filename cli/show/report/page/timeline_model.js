// The timeline's data: what the page holds as JSON, decoded into rows that can be searched by time.

// A row holds slices that are apart, by time: where one starts, the one before has ended.
class TimelineRow {
  constructor(track, group) {
    this.track = track;
    this.group = group;
    this.starts = [];
    this.ends = [];
    this.names = [];
  }
  add(start, end, name) {
    this.starts.push(start);
    this.ends.push(end);
    this.names.push(name);
  }
  finish() {
    this.starts = Float64Array.from(this.starts);
    this.ends = Float64Array.from(this.ends);
    this.names = Uint32Array.from(this.names);
    return this;
  }
  // The first index from `low` on that starts at `time` or later.
  firstFrom(time, low = 0) {
    let step = 1, high = low;
    while (high < this.starts.length && this.starts[high] < time) {
      low = high + 1;
      high += step;
      step *= 2;
    }
    high = Math.min(high, this.starts.length);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.starts[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  // The first index that ends after `time`.
  firstAfter(time) {
    const next = this.firstFrom(time);
    return next > 0 && this.ends[next - 1] > time ? next - 1 : next;
  }
}

class TimelineModel {
  constructor(data) {
    this.inputs = data.inputs;  // as words of a command
    this.step = data.step;
    this.start = data.start;    // of what is shown, since the start of the trace; all other times are since then
    this.length = data.length;
    this.part = data.part;
    this.steps = data.steps;    // [number, start, end], since the start of the trace
    this.colors = data.colors;  // [word, name in the palette]
    this.names = data.names.map(([text, kind, color]) => ({text, kind, color}));
    this.first = 0;
    this.last = data.length;
    this.groups = data.ranks.map(rank => this.group(rank));
  }

  group(rank) {
    const group = {rank: rank.rank, name: rank.name, devices: rank.devices || [], tracks: []};
    group.title = rank.rank === null ? rank.name : "rank " + rank.rank;
    for (const {name, gpu, lanes} of rank.tracks || []) {
      const track = {name, gpu: gpu === 1, rows: []};
      for (const lane of lanes) track.rows.push(...this.rowsOf(lane, track, group));
      group.tracks.push(track);
    }
    const rows = group.tracks.flatMap(track => track.rows);
    group.exposed = rows.filter(row => this.names[row.names[0]].kind === "computed");
    group.work = group.tracks.filter(track => track.gpu).flatMap(track => track.rows).filter(row => this.isWork(row));
    return group;
  }

  // Ranges and synchronizations have rows of their own on a stream.
  isWork(row) {
    return ["kernel", "memcpy", "memset", "graph"].includes(this.names[row.names[0]].kind);
  }

  // Slices of a lane nest: those within another are in a row further down.
  rowsOf(lane, track, group) {
    const rows = [], open = [];
    for (let i = 0, start = 0; i < lane.length; i += 3) {
      start += lane[i];
      const end = start + lane[i + 1];
      while (open.length && open[open.length - 1] <= start) open.pop();
      if (rows.length === open.length) rows.push(new TimelineRow(track, group));
      rows[open.length].add(start, end, lane[i + 2]);
      open.push(end);
      this.first = Math.min(this.first, start);
      this.last = Math.max(this.last, end);
    }
    return rows.map(row => row.finish());
  }

  // Every slice whose name holds the text, by start.
  find(text) {
    const wanted = text.toLowerCase(), chosen = new Set();
    this.names.forEach((name, id) => name.text.toLowerCase().includes(wanted) && chosen.add(id));
    const found = [];
    for (const group of this.groups) {
      for (const track of group.tracks) {
        for (const row of track.rows) {
          for (let at = 0; at < row.names.length; ++at) {
            if (chosen.has(row.names[at])) found.push({row, at});
          }
        }
      }
    }
    found.sort((a, b) => a.row.starts[a.at] - b.row.starts[b.at]);
    return {chosen, found};
  }
}

// Exact to the nanosecond, in the unit that suits `scale`: 12345678 as "12.345678 ms".
const TIMELINE_UNITS = [[1e9, "s", 9], [1e6, "ms", 6], [1e3, "us", 3], [1, "ns", 0]];
function timelineTime(ns, scale = Math.abs(ns), step = 1) {
  const [size, unit, digits] = TIMELINE_UNITS.find(([size]) => scale >= size) || TIMELINE_UNITS[3];
  const needed = Math.max(0, digits - Math.floor(Math.log10(Math.max(1, step)) + 1e-9));
  return (ns / size).toFixed(needed).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") + " " + unit;
}

// 1, 2 or 5 times a power of ten, at least `ns`.
function timelineTick(ns) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, ns)));
  return [1, 2, 5, 10].map(factor => factor * power).find(tick => tick >= ns);
}
