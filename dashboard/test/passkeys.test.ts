// Passkeys: what goes to an authenticator and comes back, and what is said when it does not.

import { deepEqual, equal, rejects } from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { nameOf } from "../src/pages/passkey-names";
import { decode, encode, makePasskey, askForPasskey } from "../src/passkeys";
import { session, signInWithPasskey } from "../src/session";
import { anew, answering } from "./browser";

const BEGUN = { flow: "f", challenge: "-_8A", rpId: "mail.example" };
let asked: { publicKey: Record<string, unknown> };

function answers(response: object | (() => never)): void {
  const answer = async (options: typeof asked) => {
    asked = options;
    return { id: "id", response: typeof response === "function" ? response() : response };
  };
  Object.defineProperty(navigator, "credentials", { configurable: true, value: { create: answer, get: answer } });
}

const bytes = (...numbers: number[]) => new Uint8Array(numbers).buffer;

beforeEach(() => {
  anew();
  session.value = null;
});

test("bytes are read and written as base64url without padding", () => {
  for (const numbers of [[], [251], [251, 255], [251, 255, 0], [0, 1, 2, 3]]) {
    deepEqual([...decode(encode(bytes(...numbers)))], numbers);
  }
  equal(encode(bytes(251, 255)), "-_8");
});

test("a passkey is made for the user, with the user verified, on a device that has none yet", async () => {
  answers({ clientDataJSON: bytes(1), attestationObject: bytes(2) });
  const made = await makePasskey({ ...BEGUN, userHandle: "AAE", email: "ada@shop.example", existing: [{ id: "AQ" }] });
  deepEqual(made, { flow: "f", credentialId: "id", clientData: "AQ", attestation: "Ag" });
  deepEqual(asked.publicKey["challenge"], new Uint8Array([251, 255, 0]));
  deepEqual(asked.publicKey["authenticatorSelection"], { residentKey: "required", requireResidentKey: true, userVerification: "required" });
  deepEqual(asked.publicKey["excludeCredentials"], [{ type: "public-key", id: new Uint8Array([1]) }]);
});

test("a passkey signs in without an address", async () => {
  answers({ clientDataJSON: bytes(1), authenticatorData: bytes(2), signature: bytes(3), userHandle: bytes(4) });
  const requests = answering(({ path }) => [200, path.endsWith("challenges") ? BEGUN : { token: "t", expiresIn: 900, user: { id: "u" }, account: null }]);
  await signInWithPasskey();
  equal(session.peek()?.token, "t");
  deepEqual(
    requests.map(({ path, body }) => [path, body]),
    [
      ["session/passkeys/challenges", undefined],
      ["session/passkeys", { flow: "f", credentialId: "id", clientData: "AQ", authenticatorData: "Ag", signature: "Aw", userHandle: "BA" }],
    ],
  );
  equal(asked.publicKey["allowCredentials"], undefined);
});

test("what goes wrong is said in words", async () => {
  for (const [name, said] of [
    ["NotAllowedError", /No passkey was used/],
    ["InvalidStateError", /has a passkey of yours already/],
    ["SecurityError", /Passkeys work at mail\.example only/],
  ] as const) {
    answers(() => {
      throw new DOMException("", name);
    });
    await rejects(askForPasskey(BEGUN), said);
  }
});

test("a passkey has the name of the browser and the system at first", () => {
  equal(nameOf("Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0"), "Firefox on Linux");
  equal(nameOf("Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36"), "Chrome on Android");
  equal(nameOf("Mozilla/5.0 (iPhone; CPU iPhone OS 20_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/20.0 Mobile/15E148 Safari/604.1"), "Safari on iPhone");
  equal(nameOf("x"), "My passkey");
});
