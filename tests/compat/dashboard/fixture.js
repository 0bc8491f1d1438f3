/* The fixture server as a child process: it lives as long as its standard input. */
"use strict";
const { spawn } = require("child_process");

class Fixture {
  static start(binary, scene, seconds, still = false) {
    const f = new Fixture();
    f.process = spawn(binary, [scene, String(seconds), ...(still ? ["still"] : [])], { stdio: ["pipe", "pipe", "inherit"] });
    f.gone = new Promise(resolve => f.process.on("exit", resolve));
    return new Promise((resolve, reject) => {
      f.process.on("error", reject);
      f.process.on("exit", code => reject(new Error("the fixture server ended with code " + code)));
      f.process.stdout.once("data", line => {
        f.url = "http://" + String(line).trim() + "/";
        resolve(f);
      });
    });
  }
  async stop() {
    this.process.stdin.end();
    await this.gone;
  }
}

module.exports = { Fixture };
