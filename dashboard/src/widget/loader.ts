// Inserts the frame of the preview widget after its script. It reads nothing from the page. Where the
// page's policy or the service allows no frame, there is a link instead.

const TALLEST = 2_000; // pixels
const PATIENCE = 2_000; // milliseconds from the end of loading until the frame reports its height
const script = (document.currentScript ?? document.querySelector("script[data-pillarbox]")) as HTMLScriptElement;
const { origin } = new URL(script.src);

const frame = document.createElement("iframe");
frame.title = "Get a preview key";
frame.allow = `clipboard-write ${origin}`;
Object.assign(frame.style, {
  boxSizing: "border-box",
  width: "100%",
  minWidth: "280px",
  maxWidth: "480px",
  height: "260px",
  border: "1px solid #8d867d",
  borderRadius: "12px",
});
// A page can be light although the system is dark.
const { theme } = script.dataset;
frame.src = `${origin}/widget${theme ? `?theme=${encodeURIComponent(theme)}` : ""}`;

const link = document.createElement("a");
link.href = `${origin}/widget`;
link.target = "_blank";
link.rel = "noopener";
link.textContent = "Get a preview key";
let heard = false;
function giveWay() {
  if (heard || !frame.isConnected) return;
  frame.style.display = "none";
  frame.after(link);
}
document.addEventListener("securitypolicyviolation", ({ blockedURI }) => blockedURI.startsWith(origin) && giveWay());
frame.addEventListener("load", () => setTimeout(giveWay, PATIENCE));

addEventListener("message", ({ source, origin: sender, data }) => {
  if (source !== frame.contentWindow || sender !== origin) return;
  heard = true;
  link.remove();
  frame.style.display = "";
  const height: unknown = data?.height;
  // The frame has a border of one pixel.
  if (typeof height === "number" && height > 0 && height <= TALLEST) frame.style.height = `${height + 2}px`;
});
// A script in the head has no place to show anything, and may run when the page is complete.
if (!script.closest("head")) script.after(frame);
else if (document.body) document.body.append(frame);
else addEventListener("DOMContentLoaded", () => document.body.append(frame));

export {};
