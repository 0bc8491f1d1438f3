/*
 * The dashboard in a real browser: node test.js FIXTURE_SERVER. Every scene at the widths of a desktop and a
 * phone, light and dark: what it says, that nothing overflows, that text has contrast, that nothing comes
 * from elsewhere and no text becomes markup. Then the keyboard, live updates and a lost connection.
 * Ends with 77 (skipped) where there is no browser.
 */
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { Browser } = require("./browser.js");
const { Fixture } = require("./fixture.js");

function findBrowser() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const directory of process.env.PATH.split(":"))
    for (const name of ["chromium", "chromium-browser", "google-chrome"])
      if (fs.existsSync(path.join(directory, name))) return path.join(directory, name);
  return null;
}

/* In the page: texts whose contrast with what is behind them is below AA's 4.5 (3 for large text). */
function poorContrast() {
  const parse = c => (c.match(/[\d.]+/g) || []).map(Number);
  const light = c => {
    const [r, g, b] = c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const bad = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = walker.nextNode());) {
    const e = n.parentElement, s = getComputedStyle(e);
    if (!n.textContent.trim() || !e.getClientRects().length || ["SCRIPT", "STYLE", "TITLE", "NOSCRIPT"].includes(e.tagName)) continue;
    const a = light(parse(e.namespaceURI.endsWith("svg") ? s.fill : s.color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), large = parseFloat(s.fontSize) >= 24;
    if (ratio < (large ? 3 : 4.5)) bad.push(n.textContent.slice(0, 30) + " " + ratio.toFixed(2));
  }
  return bad;
}
/* In the page: elements that stick out of the window to the right. */
function overflowing() {
  const wide = document.documentElement.scrollWidth > innerWidth ? ["the page: " + document.documentElement.scrollWidth] : [];
  const out = [...document.querySelectorAll("main *")].filter(e => !e.closest("svg") && e.getBoundingClientRect().right > innerWidth + 1);
  return wide.concat(out.slice(0, 5).map(e => e.tagName + "." + e.className));
}
/* In the page: what a screen reader would find without a name. */
function nameless() {
  const named = e => e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim();
  return [...document.querySelectorAll("button, section.card, [role=img], [role=group]")].filter(e => !named(e)).map(e => e.outerHTML.slice(0, 80));
}
const call = f => "(" + f + ")()";

/* What each scene must show. */
const EXPECTED = {
  empty: ["idle", "None yet.", "None is loaded."],
  one: ["proving", "porep-1000-4711", "porep-32g", "hot"],
  busy: ["urgent-1000-17", "paused", "low \u2192 high", "vanilla proof of partition 3", "queue full"],
  thousand: ["1,000", "and 990 more", "16 of 126"],
  failures: ["draining", "self-check failed", "timed out", "no such file", "cancelled by a client"],
  hostile: ["<script>document.title='owned'</script>", "<img src=x onerror=", "__proto__", "wdpost-1000-3-[12 250 7 99 0 255 1 2]", "<b>circuit</b>"],
};

async function load(page, fixture) {
  page.problems.length = page.requests.length = 0;
  await page.send("Page.navigate", { url: fixture.url });
  await page.until("typeof latest !== 'undefined' && latest !== null", "the page has data");
}
async function checkScene(page, server, scene, seconds) {
  const fixture = await Fixture.start(server, scene, seconds, true);
  for (const [width, height] of [[1280, 800], [360, 740]]) {
    for (const dark of [false, true]) {
      await page.look(width, height, dark);
      await load(page, fixture);
      await page.until("document.querySelectorAll('.tile').length === 5", "the tiles are there");
      const where = scene + " at " + width + (dark ? ", dark" : ", light");
      const words = await page.evaluate("document.body.innerText");
      for (const expected of EXPECTED[scene]) assert(words.includes(expected), where + ": does not say " + expected);
      assert.deepStrictEqual(await page.evaluate(call(overflowing)), [], where + ": overflows");
      assert.deepStrictEqual(await page.evaluate(call(poorContrast)), [], where + ": poor contrast");
      assert.deepStrictEqual(await page.evaluate(call(nameless)), [], where + ": without a name");
      assert.deepStrictEqual(page.problems, [], where + ": the browser complains");
      const foreign = page.requests.filter(u => !u.startsWith(fixture.url) && !u.startsWith("data:"));
      assert.deepStrictEqual(foreign, [], where + ": asks elsewhere");
      const size = await page.evaluate("document.querySelectorAll('*').length");
      assert(size < 2500, where + ": " + size + " elements");
      const strange = await page.evaluate("document.querySelectorAll('main script, main img, main b b, main iframe, main svg svg').length");
      assert.strictEqual(strange, 0, where + ": text became markup");
      assert((await page.evaluate("document.title")).endsWith("cuzk"), where + ": the title was changed");
    }
  }
  await fixture.stop();
  console.log("ok " + scene);
}

/* The timeline has bars of each stage, none outside of it, and another span shows other times. */
async function checkTimeline(page, server) {
  const fixture = await Fixture.start(server, "busy", 5);
  await page.look(1280, 800, false);
  await load(page, fixture);
  for (const stage of ["wait", "check", "synthesis", "ready", "prove", "run", "done"])
    assert(await page.evaluate(`document.querySelectorAll("#timeline rect.${stage}").length`) > 0, "no bar of " + stage);
  const outside = `[...document.querySelectorAll("#timeline rect")].filter(r => r.x.baseVal.value < 0 ||
    r.x.baseVal.value + r.width.baseVal.value > document.querySelector("#timeline").clientWidth + 1).length`;
  assert.strictEqual(await page.evaluate(outside), 0, "bars outside of the timeline");
  await page.evaluate("document.querySelector('#spans button').focus()");
  await page.key("Tab", 9);
  await page.key("Tab", 9);
  assert.strictEqual(await page.evaluate("document.activeElement.textContent"), "5 min");
  assert.notStrictEqual(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none", "focus cannot be seen");
  await page.key("Enter", 13);
  assert.strictEqual(await page.evaluate("document.activeElement.getAttribute('aria-pressed')"), "true");
  assert.match(await page.evaluate("document.querySelector('#timeline').textContent"), /\u22124 min/);
  const before = await page.evaluate("latest.uptime_secs");
  await page.until(`latest.uptime_secs > ${before} + 1.5`, "the page is updated");
  assert.strictEqual(await page.evaluate("document.activeElement.textContent"), "5 min", "an update took the focus");
  assert.strictEqual(await page.evaluate("span"), 300, "an update took the choice");
  await fixture.stop();
  console.log("ok timeline");
}

/* A job that ends is moved, not drawn twice, and the timeline keeps its partitions. */
async function checkLife(page, server) {
  const fixture = await Fixture.start(server, "one", 178); /* ends at 186.1 */
  await load(page, fixture);
  assert(await page.evaluate("document.querySelector('#jobs').innerText.includes('Running (1)')"));
  await page.until("document.querySelector('#jobs').innerText.includes('Recent results (1)')", "the job has ended");
  assert.strictEqual(await page.evaluate("document.querySelectorAll('#jobs .job').length"), 1);
  await page.evaluate("document.querySelectorAll('#spans button')[2].click()");
  assert(await page.evaluate("document.querySelectorAll('#timeline rect.prove').length") >= 10, "the ended job's partitions are gone");
  await fixture.stop();
  console.log("ok life of a job");
}

async function checkConnection(page, server) {
  const fixture = await Fixture.start(server, "one", 10);
  await load(page, fixture);
  const offline = state => page.send("Network.emulateNetworkConditions", { offline: state, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await offline(true);
  await page.until("!document.querySelector('#lost').hidden", "the page says that the connection is lost");
  assert.match(await page.evaluate("document.querySelector('#lost').innerText"), /Connection lost/);
  assert.strictEqual(await page.evaluate("document.querySelector('#mood').innerText"), "no connection");
  await offline(false);
  await page.until("document.querySelector('#lost').hidden", "the connection is back");
  assert.strictEqual(await page.evaluate("document.querySelector('#mood').innerText"), "proving");
  await fixture.stop();
  console.log("ok lost connection");
}

/* Half an hour of polls in a row: elements and memory of what was seen stay bounded. */
async function checkGrowth(page, server) {
  const fixture = await Fixture.start(server, "busy", 5);
  await load(page, fixture);
  const size = await page.evaluate(`(() => {
    const s = structuredClone(latest);
    for (let i = 0; i < 1800; i++) {
      s.uptime_secs += 1;
      s.jobs.forEach((j, n) => { if (j.partitions) j.id = "job-" + n + "-" + Math.floor(i / 3); });
      show(s);
    }
    return { elements: document.querySelectorAll("*").length, seen: seen.size, cores: coreHistory.length };
  })()`);
  assert(size.elements < 2500 && size.seen <= 200 && size.cores <= 300, JSON.stringify(size));
  await fixture.stop();
  console.log("ok bounded");
}

async function main() {
  const binary = findBrowser();
  if (!binary) {
    console.log("skipped: there is no chromium; apt-get install chromium");
    process.exit(77);
  }
  const server = process.argv[2], browser = new Browser(binary);
  try {
    const page = await browser.open();
    for (const [scene, seconds] of [["empty", 0], ["one", 100], ["busy", 1], ["thousand", 60], ["failures", 30], ["hostile", 10]])
      await checkScene(page, server, scene, seconds);
    await checkTimeline(page, server);
    await checkLife(page, server);
    await checkConnection(page, server);
    await checkGrowth(page, server);
  } finally {
    await browser.close();
  }
}
main().catch(e => {
  console.error(e);
  process.exit(1);
});
