// What the modules of the pages expect of a browser, and how Node.js finds them: imports name no ending.

import { existsSync } from "node:fs";
import { registerHooks } from "node:module";

registerHooks({
  resolve(name, context, next) {
    const source = name.startsWith(".") ? new URL(`${name}.ts`, context.parentURL) : undefined;
    return next(source && existsSync(source) ? source.href : name, context);
  },
});

process.env.TZ = "UTC";
const kept = new Map();
globalThis.window = globalThis;
globalThis.document = Object.assign(new EventTarget(), { hidden: false });
globalThis.sessionStorage = {
  getItem: (name) => kept.get(name) ?? null,
  setItem: (name, text) => kept.set(name, text),
  removeItem: (name) => kept.delete(name),
  clear: () => kept.clear(),
};
