import assert from "node:assert/strict";
import { test } from "node:test";

import { flipped, KINDS, kindsOf, testWords, textOf } from "../src/pages/alert-words";

test("a kind that is flipped twice is as it was", () => {
  for (const kind of Object.keys(KINDS)) {
    const off = flipped("endpoint quota", kind);
    assert.equal(kindsOf(off).includes(kind as never), !["endpoint", "quota"].includes(kind));
    assert.equal(flipped(off, kind), "endpoint quota");
  }
  assert.equal(flipped("quota", "quota"), "");
  assert.deepEqual(kindsOf(""), []);
  assert.equal(textOf(["quota", "domain"]), "domain quota");
});

test("a test says what the chat answered, and that the email takes longer", () => {
  const at = "2026-01-01T12:00:00.000+00:00";
  assert.equal(testWords({ mail: true, post: null }), "An email comes in a minute or two.");
  assert.equal(testWords({ mail: false, post: { at, error: null } }), "The test is posted.");
  assert.equal(testWords({ mail: true, post: { at, error: "404 no_service" } }), "The post failed: 404 no_service. An email comes in a minute or two.");
});
