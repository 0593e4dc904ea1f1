// Show this server's document with Scalar and fill in the local key. No other host is contacted.
const read = async (url) => (await fetch(url)).json();
const { key } = await read("/docs/key.json");
const all = location.pathname === "/docs/all";
const url = key && !all ? "/docs/openapi.json" : "/openapi.json";

Scalar.createApiReference("#reference", {
  url,
  authentication: key && {
    preferredSecurityScheme: "ApiKey",
    securitySchemes: { ApiKey: { value: key } },
  },
  layout: "classic",
  featuredClients: ["shell/curl", "python/requests", "js/fetch"],
  hideModels: true,
  hideClientButton: true,
  showDeveloperTools: "never",
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
});

// Scalar lists the operations at the side only in its layout that unfolds them all.
const { tags, paths } = await read(url);
const list = document.querySelector("#operations details");
list.open = matchMedia("(width >= 1000px)").matches;
for (const { name } of tags) {
  const part = document.createElement("ul");
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (!operation.tags.includes(name)) continue;
      const entry = part.appendChild(document.createElement("li"));
      const anchor = `#tag/${name.toLowerCase().replaceAll(" ", "-")}/${method.toUpperCase()}${path}`;
      entry.append(link(operation.summary, anchor));
    }
  }
  list.append(Object.assign(document.createElement("h2"), { textContent: name }), part);
}
const ways = document.querySelector("#ways");
ways.append(link(key ? "← Dashboard" : "← Inbox", "/"));
if (key) ways.append(all ? link("What a key may call", "/docs") : link("All operations", "/docs/all"));

function link(textContent, href) {
  return Object.assign(document.createElement("a"), { textContent, href });
}

// Add what is missing in Scalar's markup for screen readers.
function addLabels() {
  // An operation that is chosen in the list unfolds, and its button does not say so.
  for (const operation of document.querySelectorAll(".reference-endpoint")) {
    const button = operation.querySelector(".section-accordion-header > button");
    if (button) button.ariaExpanded = String(operation.querySelector(".endpoint-content") !== null);
  }
  for (const field of document.querySelectorAll("[role=combobox]:not([aria-expanded])")) {
    field.setAttribute("aria-expanded", "false");
  }
  for (const editor of document.querySelectorAll(".cm-content:not([aria-label])")) {
    editor.setAttribute("aria-label", editor.isContentEditable ? "Request body" : "Response body");
  }
  for (const button of document.querySelectorAll("[aria-label='Copy code'][aria-controls]")) {
    button.removeAttribute("aria-controls"); // it refers to an element that does not exist
  }
}
new MutationObserver(addLabels).observe(document.body, { childList: true, subtree: true });
