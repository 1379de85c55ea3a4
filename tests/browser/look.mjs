// Looks at pages as readers do, all in one Chromium: reads a job from stdin, prints JSON.
// {"chromium": path, "pages": {name: file}, "whole": [name, ...]}
// -> {name: {axe: {light|dark|narrow}, incomplete, requests, ...}}
// Pages of "whole" are judged by every rule in every mode. The others, which share its
// templates and its style, by every rule but colour in light and by layout at 320 px.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 320, height: 640 };
const PHONE = { width: 390, height: 844 };
const MODES = { light: ["light", WIDE], dark: ["dark", WIDE], narrow: ["light", NARROW] };
const ALL = { runOnly: { type: "tag", values: TAGS } };
const COLOURS = { "color-contrast": { enabled: false }, "link-in-text-block": { enabled: false } };
const LAYOUT = ["target-size", "scrollable-region-focusable", "meta-viewport", "bypass", "region"];
const OWN = {
  light: { ...ALL, rules: COLOURS },
  narrow: { runOnly: { type: "rule", values: LAYOUT } },
};
const job = JSON.parse(readFileSync(0, "utf8"));

const browser = await puppeteer.launch({
  executablePath: job.chromium,
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
});
const seen = {};
for (const [name, file] of Object.entries(job.pages)) {
  seen[name] = await look(pathToFileURL(file).href, job.whole.includes(name));
}
await browser.close();
process.stdout.write(JSON.stringify(seen));

async function look(address, isWhole) {
  const { page, asked } = await opened(address);
  const found = { requests: asked, first: await page.evaluate(firstScreen), keyboard: await keyboard(page) };
  Object.assign(found, await judged(page, isWhole));
  found.overflow = await overflow(page);
  found.touching = {};
  for (const viewport of [NARROW, PHONE, WIDE]) {
    await page.setViewport(viewport);
    found.touching[viewport.width] = await page.evaluate(touching);
    if (viewport === PHONE) Object.assign(found, { phone: await page.evaluate(beyond), names: await page.evaluate(names), covering: await page.evaluate(covering), cut: await page.evaluate(cut) });
  }
  Object.assign(found, {
    smallTargets: await page.evaluate(smallTargets),
    copied: await page.evaluate(copied),
    links: await deepLinks(page),
    printed: await printed(page),
  });
  await page.close();
  const open = await opened(address, (one) => one.setBypassCSP(true));
  const text = await open.page.evaluate(withoutWhatIsAdded);
  await open.page.close();
  found.scripted = await scripted(address);
  return { ...found, requestsWithoutPolicy: open.asked, scriptless: await scriptless(address, text) };
}

// A page, and what it asked for beyond itself while it opened. Its policy would hide a
// mistake, so it is opened once without it.
async function opened(address, prepare = async () => {}) {
  const page = await browser.newPage();
  const asked = [];
  page.on("request", (request) => {
    if (request.url() !== address && !request.url().startsWith("data:")) asked.push(request.url());
  });
  await page.setViewport(WIDE);
  await prepare(page);
  await page.goto(address);
  return { page, asked };
}

// axe goes in as source: under our policy a script element is dropped silently.
async function judged(page, isWhole) {
  const axe = {};
  const incomplete = [];
  await page.evaluate(axeSource);
  const asked = isWhole ? { light: ALL, dark: ALL, narrow: ALL } : OWN;
  for (const [mode, options] of Object.entries(asked)) {
    const [scheme, viewport] = MODES[mode];
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.setViewport(viewport);
    const told = await page.evaluate(askAxe, options);
    axe[mode] = told.violations;
    incomplete.push(...told.incomplete.map((line) => ({ mode, ...line })));
  }
  await page.emulateMediaFeatures([]);
  return { axe, incomplete };
}

async function askAxe(options) {
  const told = await axe.run(document, { ...options, resultTypes: ["violations", "incomplete"] });
  const brief = (rules) => rules.map((rule) => ({
    rule: rule.id,
    count: rule.nodes.length,
    at: rule.nodes.slice(0, 3).map((node) => `${node.target.join(" ")}: ${node.failureSummary}`),
  }));
  return { violations: brief(told.violations), incomplete: brief(told.incomplete) };
}

async function overflow(page) {
  const widths = {};
  for (const viewport of [NARROW, PHONE]) {
    await page.setViewport(viewport);
    widths[viewport.width] = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  }
  return widths;
}

// How far down the verdict and the first ranking reach before anybody scrolls.
function firstScreen() {
  const ends = [".verdict", "#tab-executive"].map((one) => document.querySelector(one)?.getBoundingClientRect().bottom);
  return { height: innerHeight, verdict: ends[0] ?? null, ranking: ends[1] ?? null };
}

// Cells of one row whose words come nearer to each other than a blank is wide.
function touching() {
  const near = [];
  for (const details of document.querySelectorAll("details")) details.open = true;
  const lines = (cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return [...range.getClientRects()].filter((box) => box.width > 0);
  };
  for (const table of document.querySelectorAll("table")) {
    for (const row of [...table.rows].slice(0, 60)) {
      const cells = [...row.cells].map((cell) => [cell, lines(cell)]);
      cells.slice(1).forEach(([cell, boxes], before) => {
        const [left, others] = cells[before];
        const touch = boxes.some((box) => others.some((one) => one.right > box.left - 3.5 && one.top < box.bottom && box.top < one.bottom));
        if (touch) near.push(`${table.id}: ${left.innerText} | ${cell.innerText}`);
      });
    }
  }
  return near;
}

// Which cells of page one, and of tables with verdicts, reach beyond the window.
function beyond() {
  const tables = [...document.querySelectorAll("#sec-b .tw:is(.by2, .by3) table")];
  const sentences = document.querySelectorAll("#tab-expected, #tab-pairs");
  const cells = [...tables, ...sentences].flatMap((table) => [...table.querySelectorAll("th, td")]);
  return { tables: tables.length, beyond: cells.filter((cell) => cell.getBoundingClientRect().right > innerWidth).map((cell) => cell.innerText) };
}

// With every table of ranks scrolled to its end: where its names begin, beside how many
// ranks they stand before that is scrolled.
function names() {
  return [...document.querySelectorAll('table[id^="tab-overview-"]')].map((table) => {
    const frame = table.parentNode;
    const edge = frame.getBoundingClientRect().right;
    const ranks = [...table.tBodies[0].rows[0].cells].slice(1).filter((cell) => cell.getBoundingClientRect().right < edge + 1);
    frame.scrollLeft = frame.scrollWidth;
    const left = table.tBodies[0].rows[0].cells[0].getBoundingClientRect().left - frame.getBoundingClientRect().left;
    frame.scrollLeft = 0;
    return [Math.round(left), ranks.length];
  });
}

// Of which tables the names that stay leave less than a third of the window to the rest.
function covering() {
  for (const details of document.querySelectorAll("details")) details.open = true;
  return [...document.querySelectorAll(".tw table")].filter((table) => {
    const name = table.tBodies[0].rows[0].cells[0];
    return getComputedStyle(name).position === "sticky" && name.offsetWidth > (2 / 3) * table.parentNode.clientWidth;
  }).map((table) => table.id);
}

// The figures that reach beyond the window.
function cut() {
  return [...document.querySelectorAll("figure:has(img, .drawing)")]
    .filter((figure) => figure.querySelector("img, .drawing").getBoundingClientRect().right > innerWidth)
    .map((figure) => figure.id);
}

// What the page says, with what the script adds taken out and what it folds unfolded.
function withoutWhatIsAdded() {
  for (const added of document.querySelectorAll(".filter")) added.remove();
  for (const fold of document.querySelectorAll("details.fold")) fold.open = true;
  return document.body.innerText;
}

// What the script adds, by the keyboard alone.
async function scripted(address) {
  const { page } = await opened(address);
  const found = { folded: await page.evaluate(() => [...document.querySelectorAll("details.fold:not([open])")].map((one) => one.closest("section").id)) };
  const numbers = () => page.evaluate((id) => [...document.querySelectorAll(`#${id} tbody td:nth-child(${window.place})`)].map((cell) => parseFloat(cell.dataset.v)), found.table);
  found.table = await page.evaluate(() => {
    const isAsked = (head) => head.matches(".n") && head.querySelector("button") && head.closest("table").rows[1].cells[head.cellIndex].dataset.v;
    const head = [...document.querySelectorAll("main > section > .tb th")].find(isAsked);
    if (!head) return null;
    window.place = head.cellIndex + 1;
    head.querySelector("button").focus();
    return head.closest("table").id;
  });
  if (found.table) {
    found.sorted = { printed: await numbers() };
    for (const order of ["first", "second", "third"]) {
      await page.keyboard.press("Enter");
      const says = await page.evaluate(() => document.activeElement.closest("th").getAttribute("aria-sort"));
      found.sorted[order] = [says, await numbers()];
    }
  }
  const field = await page.$("section:not(:has(> details:not([open]))) > .filter input, section > .tb .filter input");
  if (field) {
    await field.focus();
    const asked = await field.evaluate((node) => node.closest(".filter").nextElementSibling.querySelector("tbody tr:last-child th").innerText);
    await page.keyboard.type(asked.toUpperCase());
    found.filtered = await field.evaluate((node, text) => {
      const rows = [...node.closest(".filter").nextElementSibling.querySelectorAll("tbody tr")];
      const shown = rows.filter((row) => row.checkVisibility());
      return { said: node.closest(".filter").querySelector("output").innerText, n: shown.length, all: rows.length, right: shown.every((row) => text.toLowerCase().split(/\s+/).every((word) => row.textContent.toLowerCase().includes(word))) };
    }, asked);
  }
  found.current = await page.evaluate(async () => {
    const marked = [];
    for (const link of [...document.querySelectorAll("nav a")].filter((_, n, every) => n < 4 || n > every.length - 3)) {
      location.hash = link.hash;
      await new Promise((done) => setTimeout(done, 120));
      marked.push([link.hash, [...document.querySelectorAll("nav [aria-current]")].map((one) => one.hash)]);
    }
    return marked;
  });
  found.opened = await page.evaluate(() => [...document.querySelectorAll("nav a")].map((link) => {
    link.click();
    const fold = document.querySelector(`${link.hash} > details.fold`);
    return fold ? fold.open : true;
  }).every(Boolean));
  found.figure = await figure(page);
  await page.close();
  return found;
}

// The values that the first figure shows on focus, by the arrow keys, and under the pointer.
async function figure(page) {
  let frame = null;
  let titled = null;
  for (const one of await page.$$(".fw")) {
    titled = await one.evaluate(titles);
    await one.focus();
    if (await one.$(".drawing")) {
      frame = one;
      break;
    }
  }
  if (!frame) return null;
  const said = () => page.evaluate(() => document.querySelector("figure .tip")?.innerText ?? null);
  const focused = await said();
  await page.keyboard.press("ArrowRight");
  const next = await said();
  await page.keyboard.press("Escape");
  const none = await said();
  const place = await frame.evaluate((node, place) => {
    node.scrollIntoView({ block: "center" });
    const mark = node.querySelector(".drawing")?.shadowRoot.querySelectorAll("svg *")[place];
    const box = mark?.getBoundingClientRect();
    return box ? { x: box.left + box.width / 2, y: box.top + box.height / 2 } : null;
  }, titled.second);
  if (place) await page.mouse.move(place.x, place.y);
  const hovered = await said();
  const box = await page.evaluate(() => document.querySelector("figure .tip")?.getBoundingClientRect().toJSON() ?? null);
  const role = await frame.evaluate((node) => node.firstElementChild.getAttribute("aria-label") ?? node.firstElementChild.alt);
  return { titles: titled.texts, focused, next, none, hovered, inside: !box || (box.left >= 0 && box.right <= WIDE.width), role };
}

// What the image of a figure calls its marks, and which element the second mark is in a
// drawing without titles.
function titles(frame) {
  const bytes = Uint8Array.from(atob(frame.querySelector("img").src.split(",")[1]), (letter) => letter.charCodeAt(0));
  const svg = new DOMParser().parseFromString(new TextDecoder().decode(bytes), "image/svg+xml").documentElement;
  const all = [...svg.querySelectorAll("* > title")].filter((title) => title.parentNode !== svg);
  const marks = all.map((title) => title.parentNode);
  for (const title of all) title.remove();
  return { texts: all.map((title) => title.textContent), second: [...svg.querySelectorAll("*")].indexOf(marks[1]) };
}

function smallTargets() {
  return [...document.querySelectorAll("main a, header a, nav a, summary, button, input")]
    .map((node) => [node, node.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && (box.width < 24 || box.height < 23.99))
    .map(([node, box]) => `${node.textContent.trim()} ${box.width.toFixed(1)} x ${box.height.toFixed(1)}`);
}

// Where each kind of address inside the page leads: off the window, it leads nowhere.
async function deepLinks(page) {
  const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((node) => node.id));
  const kinds = ["sec-", "tab-", "fig-", "f-", "finding-", "card-"];
  const some = kinds.flatMap((kind) => ids.filter((id) => id.startsWith(kind)).filter((_, n, all) => n === 0 || n === all.length - 1));
  const lost = [];
  for (const id of some) {
    const top = await page.evaluate(async (target) => {
      location.hash = target;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const box = document.querySelector(":target").getBoundingClientRect();
      return box.height > 0 && box.top > -1 && box.top < window.innerHeight;
    }, encodeURIComponent(id));
    if (!top) lost.push(id);
  }
  return { some, lost };
}

// Each row as it is pasted, beside what its cells show.
function copied() {
  const wrong = [];
  for (const table of [...document.querySelectorAll("table")].filter((one) => one.checkVisibility()).slice(0, 40)) {
    for (const row of [table.rows[0], [...table.rows].at(-1)]) {
      const selection = getSelection();
      selection.selectAllChildren(row);
      const text = selection.toString().replace(/\n/g, " ").replace(/\t /g, "\t").trimEnd();
      const shown = [...row.cells].map((cell) => cell.innerText.replace(/\n/g, " ").replace(/^[●◆▲■○] /, "")).join("\t").trimEnd();
      if (text !== shown) wrong.push([text, shown]);
      selection.removeAllRanges();
    }
  }
  return wrong;
}

// The first 30 stops of the Tab key: each drawn with a line of 3 px, the first the skip link.
async function keyboard(page) {
  const stops = [];
  for (let n = 0; n < 30; n += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const node = document.activeElement;
      if (node === document.body) return null;
      const style = getComputedStyle(node);
      const box = node.getBoundingClientRect();
      return {
        text: (node.innerText || node.getAttribute("aria-label") || "").slice(0, 40),
        href: node.getAttribute("href"),
        outline: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
        visible: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
      };
    });
    if (!stop) break;
    stops.push(stop);
  }
  return stops;
}

// As printed from the browser on A4 within usual margins: what shows, what is cut.
async function printed(page) {
  await page.evaluate(() => document.querySelectorAll("details.fold").forEach((fold) => fold.removeAttribute("open")));
  await page.emulateMediaType("print");
  await page.setViewport({ width: 700, height: 1000 });
  const found = await page.evaluate(() => ({
    shown: [...document.querySelectorAll(".skip, nav, summary, .filter, .tip")].filter((node) => node.checkVisibility()).length,
    folded: [...document.querySelectorAll(".fold *")].filter((node) => !node.matches("summary, summary *, col, colgroup, details:not(.fold), details:not(.fold) *, .take, .take *, .filter, .filter *, wbr") && !node.checkVisibility()).length,
    cut: [...document.querySelectorAll("table, figure img, figcaption")]
      .filter((node) => node.checkVisibility() && node.getBoundingClientRect().right > innerWidth + 1)
      .map((node) => node.id || node.tagName),
  }));
  await page.emulateMediaType(null);
  return found;
}

// Whether the page has the same text with scripting off.
async function scriptless(address, text) {
  const { page } = await opened(address, (one) => one.setJavaScriptEnabled(false));
  const same = (await page.evaluate(() => document.body.innerText)) === text;
  await page.close();
  return same;
}
