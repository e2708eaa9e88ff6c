// The flame graph. A click on a box zooms to it. A search marks boxes and prints their share of the time.
(() => {
  const graph = document.getElementById("flame-graph");
  if (!graph) return;
  const boxes = [...graph.querySelectorAll(".flame")].map(element => ({
    element, from: parseFloat(element.getAttribute("x")), width: parseFloat(element.getAttribute("width")), row: +element.getAttribute("y"),
    title: element.querySelector("title").textContent, found: false}));
  const nearly = 0.011;  // positions have two decimals

  function zoom(from, width, row) {
    const pixels = graph.clientWidth;
    for (const box of boxes) {
      const isAbove = box.row < row && box.from <= from + nearly && box.from + box.width >= from + width - nearly;
      const isIn = box.row >= row && box.from >= from - nearly && box.from + box.width <= from + width + nearly;
      box.element.classList.toggle("gone", !isAbove && !isIn);
      const wide = isAbove ? 100 : 100 * box.width / width;
      box.element.setAttribute("x", (isAbove ? 0 : 100 * (box.from - from) / width) + "%");
      box.element.setAttribute("width", wide + "%");
      if (isIn && wide / 100 * pixels > 30 && !box.element.querySelector("text")) {
        const text = document.createElementNS(box.element.namespaceURI, "text");
        text.setAttribute("x", 3);
        text.setAttribute("y", 13);
        text.textContent = box.title.slice(0, box.title.lastIndexOf(": "));
        box.element.append(text);
      }
    }
  }

  function search(words) {
    let sum = 0, end = -1;
    for (const box of boxes) {  // parents come first
      box.found = words !== "" && box.title.slice(0, box.title.lastIndexOf(": ")).toLowerCase().includes(words);
      box.element.classList.toggle("found", box.found);
      if (!box.found || box.from < end - nearly) continue;
      sum += box.width;
      end = box.from + box.width;
    }
    document.getElementById("flame-found").textContent = words === "" ? "" : `${sum.toFixed(1)} % of the GPU time`;
  }

  for (const box of boxes) box.element.addEventListener("click", () => zoom(box.from, box.width, box.row));
  document.getElementById("flame-all").addEventListener("click", () => zoom(0, 100, 0));
  document.getElementById("flame-search").addEventListener("input", event => search(event.target.value.trim().toLowerCase()));
  document.getElementById("flame-controls").hidden = false;
  graph.flame = {boxes, zoom, search};
})();
