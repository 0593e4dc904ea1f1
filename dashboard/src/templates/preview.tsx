// The email as the service renders it: in a frame that runs no script of it, as text, and as HTML.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { Copy, Segments } from "../parts/basics";
import { Notice } from "../parts/notice";
import type { RenderedTemplate } from "../schema";
import type { Rendering } from "./rendering";

const VIEWS = ["preview", "text", "HTML"] as const;
const SCHEMES = ["light", "dark"] as const;
const DEVICES = ["desktop", "phone"] as const;
const WIDTHS = { desktop: 700, phone: 375 }; // pixels; a narrower frame is scaled
type Scheme = (typeof SCHEMES)[number];
type Device = (typeof DEVICES)[number];

export function Preview({ of: { answer, email, error, waiting } }: { of: Rendering }) {
  const [view, setView] = useState<(typeof VIEWS)[number]>("preview");
  const [scheme, setScheme] = useState<Scheme>("light");
  const [device, setDevice] = useState<Device>(() => (matchMedia("(max-width: 760px)").matches ? "phone" : "desktop"));
  const [images, setImages] = useState(false);
  return (
    <section class="preview" aria-label="Preview" aria-busy={waiting}>
      <div class="bar">
        <Segments name="View" of={VIEWS} value={view} onChange={setView} />
        {view === "preview" && (
          <>
            <Segments name="Colours of the preview" of={SCHEMES} value={scheme} onChange={setScheme} />
            <Segments name="Width" of={DEVICES} value={device} onChange={setDevice} />
          </>
        )}
      </div>
      {error && <Notice kind="bad">{email ? "The preview is old: " : ""}{error.message}</Notice>}
      {answer && answer.html === null && <Notice kind="bad">{email ? "The preview is the last one without errors." : "There is no preview while the source has errors."}</Notice>}
      {email && (
        <>
          {view === "preview" && <p class="line"><b>{email.subject || "(no subject)"}</b></p>}
          {view === "preview" && <Frame key={String(images)} html={email.html ?? ""} scheme={scheme} device={device} images={images} />}
          {view === "text" && <Output name="Text part" text={email.text ?? ""} />}
          {view === "HTML" && <Output name="HTML of the email" text={email.html ?? ""} />}
          <p class="line">
            <span class="hint">{sizes(email)}</span>
            {view === "preview" && (
              <label class="check">
                <input type="checkbox" checked={images} onChange={() => setImages(!images)} /> Load images
              </label>
            )}
          </p>
        </>
      )}
      {!answer && !error && <p class="hint wait" role="status">The preview is on its way.</p>}
    </section>
  );
}

/** An email in a frame that runs no script of it. Without `links` they lead nowhere. */
export function Frame({ html, scheme, device, images, links = true }: { html: string; scheme: Scheme; device: Device; images: boolean; links?: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLIFrameElement>(null);
  const [ready, setReady] = useState(false);
  const [room, setRoom] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const listen = (event: MessageEvent) => event.source === frame.current?.contentWindow && event.data === "ready" && setReady(true);
    const observer = new ResizeObserver(([entry]) => entry && setRoom(entry.contentRect));
    addEventListener("message", listen);
    if (place.current) observer.observe(place.current);
    return () => {
      removeEventListener("message", listen);
      observer.disconnect();
    };
  }, []);
  useEffect(() => {
    // The frame has an origin of its own, which no name means; its policy keeps other pages out of it.
    if (ready) frame.current?.contentWindow?.postMessage({ html, scheme, links }, "*");
  }, [ready, html, scheme, links]);
  const width = device === "desktop" ? Math.max(WIDTHS.desktop, room.width) : WIDTHS.phone;
  const scale = Math.min(1, room.width / width || 1);
  return (
    <div class="frame" ref={place}>
      <iframe
        ref={frame}
        title="Preview of the email"
        src={`/app/preview.html${images ? "?images" : ""}`}
        sandbox={`allow-scripts${links ? " allow-popups allow-popups-to-escape-sandbox" : ""}`}
        style={{ width: `${width}px`, height: `${room.height / scale}px`, transform: `scale(${scale})` }}
      />
    </div>
  );
}

type Part = "reply" | "email" | "text" | "HTML";
const PARTS: Record<Exclude<Part, "email">, string> = { reply: "Reply", text: "Text part", HTML: "HTML of the email" };

/** The parts that an email has, one at a time, in their order here; what it looks like without links and, at first, images. */
export function Parts({ of: parts }: { of: Partial<Record<Part, string | null>> }) {
  const views = (Object.keys(parts) as Part[]).filter((view) => parts[view] !== null);
  const [view, setView] = useState(views[0]);
  const [images, setImages] = useState(false);
  const [phone] = useState(() => matchMedia("(max-width: 760px)").matches);
  if (!view) return <Notice kind="note">The email has no part that can be shown here. The file has all of it.</Notice>;
  const text = parts[view] ?? "";
  return (
    <>
      <div class="bar">
        <Segments name="Part of the email" of={views} value={view} onChange={setView} />
        {view === "email" && (
          <button type="button" class="button small" aria-pressed={images} onClick={() => setImages(!images)}>
            {images ? "Hide images" : "Load images"}
          </button>
        )}
      </div>
      {view === "email" ? (
        <Frame key={String(images)} html={text} scheme="light" device={phone ? "phone" : "desktop"} images={images} links={false} />
      ) : (
        <Output name={PARTS[view]} text={text} />
      )}
    </>
  );
}

export function Output({ name, text }: { name: string; text: string }) {
  return (
    <div class="code output">
      <pre tabIndex={0} role="region" aria-label={name}>
        {text}
      </pre>
      <Copy text={text} />
    </div>
  );
}

function sizes({ bytes, text }: RenderedTemplate): string {
  return `HTML ${size(bytes)} · text ${size(new TextEncoder().encode(text ?? "").length)}`;
}

export function size(bytes: number): string {
  return bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toLocaleString("en-GB", { maximumFractionDigits: 1 })} KB`;
}
