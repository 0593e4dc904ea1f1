// What the tests use of Node.js, whose own types are no dependency.

declare module "node:test" {
  interface Timers {
    enable(options: { apis: ("setTimeout" | "Date")[]; now?: number }): void;
    tick(milliseconds: number): void;
    reset(): void;
  }
  export const mock: { timers: Timers };
  export function test(shows: string, body: () => void | Promise<void>): void;
  export function beforeEach(body: () => void): void;
}

declare module "node:assert/strict" {
  export function equal(actual: unknown, expected: unknown): void;
  export function deepEqual(actual: unknown, expected: unknown): void;
  export function match(actual: string, expected: RegExp): void;
  export function rejects(promise: Promise<unknown>, expected: RegExp): Promise<void>;
}
