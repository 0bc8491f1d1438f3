/* Screenshots of the dashboard: node shots.js FIXTURE_SERVER DIRECTORY [SCENE SECONDS]. */
"use strict";
const { Browser } = require("./browser.js");
const { Fixture } = require("./fixture.js");

async function main() {
  const [server, directory, only, seconds] = process.argv.slice(2);
  const browser = new Browser(process.env.CHROMIUM || "chromium");
  const page = await browser.open();
  const scenes = only ? [[only, seconds || "100"]] : [["empty", "0"], ["one", "100"], ["busy", "5"], ["thousand", "60"], ["failures", "30"], ["hostile", "10"]];
  for (const [scene, begin] of scenes) {
    const fixture = await Fixture.start(server, scene, begin);
    await page.send("Page.navigate", { url: fixture.url });
    await page.until("typeof latest !== 'undefined' && latest !== null", "the page has data");
    for (const [name, width, height] of [["desktop", 1280, 800], ["phone", 360, 740]]) {
      for (const dark of [false, true]) {
        await page.look(width, height, dark, width < 600 ? 2 : 1);
        await new Promise(resolve => setTimeout(resolve, 1500));
        await page.screenshot(`${directory}/${scene}-${name}-${dark ? "dark" : "light"}.png`);
      }
    }
    await fixture.stop();
  }
  await browser.close();
}
main().catch(e => { console.error(e); process.exit(1); });
