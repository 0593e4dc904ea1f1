// How a browser names a passkey.

/** Return a name for a passkey that this browser makes. */
export function nameOf(agent: string): string {
  const first = (...names: string[]) => names.find((name) => agent.includes(name));
  const browser = first("Edg", "Firefox", "Chrome", "Safari")?.replace("Edg", "Edge");
  const system = first("iPhone", "iPad", "Android", "Windows", "Mac OS", "Linux")?.replace("Mac OS", "macOS");
  return [browser, system].filter(Boolean).join(" on ") || "My passkey";
}
