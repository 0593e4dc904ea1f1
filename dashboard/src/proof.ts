// Proof of work, in version 1 of the protocol of ALTCHA: find the number that a hash was made from.

import { sha256 } from "./sha256";
import type { ChallengeItem, ProofBody } from "./schema";

/** After so many hashes, a few hundredths of a second, the page may draw. */
const BATCH = 20_000;

/** Solve a challenge. It takes about a second: a call of WebCrypto for each hash would take twenty. */
export async function solve({ algorithm, challenge, maxnumber, salt, signature }: ChallengeItem): Promise<ProofBody> {
  const isRight = sha256(salt, challenge);
  for (let number = 0; number <= maxnumber; number += 1) {
    if (isRight(number)) return { algorithm, challenge, number, salt, signature };
    if (number % BATCH === BATCH - 1) await new Promise((go) => setTimeout(go));
  }
  throw new Error("This browser has found no solution. Load the page again.");
}
