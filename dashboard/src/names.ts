// Names of the DNS, as people paste them and as their providers ask for them.

/** Return the host of a pasted URL or email address; other text is as it is. */
export function hostOf(text: string): string {
  return text.trim().replace(/^(https?:\/\/)?([^/@\s]*@)?([^/?#:\s]+)([/?#:].*)?$/i, "$3");
}

/** Return the part of a host before the domain: many DNS providers want only that. */
export function labelOf(host: string, domain: string): string {
  return host === domain ? "@" : host.slice(0, -domain.length - 1);
}

/** Return a DMARC record that names who gets the reports (RFC 7489 section 6.2); without an address the same one. */
export function withReports(record: string, address: string): string {
  if (!/^[^@\s]+@[^@\s.]+(\.[^@\s.]+)+$/.test(address)) return record;
  return `${record}; rua=mailto:${address.replace(/[,;!%]/g, (sign) => encodeURIComponent(sign).replace("!", "%21"))}`;
}
