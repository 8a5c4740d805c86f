// SPDX-License-Identifier: Apache-2.0
//
// Moves on the page of dfcl serve, in a real browser: node serve_moves.mjs ADDRESS KIND COUNT prints the milliseconds from
// each move to its new numbers in the page, as JSON. KIND: budget, min_roi, objective, units.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../web/package.json", import.meta.url))("playwright-core");
const [address, kind, count] = process.argv.slice(2);
const executablePath = process.env.DFCL_CHROMIUM ?? ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path));
const browser = await chromium.launch({ executablePath });
const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
page.setDefaultTimeout(120_000);
await page.goto(address);
await page.waitForFunction(() => document.querySelectorAll("#plan .tile").length === 4);
const times = await page.evaluate(
  async ([what, moves]) => {
    const tiles = document.querySelector("#plan .tiles");
    const acts = {
      budget: (move) => set("budget-slider", 50 + ((move * 389) % 900)),
      min_roi: (move) => set("min-roi", ((move * 7) % 40) / 10),
      objective: (move) => document.querySelector(`input[name=objective][value=${move % 2 ? "profit" : "revenue"}]`).click(),
      units: (move) => set("max_units-1", 1000 + move),
    };
    function set(id, value) {
      const box = document.getElementById(id);
      box.value = String(value);
      box.dispatchEvent(new Event("input"));
    }
    const found = [];
    for (let move = 1; move <= moves; ++move) {
      const id = tiles.dataset.id;
      const from = performance.now();
      acts[what](move);
      while (tiles.dataset.id === id) await new Promise((done) => setTimeout(done, 1));
      await new Promise((done) => requestAnimationFrame(done));
      found.push(performance.now() - from);
    }
    return found;
  },
  [kind, Number(count)],
);
process.stdout.write(JSON.stringify(times));
await browser.close();
