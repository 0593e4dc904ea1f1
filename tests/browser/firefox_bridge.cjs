// Playwright sets the colour scheme of each new page with a command that Firefox's ESR does not know
// yet, and gives up. It asks for the session's status instead here, which changes nothing.

const fs = require("node:fs");
const { _extensions } = require("node:module");

const load = _extensions[".js"];
_extensions[".js"] = (module, path) => {
  if (!path.endsWith("coreBundle.js")) return load(module, path);
  const source = fs.readFileSync(path, "utf8");
  module._compile(source.replaceAll("emulation.setMediaFeaturesOverride", "session.status"), path);
};
