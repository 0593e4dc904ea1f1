// Proof of work, in version 1 of the protocol of ALTCHA: find the number that a hash was made from.

import type { ChallengeItem, ProofBody } from "./schema";

/** WebCrypto hashes outside of the page's thread. After so many hashes the page may draw. */
const BATCH = 500;

/** Solve a challenge. It takes about a second. */
export async function solve({ algorithm, challenge, maxnumber, salt, signature }: ChallengeItem): Promise<ProofBody> {
  const encoder = new TextEncoder();
  const hash = async (number: number) => hex(await crypto.subtle.digest(algorithm, encoder.encode(salt + number)));
  for (let start = 0; start <= maxnumber; start += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, maxnumber + 1 - start) }, (_, offset) => start + offset);
    const found = (await Promise.all(numbers.map(hash))).indexOf(challenge);
    if (found >= 0) return { algorithm, challenge, number: start + found, salt, signature };
  }
  throw new Error("This browser has found no solution. Load the page again.");
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
