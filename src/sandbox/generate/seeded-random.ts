import { stringify } from 'uuid';

const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A random generator: equal seeds give equal values. For test data, not for secrets. */
export class SeededRandom {
  private readonly state: Uint32Array;

  constructor(seed: string) {
    // Each word of the state is an FNV-1a hash of the seed.
    this.state = Uint32Array.from([1, 2, 3, 4], (word) => {
      let hash = 2_166_136_261 ^ word;
      for (let index = 0; index < seed.length; index += 1)
        hash = Math.imul(hash ^ seed.charCodeAt(index), 16_777_619);
      return hash >>> 0;
    });
    for (let round = 0; round < 12; round += 1) this.next();
  }

  /** The next 32 bits of the generator sfc32. */
  private next(): number {
    const [a = 0, b = 0, c = 0, counter = 0] = this.state;
    const drawn = (a + b + counter) | 0;
    this.state[3] = counter + 1;
    this.state[0] = b ^ (b >>> 9);
    this.state[1] = c + (c << 3);
    this.state[2] = ((c << 21) | (c >>> 11)) + drawn;
    return drawn >>> 0;
  }

  /** From 0 to below 1. */
  fraction(): number {
    return this.next() / 2 ** 32;
  }

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] as Item;
  }

  /** A value of about the standard normal distribution, as a sum of uniform values. */
  normal(): number {
    let sum = -3;
    for (let index = 0; index < 6; index += 1) sum += this.fraction();
    return sum * Math.SQRT2;
  }

  alphanumeric(length: number): string {
    let text = '';
    for (let index = 0; index < length; index += 1)
      text += characters[this.below(characters.length)];
    return text;
  }

  /** A UUID in the form of version 4. */
  uuid(): string {
    const bytes = Buffer.alloc(16);
    for (let at = 0; at < 16; at += 4) bytes.writeUInt32BE(this.next(), at);
    bytes[6] = (bytes[6]! & 15) | 64;
    bytes[8] = (bytes[8]! & 63) | 128;
    return stringify(bytes);
  }
}
