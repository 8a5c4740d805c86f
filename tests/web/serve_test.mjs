// SPDX-License-Identifier: Apache-2.0
//
// The page of dfcl serve in a real browser: every control, scenarios, downloads, errors; nothing but loopback is asked.
// DFCL_BINARY and DFCL_CHROMIUM as in page_test.mjs.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startBrowser } from "./browser.mjs";

const program = process.env.DFCL_BINARY;
const kUnits = 3000;
let session;
let served;

// Starts a server and waits for its address.
function serve(...words) {
  const child = spawn(program, ["serve", ...words, "--no-browser", "--threads", "2"], { cwd: session.folder, stdio: ["ignore", "pipe", "pipe"] });
  return new Promise((resolve, reject) => {
    let told = "";
    child.stdout.on("data", (data) => resolve({ address: String(data).trim(), end: () => child.kill("SIGINT") }));
    child.stderr.on("data", (data) => (told += data));
    child.on("exit", (code) => reject(new Error(`dfcl serve ended with ${code}: ${told}`)));
  });
}

// A column of text beside the predictions, and tables by id, as CSV.
function tables() {
  const [head, ...rows] = execFileSync(program, ["simulate", "--preset", "marketing", "--rows", String(kUnits), "--seed", "5", "-o", "trial.csv", "--truth", "truth.csv"], { cwd: session.folder }) && readFileSync(join(session.folder, "truth.csv"), "utf8").trim().split("\n");
  const ids = rows.map((row) => row.split(",")[0]);
  writeFileSync(join(session.folder, "predictions.csv"), [`${head},"region"`, ...rows.map((row, place) => `${row},"${["north", "south", "<img src=x onerror=alert(1)>"][place % 3]}"`)].join("\n") + "\n");
  writeFileSync(join(session.folder, "eligible.csv"), ["id,eligible_20", ...ids.map((id, place) => `${id},${place % 2}`)].join("\n") + "\n");
  writeFileSync(join(session.folder, "second.csv"), ["id,cost_0,cost_5,cost_10,cost_15,cost_20", ...ids.map((id) => `${id},0,1,1,2,2`)].join("\n") + "\n");
}

before(async () => {
  session = await startBrowser();
  tables();
  served = await serve("predictions.csv", "--segment", "region", "--eligible", "eligible.csv", "--second-cost", "second.csv", "--per-revenue", "0.5");
});
after(async () => {
  served?.end();
  await session?.end();
});

async function open({ width = 1280, scheme = "light", address = served.address } = {}) {
  const context = await session.browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, acceptDownloads: true });
  const page = await context.newPage();
  const trouble = [];
  const origin = new URL(address).origin;
  page.on("console", (message) => trouble.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !/^(data|blob):/.test(request.url())) trouble.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  await settled(page);
  return { page, trouble, close: () => context.close() };
}

// The newest move is answered.
async function settled(page) {
  await page.waitForFunction(() => document.querySelector("#state")?.dataset.busy === "false" && document.querySelectorAll("#plan .tile").length === 4);
}

// A change of a setting, and the plan that answers it.
async function change(page, act) {
  const before = await page.locator("#plan .tiles").getAttribute("data-id");
  await act();
  await page.waitForFunction((id) => document.querySelector("#plan .tiles")?.dataset.id !== id, before);
  await settled(page);
}

const bigs = (page) => page.locator("#plan .tile .big").allInnerTexts();
const number = (text) => Number(text.replace(/[,+%\s]/g, "").replace("\u2212", "-"));

function allocate(...words) {
  return JSON.parse(execFileSync(program, ["allocate", "predictions.csv", ...words, "--json", "--quiet"], { cwd: session.folder, stdio: ["ignore", "pipe", "ignore"] }));
}

async function shows(page, plan) {
  const [spend, revenue, profit] = (await bigs(page)).map(number);
  assert.ok(Math.abs(spend - plan.incremental_cost) <= 0.0051, `${spend} ${plan.incremental_cost}`);
  assert.ok(Math.abs(revenue - plan.incremental_revenue) <= 0.0051, `${revenue} ${plan.incremental_revenue}`);
  assert.ok(Math.abs(profit - plan.incremental_profit) <= 0.0051, `${profit} ${plan.incremental_profit}`);
}

for (const [width, scheme] of [[1440, "light"], [390, "dark"]]) {
  test(`the page opens at ${width} pixels, ${scheme}: no trouble, nothing wider, axe finds nothing serious`, async () => {
    const { page, trouble, close } = await open({ width, scheme });
    assert.ok((await session.overflow(page)) <= 0, `wider by ${await session.overflow(page)}`);
    assert.deepEqual(await session.emptyCharts(page), []);
    assert.equal(await page.locator("img, b").count(), 0);
    assert.deepEqual(trouble, []);
    await close();
    assert.deepEqual(await session.violations(served.address, { width, scheme }), []);
  });
}

test("every control re-plans, to the numbers of dfcl allocate", async () => {
  const { page, trouble, close } = await open();
  const base = ["--per-revenue", "0.5", "--eligible", "eligible.csv"];
  await change(page, () => page.locator("#budget").fill("700"));
  await shows(page, allocate("--budget", "700", ...base));
  await page.locator("#budget-slider").focus();
  await change(page, () => page.keyboard.press("ArrowRight"));
  const budget = await page.locator("#budget").inputValue();
  assert.notEqual(budget, "700");
  await shows(page, allocate("--budget", budget, ...base));
  await change(page, () => page.getByRole("radio", { name: "most profit" }).check());
  await shows(page, allocate("--budget", budget, ...base, "--objective", "profit"));
  await change(page, () => page.getByLabel("Least revenue per cost").fill("4"));
  await shows(page, allocate("--budget", budget, ...base, "--objective", "profit", "--min-roi", "4"));
  await change(page, () => page.getByLabel("Least revenue per cost").fill("0"));
  await change(page, () => page.getByRole("radio", { name: "most revenue" }).check());
  await change(page, () => page.getByRole("checkbox", { name: /eligible/ }).uncheck());
  await shows(page, allocate("--budget", budget, "--per-revenue", "0.5"));
  await change(page, () => page.getByLabel("One unit of revenue is worth").fill("2"));
  await shows(page, allocate("--budget", budget, "--per-revenue", "2"));
  await page.locator("summary", { hasText: "Limits per arm" }).click();
  await change(page, () => page.getByLabel("5, at most units", { exact: true }).fill("50"));
  await shows(page, allocate("--budget", budget, "--per-revenue", "2", "--max-units", "5=50"));
  await change(page, () => page.getByLabel("5, at most units", { exact: true }).fill(""));
  await page.locator("summary", { hasText: "Budgets by segment" }).click();
  await change(page, () => page.getByLabel("north, budget").fill("20"));
  writeFileSync(join(session.folder, "budgets.csv"), "segment,budget\nnorth,20\n");
  await shows(page, allocate("--budget", budget, "--per-revenue", "2", "--segment", "region", "--segment-budgets", "budgets.csv"));
  await change(page, () => page.getByLabel("north, budget").fill(""));
  await change(page, () => page.locator("#second-budget-open").uncheck());
  await change(page, () => page.locator("#second-budget").fill("300"));
  await shows(page, allocate("--budget", budget, "--per-revenue", "2", "--second-cost", "second.csv", "--second-budget", "300"));
  await change(page, () => page.locator("#second-budget-open").check());
  await change(page, () => page.locator("#budget-open").check());
  assert.match(await page.locator("#plan .tile small").first().innerText(), /no limit/);
  assert.deepEqual(trouble, []);
  await close();
});

test("who changes is counted from the plan compared with", async () => {
  const { page, close } = await open();
  await change(page, () => page.locator("#budget").fill("300"));
  await change(page, () => page.getByRole("button", { name: "Compare with this plan" }).click());
  await change(page, () => page.locator("#budget").fill("900"));
  const moved = number((await page.locator("#changes h3").innerText()).match(/([\d,]+) units/)[1]);
  const rows = await page.locator("#changes tbody tr td:last-child").allInnerTexts();
  assert.ok(moved > 0);
  assert.equal(rows.map(number).reduce((a, b) => a + b, 0), moved);
  await close();
});

test("plans download as CSV and Parquet", async () => {
  const { page, trouble, close } = await open();
  await change(page, () => page.locator("#budget").fill("444"));
  for (const [name, sign] of [["Plan as CSV", '"id","arm","revenue","cost"'], ["Plan as Parquet", "PAR1"]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name }).click()]);
    const bytes = readFileSync(await download.path());
    assert.ok(bytes.subarray(0, sign.length).toString() === sign, name);
    if (name.endsWith("CSV")) assert.equal(bytes.toString().trim().split("\n").length, kUnits + 1);
  }
  assert.deepEqual(trouble, []);
  await close();
});

test("scenarios are named, compared, kept in a file and opened again", async () => {
  const { page, trouble, close } = await open();
  for (const [name, budget] of [["small", "200"], ["large", "900"]]) {
    await change(page, () => page.locator("#budget").fill(budget));
    await page.locator("#scenario").fill(name);
    await page.getByRole("button", { name: "Keep this plan" }).click();
  }
  const rows = await page.locator("#scenarios tbody tr").allInnerTexts();
  assert.match(rows[0], /small\s+Show\s*Remove\s+200\.00/);
  assert.match(rows[1], /large\s+Show\s*Remove\s+900\.00/);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save scenarios to a file" }).click()]);
  const file = await download.path();
  await page.getByRole("button", { name: "Remove large" }).click();
  await page.getByRole("button", { name: "Remove small" }).click();
  assert.equal(await page.locator("#scenarios tbody tr").count(), 0);
  await page.locator("#scenario-file").setInputFiles(file);
  await page.waitForFunction(() => document.querySelectorAll("#scenarios tbody tr").length === 2);
  await change(page, () => page.getByRole("button", { name: "Show small" }).click());
  assert.equal(await page.locator("#budget").inputValue(), "200");
  writeFileSync(join(session.folder, "bad.json"), '{"format": "dfcl-scenarios", "arms": ["x"], "segments": [], "scenarios": []}');
  await page.locator("#scenario-file").setInputFiles(join(session.folder, "bad.json"));
  await page.waitForFunction(() => /other arms/.test(document.querySelector("#scenarios .trouble")?.textContent ?? ""));
  assert.deepEqual(trouble, []);
  await close();
});

test("limits that cannot be met and numbers that are none are said", async () => {
  const { page, close } = await open();
  await page.locator("summary", { hasText: "Limits per arm" }).click();
  await change(page, () => page.getByLabel("20, at least units", { exact: true }).fill("2900"));
  await page.waitForFunction(() => /least that can be spent/.test(document.querySelector("#plan .trouble")?.textContent ?? ""));
  assert.equal(await page.locator("#plan .actions").isVisible(), false);
  await page.getByLabel("20, at least units", { exact: true }).fill("-3");
  assert.equal(await page.getByLabel("20, at least units", { exact: true }).getAttribute("aria-invalid"), "true");
  await close();
});

test("a burst of moves ends with the newest plan", async () => {
  const { page, trouble, close } = await open();
  await page.evaluate(async () => {
    const slider = document.getElementById("budget-slider");
    for (let move = 0; move < 150; ++move) {
      slider.value = String((move * 37) % 1000);
      slider.dispatchEvent(new Event("input"));
      await new Promise((done) => setTimeout(done, 20));
    }
    slider.value = "250";
    slider.dispatchEvent(new Event("input"));
  });
  await settled(page);
  await shows(page, allocate("--budget", await page.locator("#budget").inputValue(), "--per-revenue", "0.5", "--eligible", "eligible.csv"));
  assert.deepEqual(trouble, []);
  await close();
});

test("when the program has ended, the page says so", async () => {
  const other = await serve("predictions.csv");
  const { page, close } = await open({ address: other.address });
  other.end();
  await new Promise((done) => setTimeout(done, 600));
  await page.locator("#budget").fill("1");
  await page.waitForFunction(() => /does not answer/.test(document.querySelector("#plan .trouble")?.textContent ?? ""));
  await close();
});

for (const arms of [2, 20]) {
  test(`the page fits with ${arms} arms, one of them with a long and hostile name`, async () => {
    const names = Array.from({ length: arms }, (_, arm) => (arm === 1 ? "<b>twenty per cent off everything that is left</b>" : String(arm)));
    const head = ["id", ...names.flatMap((name) => [`revenue_${name}`, `cost_${name}`])].map((name) => `"${name}"`).join(",");
    const rows = Array.from({ length: 400 }, (_, unit) => [unit, ...names.flatMap((_, arm) => [10 + Math.sqrt(arm) * (1 + (unit % 7)), arm * (0.2 + 0.01 * (unit % 5))])].join(","));
    const file = `arms-${arms}.csv`;
    writeFileSync(join(session.folder, file), [head, ...rows].join("\n") + "\n");
    const other = await serve(file, "--control", "0");
    for (const [width, scheme] of [[1440, "dark"], [390, "light"]]) {
      const { page, trouble, close } = await open({ address: other.address, width, scheme });
      await page.locator("summary", { hasText: "Limits per arm" }).click();
      assert.equal(await page.locator(".settings tbody tr").count(), arms);
      await page.locator("#scenario").fill("wide");
      await page.getByRole("button", { name: "Keep this plan" }).click();
      assert.ok((await session.overflow(page)) <= 0, `${width}: wider by ${await session.overflow(page)}`);
      assert.deepEqual(await session.emptyCharts(page), []);
      assert.equal(await page.locator("b").count(), 0);
      assert.deepEqual(trouble, []);
      await close();
      assert.deepEqual(await session.violations(other.address, { width, scheme }), []);
    }
    other.end();
  });
}
