// Brings the timeline to life: zoom, movement, selection, search, links from findings. The data and the canvas are those of
// timeline_model.js and timeline_draw.js.

class Timeline {
  constructor(section) {
    const find = id => document.getElementById(id);
    this.section = section;
    this.scroll = find("tl-scroll");
    this.canvas = find("tl-canvas");
    this.spacer = find("tl-height");
    this.said = find("tl-said");
    this.tip = find("tl-tip");
    this.search = find("tl-search");
    this.found = find("tl-found");
    this.openAll = find("tl-open");
    this.model = new TimelineModel(JSON.parse(find("timeline-data").textContent));
    find("tl-live").hidden = false;
    section.classList.add("live");
    this.drawing = new TimelineDrawing(this.model, section, this.canvas);
    this.view = {from: 0, to: this.model.length};
    this.opened = new Set(this.model.groups.length === 1 ? this.model.groups : []);
    this.selected = this.chosen = this.mark = null;
    this.matches = [];
    this.match = -1;
    this.pointers = new Map();
    this.frames = [];  // how long the newest took, in ms
    this.listen(find);
    this.layOut();
    this.follow(false);
  }

  listen(find) {
    const on = (target, event, call, options) => target.addEventListener(event, call.bind(this), options);
    on(this.canvas, "wheel", this.wheel, {passive: false});
    on(this.canvas, "pointerdown", this.down);
    on(this.canvas, "pointermove", this.move);
    on(this.canvas, "pointerup", this.up);
    on(this.canvas, "pointercancel", this.up);
    on(this.canvas, "pointerleave", () => this.tip.hidden = true);
    on(this.canvas, "dblclick", this.doubleClick);
    on(this.canvas, "keydown", this.key);
    on(this.scroll, "scroll", this.redraw);
    on(find("tl-in"), "click", () => this.zoom(0.5));
    on(find("tl-out"), "click", () => this.zoom(2));
    on(find("tl-fit"), "click", this.fit);
    on(find("tl-next"), "click", () => this.step(1));
    on(find("tl-previous"), "click", () => this.step(-1));
    on(this.openAll, "click", this.toggleAll);
    on(this.search, "input", this.searched);
    on(this.search, "keydown", event => event.key === "Enter" && this.step(event.shiftKey ? -1 : 1));
    on(window, "hashchange", () => this.follow(true));
    on(document, "click", this.followAgain);
    on(window.matchMedia("(prefers-color-scheme: dark)"), "change", this.recolor);
    new ResizeObserver(() => this.layOut()).observe(this.scroll);
  }

  // Lines, sizes and then a frame.
  layOut() {
    const width = this.scroll.clientWidth;
    this.drawing.layout(this.opened);
    const height = Math.min(this.drawing.total + 4, Math.max(240, Math.round(window.innerHeight * 0.7)));
    this.scroll.style.height = height + 2 + "px";
    this.spacer.style.height = Math.max(0, this.drawing.total + 4 - height) + "px";
    if (width !== this.drawing.width || height !== this.drawing.height || window.devicePixelRatio !== this.drawing.ratio) this.drawing.resize(width, height);
    this.openAll.textContent = this.opened.size === this.model.groups.length ? "Close all" : "Open all";
    this.redraw();
  }
  recolor() {
    this.drawing.readColors();
    this.redraw();
  }
  // One frame, however many ask for it.
  redraw() {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.draw();
    });
  }
  draw() {
    const begin = performance.now();
    this.drawing.draw({view: this.view, top: this.scroll.scrollTop, selected: this.selected, chosen: this.chosen, mark: this.mark});
    this.frames.push(performance.now() - begin);
    if (this.frames.length > 100) this.frames.shift();
  }

  // Within what there is, with a margin.
  show(from, to) {
    const margin = (this.model.last - this.model.first) * 0.05, low = this.model.first - margin, high = this.model.last + margin;
    const span = Math.min(Math.max(to - from, 20), high - low);
    const at = Math.min(Math.max((from + to - span) / 2, low), high - span);
    this.view = {from: at, to: at + span};
    this.redraw();
  }
  fit() {
    this.show(0, this.model.length);
  }
  zoom(factor, x = (this.drawing.gutter + this.drawing.width) / 2) {
    const {from, to} = this.view, share = Math.min(1, Math.max(0, (x - this.drawing.gutter) / this.drawing.plot));
    const center = from + (to - from) * share, span = Math.max(20, (to - from) * factor);
    this.show(center - span * share, center + span * (1 - share));
  }
  pan(share) {
    const by = (this.view.to - this.view.from) * share;
    this.show(this.view.from + by, this.view.to + by);
  }

  // As in other viewers of traces: the wheel scrolls, with Ctrl (which a pinch on a touchpad sends, too) it zooms, across it moves.
  wheel(event) {
    const across = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) {
      this.zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY)) * 0.004), event.offsetX);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.pan(across / this.drawing.plot);
    } else {
      return;
    }
    event.preventDefault();
  }

  down(event) {
    this.pointers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
    if (this.pointers.size === 1) this.moved = 0;
    this.canvas.setPointerCapture(event.pointerId);
  }
  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.hover(event);
    const now = {x: event.offsetX, y: event.offsetY};
    this.moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (this.pointers.size === 2) {
      this.pinch(before, now, event.pointerId);
    } else if (this.moved > 4) {
      this.tip.hidden = true;
      this.pan((before.x - now.x) / this.drawing.plot);
      if (event.pointerType === "mouse") this.scroll.scrollTop += before.y - now.y;
    }
    this.pointers.set(event.pointerId, now);
  }
  pinch(before, now, id) {
    const other = [...this.pointers].find(([key]) => key !== id)[1];
    const distance = Math.max(8, Math.abs(now.x - other.x)), old = Math.max(8, Math.abs(before.x - other.x));
    this.zoom(old / distance, (now.x + other.x) / 2);
  }
  up(event) {
    const was = this.pointers.delete(event.pointerId);
    if (was && event.type === "pointerup" && this.moved <= 4 && this.pointers.size === 0) this.click(event);
  }
  click(event) {
    const hit = this.drawing.hit(event.offsetX, event.offsetY);
    if (hit && hit.line.kind === "head") return this.toggle(hit.line.group);
    if (hit && hit.part !== undefined) return this.say(this.usageText(hit));
    this.select(hit && hit.row ? hit : null);
  }
  doubleClick(event) {
    const hit = this.drawing.hit(event.offsetX, event.offsetY);
    if (hit && hit.row) this.focus(hit);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      w: () => this.zoom(0.7), "+": () => this.zoom(0.7), "=": () => this.zoom(0.7),
      s: () => this.zoom(1 / 0.7), "-": () => this.zoom(1 / 0.7),
      a: () => this.pan(-0.15), ArrowLeft: () => this.pan(-0.15),
      d: () => this.pan(0.15), ArrowRight: () => this.pan(0.15),
      ArrowUp: () => this.scroll.scrollTop -= 60, ArrowDown: () => this.scroll.scrollTop += 60,
      Home: () => this.fit(), f: () => this.selected && this.focus(this.selected),
      ",": () => this.neighbour(-1), ".": () => this.neighbour(1),
      Escape: () => this.select(null),
    };
    const call = keys[event.key] || keys[event.key.toLowerCase()];
    if (!call) return;
    call();
    event.preventDefault();
  }
  neighbour(by) {
    if (!this.selected) return;
    const {row, at} = this.selected;
    if (row.starts[at + by] === undefined) return;
    this.select({row, at: at + by});
    this.reveal(row, at + by);
  }

  toggle(group) {
    if (!this.opened.delete(group)) this.opened.add(group);
    this.layOut();
  }
  toggleAll() {
    this.opened = new Set(this.opened.size === this.model.groups.length ? [] : this.model.groups);
    this.layOut();
  }

  select(slice) {
    this.selected = slice && {row: slice.row, at: slice.at};
    this.say(slice ? this.sliceText(slice.row, slice.at).join(", ") : "");
    this.redraw();
  }
  // Makes it half of what is shown.
  focus({row, at}) {
    const length = Math.max(row.ends[at] - row.starts[at], 10);
    this.show(row.starts[at] - length / 2, row.ends[at] + length / 2);
  }
  // Its row is in sight, and its time.
  reveal(row, at) {
    if (!this.opened.has(row.group)) {
      this.opened.add(row.group);
      this.layOut();
    }
    const line = this.drawing.lines.find(l => l.row === row), top = this.scroll.scrollTop;
    if (line.y < top + TIMELINE.ruler || line.y + line.height > top + this.drawing.height) this.scroll.scrollTop = line.y - this.drawing.height / 2;
    if (row.starts[at] >= this.view.from && row.ends[at] <= this.view.to) return this.redraw();
    const span = Math.max(this.view.to - this.view.from, (row.ends[at] - row.starts[at]) * 1.5), middle = (row.starts[at] + row.ends[at]) / 2;
    this.show(middle - span / 2, middle + span / 2);
  }

  say(text) {
    this.said.textContent = text;
  }
  sliceText(row, at) {
    const name = this.model.names[row.names[at]], start = row.starts[at];
    return [name.text, name.kind, timelineTime(row.ends[at] - start) + " long", "from " + timelineTime(start) + (this.model.step === null ? "" : " of the step"),
            timelineTime(this.model.start + start) + " after the start of the trace", row.group.title, row.track.name];
  }
  usageText({line, part}) {
    const {device} = line, from = part * this.model.part, length = Math.min(this.model.part, this.model.length - from), percent = ns => (100 * ns / length).toFixed(1) + " %";
    return [line.group.title, timelineTime(length) + " from " + timelineTime(from), "busy " + percent(device.busy[part]), "compute " + percent(device.compute[part]),
            "communication " + percent(device.comm[part]) + ", exposed " + percent(device.exposed[part]), "copies and memsets " + percent(device.memory[part])].join(", ");
  }

  hover(event) {
    const hit = this.drawing.hit(event.offsetX, event.offsetY), tip = this.tip;
    const lines = hit && hit.row ? this.sliceText(hit.row, hit.at) : hit && hit.part !== undefined ? [this.usageText(hit)] : hit && event.offsetX < this.drawing.gutter ? [hit.line.group.name, hit.line.track ? hit.line.track.name : ""] : null;
    this.canvas.style.cursor = hit && hit.line.kind === "head" ? "pointer" : hit ? "default" : "";
    tip.hidden = !lines;
    if (!lines) return;
    tip.replaceChildren(...lines.filter(line => line).map(line => {
      const part = document.createElement("div");
      part.textContent = line;
      return part;
    }));
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, room)) + "px";
    tip.style.top = (event.clientY + 18 + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18) + "px";
  }

  searched() {
    const text = this.search.value.trim(), result = text ? this.model.find(text) : {chosen: null, found: []};
    this.chosen = result.chosen;
    this.matches = result.found;
    this.match = -1;
    this.found.textContent = !text ? "" : this.matches.length + (this.matches.length === 1 ? " slice" : " slices");
    this.redraw();
  }
  // The first is that behind what is selected, or in sight.
  step(by) {
    if (!this.matches.length) return;
    if (this.match < 0 && by > 0) {
      const from = this.selected ? this.selected.row.starts[this.selected.at] : this.view.from;
      this.match = Math.max(0, this.matches.findIndex(({row, at}) => row.starts[at] >= from)) - 1;
    }
    if (this.match < 0 && by < 0) this.match = this.matches.length;
    this.match = (this.match + by + this.matches.length) % this.matches.length;
    const {row, at} = this.matches[this.match];
    this.found.textContent = (this.match + 1) + " of " + this.matches.length;
    this.select({row, at});
    this.reveal(row, at);
    if ((row.ends[at] - row.starts[at]) * this.drawing.width < 30 * (this.view.to - this.view.from)) this.closeUp(row, at);
  }
  closeUp(row, at) {
    const length = Math.max(10, row.ends[at] - row.starts[at]), middle = (row.starts[at] + row.ends[at]) / 2;
    this.show(middle - length * 10, middle + length * 10);
  }

  // A link to where the page is already changes nothing, of which a browser would tell.
  followAgain(event) {
    const link = event.target.closest && event.target.closest("a[href^='#t=']");
    if (link && link.hash === location.hash) this.follow(true);
  }
  // What shows these times, which this page does not. A time ends later than it begins, and begins with the trace.
  elsewhere(from, to) {
    const step = this.model.steps.find(([, start, end]) => start <= from && from < end);
    const begin = Math.max(0, from), time = "--time " + begin + "ns-" + Math.max(to, begin + 1) + "ns", {inputs} = this.model;
    const command = "tracetool report " + inputs + (step ? " --step " + step[0] + " -o step" + step[0] + ".html" : " " + time + " -o part.html");
    return timelineTime(from) + " after the start of the trace is outside the time shown. To see it: " + command + ", or tracetool export " + inputs + " " + time + " -o part.json";
  }
  // "#t=START-END&rank=R", in ns since the start of the trace.
  follow(scrolls) {
    const said = /^#t=(-?\d+)-(-?\d+)(?:&rank=(\d+))?$/.exec(location.hash);
    if (!said) return;
    this.section.scrollIntoView();
    const from = Number(said[1]) - this.model.start, to = Number(said[2]) - this.model.start;
    if (to <= 0 || from >= this.model.length) {
      this.say(this.elsewhere(Number(said[1]), Number(said[2])));
      return;
    }
    const group = said[3] === undefined ? null : this.model.groups.find(g => g.rank === Number(said[3]));
    this.mark = {from, to, group: group || null};  // null: of all ranks
    if (group && !group.devices.length) this.opened.add(group);
    this.layOut();
    const line = group && this.drawing.lines.find(l => l.group === group);
    if (line) this.scroll.scrollTop = line.y - TIMELINE.ruler;
    const margin = Math.max(50, (to - from) * 0.25);
    this.show(from - margin, to + margin);
    this.say(timelineTime(to - from) + " from " + timelineTime(from + this.model.start) + " after the start of the trace" + (said[3] === undefined ? "" : ", rank " + said[3] + (group ? "" : " (not in this report)")));
    if (scrolls) this.canvas.focus({preventScroll: true});
  }
}

document.addEventListener("DOMContentLoaded", () => {
  const section = document.getElementById("timeline");
  if (section) section.timeline = new Timeline(section);
});
