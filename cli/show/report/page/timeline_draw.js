// Draws the timeline: a ruler, then lines from top to bottom, each of a rank, a row of slices or the usage of a GPU.

const TIMELINE = {ruler: 24, head: 22, closed: 46, row: 16, track: 5, group: 3, usage: 18, strip: 6};

// Black or white, whichever is better read on this colour.
function timelineInk(color) {
  const [r, g, b] = [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16) / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

class TimelineColors {
  // `words`: [word, name in the palette] of each kind of slice.
  constructor(words, section, context) {
    const style = getComputedStyle(section);
    // A canvas says colours as #rrggbb, however they were written.
    const read = name => {
      context.fillStyle = "#888888";
      context.fillStyle = style.getPropertyValue("--" + name).trim() || "#888888";
      return context.fillStyle;
    };
    Object.assign(this, {text: read("ink"), muted: read("faint"), line: read("line"), background: read("page"), band: read("raised"), select: read("terrible")});
    this.fill = Object.fromEntries(words.map(([word, name]) => [word, read(name)]));
    this.shades = new Map();
    const hatch = this.pattern(context, pen => [-6, 0, 6].forEach(at => (pen.moveTo(at, 6), pen.lineTo(at + 6, 0))));
    const dots = this.pattern(context, pen => pen.arc(3, 3, 0.8, 0, 7));
    this.patterns = {comm: hatch, exposed: hatch, memory: dots};
  }

  // Names of one class differ by a shade towards the text's colour, so that contrast with the background only grows.
  of(name, id) {
    if (!this.shades.has(id)) {
      const mixed = timelineMix(this.fill[name.color] || this.fill.other, this.text, [0, 0.12, 0.24][id % 3]);
      this.shades.set(id, {fill: mixed, faint: timelineMix(mixed, this.background, 0.75), ink: timelineInk(mixed), pattern: this.patterns[name.color]});
    }
    return this.shades.get(id);
  }

  // Marks in the colour of the page, as charts have them.
  pattern(context, trace) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const pen = tile.getContext("2d");
    pen.strokeStyle = this.background + "a0";
    pen.beginPath();
    trace(pen);
    pen.stroke();
    return context.createPattern(tile, "repeat");
  }
}

function timelineMix(a, b, share) {
  const part = at => Math.round(parseInt(a.slice(at, at + 2), 16) * (1 - share) + parseInt(b.slice(at, at + 2), 16) * share);
  return "#" + [1, 3, 5].map(at => part(at).toString(16).padStart(2, "0")).join("");
}

class TimelineDrawing {
  constructor(model, section, canvas) {
    this.model = model;
    this.section = section;
    this.canvas = canvas;
    this.context = canvas.getContext("2d", {alpha: false});
    this.widths = new Map();  // of names, in pixels
    this.width = this.height = this.gutter = 0;
    this.plot = 1;
    this.readColors();
  }
  readColors() {
    this.colors = new TimelineColors(this.model.colors, this.section, this.context);
  }

  resize(width, height) {
    const ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    this.gutter = width < 600 ? 64 : 184;
    this.plot = Math.max(1, width - this.gutter);  // a hidden canvas has no width
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = width + "px";
    this.canvas.style.height = height + "px";
    this.ratio = ratio;
  }

  // What there is from top to bottom, where `opened` holds the groups that show their tracks.
  layout(opened) {
    const lines = [];
    let y = TIMELINE.ruler;
    const add = (kind, height, more) => {
      lines.push({kind, y, height, ...more});
      y += height;
    };
    for (const group of this.model.groups) {
      for (const device of group.devices) add("usage", TIMELINE.usage, {group, device});
      if (group.devices.length) continue;
      const open = opened.has(group);
      add("head", open ? TIMELINE.head : TIMELINE.closed, {group, open});
      if (open) {
        for (const track of group.tracks) {
          track.rows.forEach((row, depth) => add("row", TIMELINE.row, {group, track, row, depth}));
          y += TIMELINE.track;
        }
      }
      y += TIMELINE.group;
    }
    this.lines = lines;
    this.total = y;
  }

  x(time) {
    return this.gutter + (time - this.view.from) * this.scale;
  }
  time(x) {
    return this.view.from + (x - this.gutter) / this.scale;
  }

  // `state`: view {from, to}, top, selected {row, at}, chosen (names), mark {from, to, group}.
  draw(state) {
    this.view = state.view;
    this.scale = this.plot / (state.view.to - state.view.from);
    this.state = state;
    if (this.width <= this.gutter) return;
    const pen = this.context;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.fillStyle = this.colors.background;
    pen.fillRect(0, 0, this.width, this.height);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    this.drawGrid();
    for (const line of this.lines) {
      const y = line.y - state.top;
      if (y + line.height >= TIMELINE.ruler && y <= this.height) this.drawLine(line, y);
    }
    this.drawLimits();
    this.drawRuler();
  }

  drawLine(line, y) {
    this.clipPlot(y, line.height);
    if (line.kind === "row") this.drawRow(line.row, y, TIMELINE.row - 1);
    if (line.kind === "usage") this.drawUsage(line.device, y, TIMELINE.usage - 2);
    if (line.kind === "head") this.drawHead(line, y);
    if (this.state.mark && (this.state.mark.group || line.group) === line.group) this.drawMark(y, line.height);
    this.context.restore();
    this.drawLabel(line, y);
  }
  clipPlot(y, height) {
    const pen = this.context;
    pen.save();
    pen.beginPath();
    pen.rect(this.gutter, Math.max(y, TIMELINE.ruler), this.width - this.gutter, height);
    pen.clip();
  }

  // A closed rank shows one row of work for each GPU, and a strip below it with exposed communication.
  drawHead(line, y) {
    const pen = this.context;
    pen.fillStyle = this.colors.band;
    pen.fillRect(this.gutter, y, this.width, line.height);
    if (line.open) {
      pen.fillStyle = this.colors.muted;
      pen.fillText(line.group.name, this.gutter + 6, y + line.height / 2);
      return;
    }
    if (!line.group.work.length) {
      pen.fillStyle = this.colors.muted;
      pen.fillText("no work of a GPU in this time", this.gutter + 6, y + line.height / 2);
    }
    const {work: rows, exposed} = line.group, strip = exposed.length ? TIMELINE.strip : 0, room = line.height - 4 - strip, height = Math.max(2, Math.floor(room / Math.max(1, rows.length)));
    rows.slice(0, Math.floor(room / height)).forEach((row, at) => this.drawRow(row, y + 2 + at * height, height - (height > 4 ? 1 : 0)));
    for (const row of exposed) this.drawRow(row, y + line.height - 1 - strip, strip);
  }

  // Slices that begin within a pixel that is drawn already are passed over; neighbours of one look are one rectangle.
  drawRow(row, y, height) {
    const {names} = this.model, {chosen, selected} = this.state, right = this.width;
    let run = null;
    for (let at = row.firstAfter(this.view.from); at < row.starts.length;) {
      const from = Math.max(this.x(row.starts[at]), this.gutter - 1), to = Math.min(this.x(row.ends[at]), right + 1);
      if (from > right) break;
      const id = row.names[at], look = this.colors.of(names[id], id), fill = !chosen || chosen.has(id) ? look.fill : look.faint;
      if (to - from < 1.5) {
        const pixel = Math.floor(from);
        if (run && run.fill === fill && pixel <= run.to) {
          run.to = pixel + 1;
        } else {
          this.drawRun(run, y, height);
          run = {from: pixel, to: pixel + 1, fill};
        }
        // Of those that begin in this pixel, the last may reach beyond it.
        const next = row.firstFrom(this.time(pixel + 1), at + 1);
        at = Math.max(at + 1, row.ends[next - 1] > this.time(pixel + 1) ? next - 1 : next);
        continue;
      }
      this.drawRun(run, y, height);
      run = null;
      this.drawSlice(from, to, y, height, names[id], id, look, fill);
      ++at;
    }
    this.drawRun(run, y, height);
    if (selected && selected.row === row) this.drawSelected(row, selected.at, y, height);
  }
  drawRun(run, y, height) {
    if (!run) return;
    this.context.fillStyle = run.fill;
    this.context.fillRect(run.from, y, run.to - run.from, height);
  }
  drawSlice(from, to, y, height, name, id, look, fill) {
    const pen = this.context, width = to - from > 3 ? to - from - 0.5 : to - from;
    pen.fillStyle = fill;
    pen.fillRect(from, y, width, height);
    if (look.pattern && fill === look.fill && width > 3) {
      pen.fillStyle = look.pattern;
      pen.fillRect(from, y, width, height);
    }
    if (width > 24 && height > 10) this.drawText(name.text, id, from + 3, y + height / 2, width - 6, fill === look.fill ? look : null);
  }
  // `look`: null: of a slice that stands back.
  drawText(text, id, x, y, room, look) {
    const pen = this.context;
    if (!this.widths.has(id)) this.widths.set(id, pen.measureText(text).width);
    const width = this.widths.get(id);
    if (look && look.pattern) {
      pen.fillStyle = look.fill;
      pen.fillRect(x - 2, y - 6, Math.min(width, room) + 4, 12);
    }
    pen.fillStyle = look ? look.ink : this.colors.text;
    pen.fillText(width <= room ? text : text.slice(0, Math.max(1, Math.floor(text.length * room / width) - 1)) + "\u2026", x, y);
  }
  drawSelected(row, at, y, height) {
    const from = this.x(row.starts[at]), to = Math.max(this.x(row.ends[at]), from + 2);
    this.context.strokeStyle = this.colors.select;
    this.context.lineWidth = 2;
    this.context.strokeRect(Math.max(from, this.gutter - 4), y + 1, Math.min(to, this.width + 4) - Math.max(from, this.gutter - 4), height - 2);
  }

  // From below: compute, communication without compute, what is left of busy; the rest is idle.
  drawUsage(device, y, height) {
    const {part, length} = this.model, pen = this.context;
    pen.fillStyle = this.colors.band;
    pen.fillRect(this.x(0), y, length * this.scale, height);
    const first = Math.max(0, Math.floor(this.view.from / part)), last = Math.min(device.busy.length, Math.ceil(this.view.to / part));
    for (let at = first; at < last; ++at) {
      const size = Math.min(part, length - at * part), from = this.x(at * part), width = Math.max(1, size * this.scale);
      const levels = [["memory", device.busy[at]], ["exposed", device.compute[at] + device.exposed[at]], ["compute", device.compute[at]]];
      for (const [color, ns] of levels) {
        const tall = height * ns / size;
        if (!tall) continue;
        pen.fillStyle = this.colors.fill[color];
        pen.fillRect(from, y + height - tall, width + 0.3, tall);
        if (color === "exposed" && ns > device.compute[at]) {
          pen.fillStyle = this.colors.patterns.exposed;
          pen.fillRect(from, y + height - tall, width + 0.3, tall);
        }
      }
    }
  }

  drawMark(y, height) {
    const from = this.x(this.state.mark.from), to = Math.max(from + 2, this.x(this.state.mark.to));
    this.context.fillStyle = this.colors.select + "22";
    this.context.fillRect(from, y, to - from, height);
    this.context.fillStyle = this.colors.select;
    for (const x of [from, to - 1]) this.context.fillRect(x, y, 1, height);
  }

  drawLabel(line, y) {
    const pen = this.context;
    pen.save();
    pen.beginPath();
    pen.rect(0, Math.max(y, TIMELINE.ruler), this.gutter - 4, line.height);
    pen.clip();
    if (line.kind === "head") {
      pen.fillStyle = this.colors.band;
      pen.fillRect(0, y, this.gutter, line.height);
      pen.fillStyle = this.colors.text;
      pen.font = "bold 11px system-ui, sans-serif";
      pen.fillText((line.open ? "\u25be " : "\u25b8 ") + line.group.title, 4, y + line.height / 2);
    } else if (line.kind === "usage") {
      pen.fillStyle = this.colors.text;
      pen.fillText(line.group.title + (line.group.devices.length > 1 ? " GPU " + line.device.device : ""), 4, y + TIMELINE.usage / 2);
    } else if (line.depth === 0) {
      pen.fillStyle = this.colors.muted;
      pen.fillText(line.track.name, this.gutter < 100 ? 4 : 14, y + TIMELINE.row / 2);
    }
    pen.restore();
  }

  ticks() {
    const tick = timelineTick(100 / this.scale), ticks = [];
    for (let at = Math.ceil(this.view.from / tick) * tick; at <= this.view.to && ticks.length < 1000; at += tick) ticks.push(at);
    return {tick, ticks};
  }
  drawGrid() {
    this.context.fillStyle = this.colors.line;
    for (const at of this.ticks().ticks) this.context.fillRect(Math.round(this.x(at)), TIMELINE.ruler, 1, this.height);
  }
  drawRuler() {
    const pen = this.context, {tick, ticks} = this.ticks();
    pen.fillStyle = this.colors.background;
    pen.fillRect(0, 0, this.width, TIMELINE.ruler - 1);
    pen.fillStyle = this.colors.line;
    pen.fillRect(0, TIMELINE.ruler - 1, this.width, 1);
    const scale = Math.max(Math.abs(this.view.from), Math.abs(this.view.to));
    for (const at of ticks) {
      const x = Math.round(this.x(at));
      if (x < this.gutter - 1) continue;
      pen.fillStyle = this.colors.muted;
      pen.fillRect(x, TIMELINE.ruler - 7, 1, 7);
      pen.fillStyle = this.colors.text;
      const text = timelineTime(at, scale, tick);
      if (x + 3 + pen.measureText(text).width < this.width) pen.fillText(text, x + 3, TIMELINE.ruler / 2 - 1);
    }
    pen.fillStyle = this.colors.background;
    pen.fillRect(0, 0, this.gutter - 2, TIMELINE.ruler - 1);
    pen.fillStyle = this.colors.muted;
    pen.fillText(timelineTime(Math.round(this.view.to - this.view.from), undefined, timelineTick((this.view.to - this.view.from) / 1000)) + " shown", 4, TIMELINE.ruler / 2 - 1);
  }
  // Where what is shown begins and ends.
  drawLimits() {
    this.context.fillStyle = this.colors.muted;
    for (const at of [0, this.model.length]) {
      const x = Math.round(this.x(at));
      if (x >= this.gutter) this.context.fillRect(x, TIMELINE.ruler, 1, this.height);
    }
  }

  // What is at this place of the canvas: {line, row, at} of a slice, {line, part} of a GPU's usage, {line} of a rank.
  hit(x, y) {
    const line = y < TIMELINE.ruler ? null : this.lines.find(l => y + this.state.top >= l.y && y + this.state.top < l.y + l.height);
    if (!line) return null;
    if (x < this.gutter) return {line};
    const time = this.time(x), slack = 2 / this.scale;
    if (line.kind === "usage") {
      const part = Math.floor(time / this.model.part);
      return part >= 0 && part < line.device.busy.length ? {line, part} : null;
    }
    if (line.kind === "head") return {line};
    let at = line.row.firstAfter(time);
    if (at > 0 && line.row.starts[at] > time && line.row.ends[at - 1] >= time - slack) --at;
    return at < line.row.starts.length && line.row.starts[at] <= time + slack && line.row.ends[at] >= time - slack ? {line, row: line.row, at} : null;
  }
}
