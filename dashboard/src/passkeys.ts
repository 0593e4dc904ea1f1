// Passkeys: what the browser asks an authenticator, and what the service gets of the answer.

import type { NewPasskey, NewPasskeyChallenge, PasskeyChallenge, PasskeySignIn } from "./schema";

/** Of COSE: ES256, EdDSA and RS256. Each authenticator has one of them. */
const ALGORITHMS = [-7, -8, -257];
const TIME = 240_000; // milliseconds: a challenge is valid a little longer

/** Let an authenticator make a passkey for a challenge. */
export async function makePasskey(begun: NewPasskeyChallenge): Promise<Omit<NewPasskey, "name">> {
  const made = await ask(begun, () =>
    navigator.credentials.create({
      publicKey: {
        challenge: decode(begun.challenge),
        rp: { id: begun.rpId, name: "Pillarbox" },
        user: { id: decode(begun.userHandle), name: begun.email, displayName: begun.email },
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
        authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
        excludeCredentials: begun.existing.map(({ id }) => ({ type: "public-key", id: decode(id) })),
        attestation: "none",
        timeout: TIME,
      },
    }),
  );
  const response = made.response as AuthenticatorAttestationResponse;
  return { ...answer(begun, made), attestation: encode(response.attestationObject) };
}

/** Let the user choose a passkey, and an authenticator answer a challenge with it. */
export async function askForPasskey(begun: PasskeyChallenge): Promise<PasskeySignIn> {
  const used = await ask(begun, () =>
    navigator.credentials.get({
      publicKey: { challenge: decode(begun.challenge), rpId: begun.rpId, userVerification: "required", timeout: TIME },
    }),
  );
  const response = used.response as AuthenticatorAssertionResponse;
  return {
    ...answer(begun, used),
    authenticatorData: encode(response.authenticatorData),
    signature: encode(response.signature),
    userHandle: encode(response.userHandle ?? new ArrayBuffer(0)),
  };
}

async function ask({ rpId }: PasskeyChallenge, run: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await run();
    if (credential) return credential as PublicKeyCredential;
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    if (name === "InvalidStateError") throw new Error("This device has a passkey of yours already.");
    if (name === "SecurityError") throw new Error(`Passkeys work at ${rpId} only.`);
  }
  // The browser does not say which, so that a page learns nothing of an authenticator.
  throw new Error("No passkey was used: the request was cancelled, took too long, or there is none on this device.");
}

function answer({ flow }: PasskeyChallenge, { id, response }: PublicKeyCredential) {
  return { flow, credentialId: id, clientData: encode(response.clientDataJSON) };
}

export function encode(content: ArrayBuffer): string {
  const binary = Array.from(new Uint8Array(content), (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export function decode(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
}
