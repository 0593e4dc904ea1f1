// Show this server's document with Scalar and fill in the local key. No other host is contacted.
const { key } = await (await fetch("/docs/key.json")).json();

Scalar.createApiReference("#reference", {
  url: "/openapi.json",
  authentication: key && {
    preferredSecurityScheme: "ApiKey",
    securitySchemes: { ApiKey: { value: key } },
  },
  layout: "classic",
  defaultOpenAllTags: true,
  featuredClients: ["shell/curl", "python/requests", "js/fetch", "go/native"],
  hideModels: true,
  hideClientButton: true,
  showDeveloperTools: "never",
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
});

// Add what is missing in Scalar's markup for screen readers.
function addLabels() {
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
