// Pictures of one page as wide and as narrow screens show it, light and dark.
// Arguments: Chromium, the page, the folder of the pictures.
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [chromium, file, folder] = process.argv.slice(2);
const TALLEST = 8000; // Chromium draws no taller picture in one piece without trouble
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
await page.goto(pathToFileURL(file).href);
for (const width of [1280, 320]) {
  await page.setViewport({ width, height: 900 });
  for (const value of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    const pieces = Math.ceil(height / TALLEST);
    for (let n = 0; n < pieces; n += 1) {
      const clip = { x: 0, y: n * TALLEST, width, height: Math.min(TALLEST, height - n * TALLEST) };
      await page.screenshot({ path: `${folder}/html-${width}-${value}-${n + 1}.png`, clip, captureBeyondViewport: true });
    }
  }
}
await browser.close();
