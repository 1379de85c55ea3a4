// Looks at pages as readers do, all in one Chromium: reads a job from stdin, prints JSON.
// {"chromium": path, "downloads": folder, "pages": {name: file}, "whole": [name, ...]}
// -> {name: {axe: {light|dark|narrow}, incomplete, requests, ...}}
// Pages of "whole" are judged by every rule in every mode. The others, which share its
// templates and its style, by every rule but colour in light and by layout at 320 px.
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 320, height: 640 };
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
  const text = await page.evaluate(() => document.body.innerText);
  const found = { requests: asked, keyboard: await keyboard(page) };
  Object.assign(found, await judged(page, isWhole));
  found.overflow = await overflow(page);
  await page.setViewport(WIDE);
  Object.assign(found, {
    smallTargets: await page.evaluate(smallTargets),
    copied: await page.evaluate(copied),
    links: await deepLinks(page),
    printed: await printed(page),
  });
  await page.close();
  const open = await opened(address, (one) => one.setBypassCSP(true));
  await open.page.close();
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
  await page.setViewport(NARROW);
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

function smallTargets() {
  return [...document.querySelectorAll("main a, header a, nav a, summary")]
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
    const row = [...table.rows].at(-1);
    const selection = getSelection();
    selection.selectAllChildren(row);
    const text = selection.toString().replace(/\n/g, " ").replace(/\t /g, "\t").trimEnd();
    const shown = [...row.cells].map((cell) => cell.innerText.replace(/\n/g, " ").replace(/^[●◆▲■○] /, "")).join("\t").trimEnd();
    if (text !== shown) wrong.push([text, shown]);
    selection.removeAllRanges();
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
  await page.emulateMediaType("print");
  await page.setViewport({ width: 700, height: 1000 });
  const found = await page.evaluate(() => ({
    shown: [...document.querySelectorAll(".skip, a[download], nav, summary")].filter((node) => node.checkVisibility()).length,
    cut: [...document.querySelectorAll("table, figure img, figcaption")]
      .filter((node) => node.checkVisibility() && node.getBoundingClientRect().right > innerWidth + 1)
      .map((node) => node.id || node.tagName),
  }));
  await page.emulateMediaType(null);
  return found;
}

// With scripting off: the same text, and the first download arrives as it stands in the page.
async function scriptless(address, text) {
  const { page } = await opened(address, (one) => one.setJavaScriptEnabled(false));
  const same = (await page.evaluate(() => document.body.innerText)) === text;
  const link = await page.$("a[download]");
  if (!link) {
    await page.close();
    return { same, download: null };
  }
  const client = await browser.target().createCDPSession();
  const folder = mkdtempSync(`${job.downloads}/taken-`);
  await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
  const [file, href] = await link.evaluate((node) => [node.getAttribute("download"), node.href]);
  await link.click();
  const arrived = await within(10, `${folder}/${file}`, Buffer.from(href.split(",")[1], "base64"));
  await page.close();
  return { same, download: { file, same: arrived } };
}

// Whether a file holds these bytes before so many seconds pass; it begins as an empty one.
async function within(seconds, path, bytes) {
  for (let n = 0; n < 20 * seconds; n += 1) {
    if (existsSync(path) && readFileSync(path).equals(bytes)) return true;
    await new Promise((done) => setTimeout(done, 50));
  }
  return false;
}
