// Interactive additions: sort and filter tables, fold long sections, mark the current
// section, show the values of marks. Without this script the page is complete.
(() => {
  "use strict";
  const words = document.getElementById("main").dataset;
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const made = (tag, attributes, ...inside) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...inside);
    return node;
  };

  // Tables: numbers are sorted by their full precision, words by the locale's order.
  const collator = new Intl.Collator("en", { numeric: true });
  function number(cell) {
    const exact = (cell.matches("[data-v]") ? cell : cell.querySelector("[data-v]"))?.dataset.v;
    const text = cell.textContent.trim().replace(/\u2212/g, "-").replace(/[\s\u202f]/g, "").replace(/^[<>≤≥]/, "");
    return parseFloat(exact ?? text);
  }
  function sorter(table) {
    const body = table.tBodies[0];
    const printed = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    const sort = (place, order) => {
      const isNumber = heads[place].matches(".n");
      const rows = printed.map((row) => [row, isNumber ? number(row.cells[place]) : row.cells[place].textContent.trim()]);
      const sign = order === "descending" ? -1 : 1;
      // Cells without number or text come last in either order.
      const isVoid = (key) => (isNumber ? Number.isNaN(key) : key === "");
      const compare = (a, b) => isVoid(a) - isVoid(b) || (isVoid(a) ? 0 : sign * (isNumber ? a - b : collator.compare(a, b)));
      if (order) rows.sort(([, a], [, b]) => compare(a, b));
      body.append(...rows.map(([row]) => row));
    };
    heads.forEach((head, place) => {
      // A link in a head stays a link; only the text before it becomes the button.
      const nodes = [...head.childNodes];
      const link = nodes.findIndex((node) => node.nodeName === "A" || node.querySelector?.("a"));
      const label = link < 0 ? nodes : nodes.slice(0, link);
      if (!label.some((node) => node.textContent.trim())) return;
      const button = made("button", { type: "button", title: words.sort }, ...label);
      head.prepend(button, link < 0 ? "" : " ");
      const orders = head.matches(".n") ? ["descending", "ascending"] : ["ascending", "descending"];
      button.addEventListener("click", () => {
        const next = orders[orders.indexOf(head.getAttribute("aria-sort")) + 1];
        for (const one of heads) one.removeAttribute("aria-sort");
        if (next) head.setAttribute("aria-sort", next);
        sort(place, next);
      });
    });
  }
  function filter(table) {
    const rows = [...table.tBodies[0].rows];
    const field = made("input", { type: "search", autocomplete: "off", spellcheck: "false" });
    const found = made("output", {});
    const look = () => {
      const parts = field.value.toLowerCase().split(/\s+/);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !parts.every((part) => text.includes(part));
      }
      const n = rows.filter((row) => !row.hidden).length;
      found.textContent = field.value.trim() ? words.found.replace("{n}", n).replace("{all}", rows.length) : "";
    };
    field.addEventListener("input", look);
    table.closest(".tw").before(made("div", { class: "filter" }, made("label", {}, `${words.filter} `, field), found));
    return () => {
      field.value = "";
      look();
    };
  }
  const cleared = new Map();
  for (const table of all("table:has(thead)")) {
    if (table.tBodies[0].rows.length > 2) sorter(table);
    if (table.tBodies[0].rows.length > 10) cleared.set(table, filter(table));
  }

  // Reference sections: folded, but open in print and if the address points into them.
  const folds = all("details.fold");
  function reveal(hash) {
    const target = document.getElementById(decodeURIComponent(hash.slice(1)));
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.matches("details")) node.open = true;
    for (const fold of all(":scope > details.fold", target)) fold.open = true;
    if (target.hidden) cleared.get(target.closest("table"))();
  }
  for (const fold of folds) fold.open = false;
  reveal(location.hash);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) reveal(link.hash);
  });
  addEventListener("hashchange", () => {
    reveal(location.hash);
    document.querySelector(":target")?.scrollIntoView();
  });
  let shut = [];
  addEventListener("beforeprint", () => {
    shut = folds.filter((fold) => !fold.open);
    for (const fold of shut) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of shut) fold.open = false;
  });

  // The contents mark the first section that begins in the upper part of the window, else
  // the one that fills it. A section at the end of the page, which cannot be scrolled up, is
  // marked if the address points to it.
  const UPPER = 0.35;
  const entries = all("nav a[href^='#']").map((link) => [link, document.getElementById(link.hash.slice(1))]);
  function mark() {
    const tops = entries.map(([, section]) => section?.getBoundingClientRect().top ?? Infinity);
    const asked = entries.findIndex(([link]) => link.hash === location.hash);
    const isAtEnd = scrollY + innerHeight > document.documentElement.scrollHeight - 2;
    const begins = tops.findIndex((top) => top >= 0 && top < UPPER * innerHeight);
    const isAsked = isAtEnd && tops[asked] >= 0 && tops[asked] < innerHeight;
    const current = isAsked ? asked : begins < 0 ? Math.max(0, tops.findLastIndex((top) => top < 0)) : begins;
    for (const [link] of entries) link.removeAttribute("aria-current");
    entries[current]?.[0].setAttribute("aria-current", "location");
  }
  for (const kind of ["scroll", "resize", "hashchange"]) addEventListener(kind, mark, { passive: true });
  mark();

  // Figures: at the first pointer entry or focus the SVG replaces its image, and the title
  // of the mark under the pointer, or selected by the arrow keys, is shown.
  const REACH = 14;
  function drawn(frame) {
    const image = frame.querySelector("img");
    const bytes = Uint8Array.from(atob(image.src.split(",")[1]), (letter) => letter.charCodeAt(0));
    const svg = new DOMParser().parseFromString(new TextDecoder().decode(bytes), "image/svg+xml").documentElement;
    const marks = all("* > title", svg).map((title) => title.parentNode).filter((mark) => mark !== svg);
    if (!marks.length) return null;
    // In a shadow root, because another drawing may have the same ids.
    const host = made("div", { class: "drawing", role: "img", "aria-label": image.alt });
    svg.style.cssText = "display: block; width: 100%; height: auto";
    const texts = marks.map((mark) => {
      const title = all(":scope > title", mark)[0];
      title.remove(); // or the browser would also show it as a tooltip
      return title.textContent;
    });
    host.attachShadow({ mode: "open" }).append(svg);
    image.replaceWith(host);
    return { svg, marks, texts };
  }
  function follow(frame) {
    const drawing = drawn(frame);
    if (!drawing) return;
    const { svg, marks, texts } = drawing;
    const tip = made("output", { class: "tip" });
    const ring = document.createElementNS(svg.namespaceURI, "rect");
    let shown = -1;
    frame.after(tip);
    const show = (place, more = "") => {
      shown = place;
      tip.textContent = place < 0 ? "" : `${texts[place]} ${more}`.trim();
      ring.remove();
      if (place < 0) return;
      const box = marks[place].getBBox();
      const edge = { x: box.x - 2, y: box.y - 2, width: box.width + 4, height: box.height + 4 };
      for (const [name, value] of Object.entries(edge)) ring.setAttribute(name, value);
      ring.style.cssText = "fill: none; stroke: #15191d; stroke-width: .75; pointer-events: none";
      marks[place].after(ring);
      const [mark, within] = [marks[place].getBoundingClientRect(), frame.parentNode.getBoundingClientRect()];
      tip.style.left = `${Math.max(0, Math.min(mark.right - within.left, within.width - tip.offsetWidth))}px`;
      tip.style.top = `${mark.bottom - within.top + 6}px`;
    };
    frame.addEventListener("pointermove", ({ clientX, clientY }) => {
      let [near, least, size] = [-1, REACH, Infinity];
      marks.forEach((mark, place) => {
        const box = mark.getBoundingClientRect();
        const away = Math.hypot(Math.max(box.left - clientX, 0, clientX - box.right), Math.max(box.top - clientY, 0, clientY - box.bottom));
        const area = box.width * box.height;
        if (away < least || (away === least && area < size)) [near, least, size] = [place, away, area];
      });
      if (near !== shown) show(near);
    });
    frame.addEventListener("pointerleave", () => show(-1));
    frame.addEventListener("blur", () => show(-1));
    frame.addEventListener("focus", () => show(0, words.arrows));
    frame.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (event.key === "Escape") show(-1);
      if (!step) return;
      event.preventDefault();
      show((shown + step + marks.length) % marks.length);
      marks[shown].scrollIntoView({ block: "nearest", inline: "nearest" });
    });
    if (frame.matches(":focus-visible")) show(0, words.arrows);
  }
  for (const frame of all(".fw")) {
    const once = new AbortController();
    const begin = () => {
      once.abort();
      follow(frame);
    };
    for (const kind of ["pointerenter", "focus"]) frame.addEventListener(kind, begin, { signal: once.signal });
  }
})();
