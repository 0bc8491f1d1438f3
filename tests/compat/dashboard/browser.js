/*
 * A headless Chromium, driven over its DevTools protocol through a pair of pipes: messages are JSON, each
 * ended by a zero byte, on the browser's descriptors 3 (to it) and 4 (from it). No packages are needed.
 */
"use strict";
const { spawn } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

class Browser {
  constructor(binary) {
    this.profile = fs.mkdtempSync(path.join(os.tmpdir(), "cuzk-browser-"));
    const flags = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--disable-background-networking", "--no-first-run", "--hide-scrollbars", "--user-data-dir=" + this.profile, "about:blank"];
    this.process = spawn(binary, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.next = 1;
    this.waiting = new Map();
    this.listeners = [];
    this.rest = "";
    this.process.stdio[4].setEncoding("utf8");
    this.process.stdio[4].on("data", chunk => this.receive(chunk));
    this.process.stdio[3].on("error", () => {});
    this.gone = new Promise(resolve => this.process.on("exit", code => {
      for (const w of this.waiting.values()) w.reject(new Error("the browser ended with code " + code));
      resolve();
    }));
  }
  receive(chunk) {
    const parts = (this.rest + chunk).split("\0");
    this.rest = parts.pop();
    for (const part of parts) {
      const message = JSON.parse(part), w = this.waiting.get(message.id);
      if (!w) {
        this.listeners.forEach(l => l(message));
        continue;
      }
      this.waiting.delete(message.id);
      if (message.error) w.reject(new Error(w.method + ": " + message.error.message));
      else w.resolve(message.result);
    }
  }
  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, method });
      this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  }
  async open() {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, targetId, sessionId);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.send(domain + ".enable");
    return page;
  }
  async close() {
    this.send("Browser.close").catch(() => {});
    const timer = setTimeout(() => this.process.kill("SIGKILL"), 5000);
    await this.gone;
    clearTimeout(timer);
    fs.rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  constructor(browser, targetId, session) {
    Object.assign(this, { browser, targetId, session, problems: [], requests: [] });
    browser.listeners.push(m => { if (m.sessionId === session) this.note(m); });
  }
  send(method, params) { return this.browser.send(method, params, this.session); }
  /* Exceptions, violations of the policy and everything the page asks the network for. */
  note(m) {
    if (m.method === "Runtime.exceptionThrown") this.problems.push(m.params.exceptionDetails.exception?.description || m.params.exceptionDetails.text);
    if (m.method === "Log.entryAdded" && m.params.entry.level === "error") this.problems.push(m.params.entry.text);
    if (m.method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(m.params.type))
      this.problems.push(m.params.args.map(a => a.description || a.value).join(" "));
    if (m.method === "Network.requestWillBeSent") this.requests.push(m.params.request.url);
  }
  look(width, height, dark, scale = 1) {
    return Promise.all([
      this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile: width < 600 }),
      this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] }),
    ]);
  }
  async evaluate(expression) {
    const r = await this.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (r.exceptionDetails) throw new Error(r.exceptionDetails.exception?.description || r.exceptionDetails.text);
    return r.result.value;
  }
  async until(expression, what, seconds = 90) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end;) {
      if (await this.evaluate(expression)) return;
      await new Promise(resolve => setTimeout(resolve, 100));
    }
    throw new Error("this did not come true in " + seconds + " s: " + what);
  }
  async key(key, code) {
    for (const type of ["keyDown", "keyUp"]) await this.send("Input.dispatchKeyEvent", { type, key, code: key, windowsVirtualKeyCode: code, text: type === "keyDown" && key === "Enter" ? "\r" : undefined });
  }
  async screenshot(file, whole = true) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: whole });
    fs.writeFileSync(file, Buffer.from(data, "base64"));
  }
}

module.exports = { Browser };
