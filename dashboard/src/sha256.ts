// SHA-256 (FIPS 180-4) of one text with many numbers at its end. The blocks of the text are hashed only once.

const BLOCK = 64; // octets
const STATE = [2, 3, 5, 7, 11, 13, 17, 19].map((prime) => fraction(Math.sqrt(prime)));
const ROUNDS = Int32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));
const words = new Int32Array(64);

/** Return a function that says whether the hash of the text and a number is the given one, in hex. */
export function sha256(text: string, hex: string): (number: number) => boolean {
  const octets = new TextEncoder().encode(text);
  const wanted = Int32Array.from({ length: 8 }, (_, at) => Number(`0x${hex.slice(8 * at, 8 * at + 8)}`));
  const start = octets.length - (octets.length % BLOCK);
  const before = Int32Array.from(STATE);
  for (let at = 0; at < start; at += BLOCK) compress(before, new DataView(octets.buffer, at, BLOCK));
  // The rest of the text, a number, a bit that ends them, and the length of all in bits.
  const rest = new Uint8Array(2 * BLOCK);
  rest.set(octets.subarray(start));
  const views = [new DataView(rest.buffer, 0, BLOCK), new DataView(rest.buffer, BLOCK, BLOCK)];
  const state = new Int32Array(8);
  const from = octets.length - start;
  let [end, blocks] = [0, 0];
  return (number) => {
    const digits = String(number);
    if (end !== from + digits.length) {
      end = from + digits.length;
      blocks = end + 9 > BLOCK ? 2 : 1;
      rest.fill(0, from).fill(0x80, end, end + 1);
      views[blocks - 1]!.setUint32(BLOCK - 4, 8 * (start + end));
    }
    for (let at = 0; at < digits.length; at += 1) rest[from + at] = digits.charCodeAt(at);
    state.set(before);
    for (let at = 0; at < blocks; at += 1) compress(state, views[at]!);
    return state[0] === wanted[0] && state.every((word, at) => word === wanted[at]);
  };
}

function compress(state: Int32Array, block: DataView): void {
  for (let at = 0; at < 16; at += 1) words[at] = block.getInt32(4 * at);
  for (let at = 16; at < 64; at += 1) {
    const [early, late] = [words[at - 15]!, words[at - 2]!];
    const low = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const high = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    words[at] = words[at - 16]! + low + words[at - 7]! + high;
  }
  let [a, b, c, d] = [state[0]!, state[1]!, state[2]!, state[3]!];
  let [e, f, g, h] = [state[4]!, state[5]!, state[6]!, state[7]!];
  for (let at = 0; at < 64; at += 1) {
    const first = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[at]! + words[at]!) | 0;
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** Return the first 32 bits after the binary point. */
function fraction(value: number): number {
  return ((value % 1) * 2 ** 32) | 0;
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let number = 2; found.length < count; number += 1) if (found.every((prime) => number % prime)) found.push(number);
  return found;
}
