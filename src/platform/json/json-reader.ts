// Reads JSON text in one pass: numbers exactly, and no more than its limits allow. A text is sliced
// where it has no escapes, so that a document costs a fraction of reading it by characters.
import { isDeepStrictEqual } from 'node:util';
import { LosslessNumber } from 'lossless-json';
import { withoutCase } from '../../bank-contract/wire.js';

export interface JsonParseOptions {
  /**
   * A deeper document is an error: each level uses stack. No body of the contract needs a tenth of
   * this depth.
   */
  maxDepth: number;
  /** The most entries of one array or object. */
  maxEntries: number;
  /** The most values of the document: reading, validating and hashing take time for each. */
  maxValues: number;
  /**
   * Returns the value of a key that occurs twice in an object, or throws. JSON.parse takes the last
   * value. Two equal values are one.
   */
  onDuplicateKey: (duplicate: { newValue: unknown }) => unknown;
  /**
   * Whether names of one object that differ by letter case alone are an error: a reader that
   * ignores letter case would take one of them, and another one could have been checked.
   */
  refusesCaseTwins?: true;
  /** Whether `sourceOf` is asked for the items of a document that is an array. */
  keepsSources?: true;
}

/** The texts of items. They are parts of the texts of their documents, which are not copied. */
const sources = new WeakMap<object, string>();

/** The text of an item that was read with `keepsSources`. */
export const sourceOf = (item: unknown): string | undefined =>
  typeof item === 'object' && item !== null ? sources.get(item) : undefined;

/** The document exceeds a limit. The message may be shown to the caller: it quotes nothing. */
export class JsonExcess extends Error {}

const [quote, backslash, comma, colon, minus] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [space, lineFeed, carriageReturn, tab] = [0x20, 0x0a, 0x0d, 0x09];
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const isNotPlain = /[\\\u0000-\u001f]/;

export class JsonReader {
  private index = 0;
  private depth = 0;
  private values = 0;

  constructor(
    private readonly text: string,
    private readonly options: JsonParseOptions,
  ) {}

  /** The value of the whole text. Throws JsonExcess, and SyntaxError, whose message quotes it. */
  read(): unknown {
    this.skipSpace();
    const value = this.readValue();
    if (this.index < this.text.length) throw new SyntaxError('text after the document');
    return value;
  }

  /** The value at `index`. Space after it is skipped, as after everything that is read. */
  private readValue(): unknown {
    this.values += 1;
    const { maxValues } = this.options;
    if (this.values > maxValues)
      throw new JsonExcess(`The body must have at most ${maxValues} values.`);
    const code = this.text.charCodeAt(this.index);
    if (code === quote) return this.readString();
    if (code === openBrace) return this.readObject();
    if (code === openBracket) return this.readArray();
    if (code === minus || (code >= 0x30 && code <= 0x39)) return this.readNumber();
    for (const [word, value] of words)
      if (this.text.startsWith(word, this.index)) return this.endOf(value, word.length);
    throw new SyntaxError('no value');
  }

  private readObject(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    const names = this.options.refusesCaseTwins ? new Map<string, string>() : null;
    this.readEntries(closeBrace, () => {
      if (this.text.charCodeAt(this.index) !== quote) throw new SyntaxError('no key');
      const key = this.readString();
      const name = names && withoutCase(key);
      if (name && (names.get(name) ?? key) !== key)
        throw new JsonExcess('Two names of the body must not differ by letter case alone.');
      if (name) names.set(name, key);
      this.expect(colon);
      const value = this.readValue();
      if (!Object.hasOwn(object, key)) setField(object, key, value);
      else if (!isDeepStrictEqual(object[key], value))
        setField(object, key, this.options.onDuplicateKey({ newValue: value }));
    });
    return object;
  }

  private readArray(): unknown[] {
    const array: unknown[] = [];
    this.readEntries(closeBracket, () => {
      const from = this.index;
      const item = this.readValue();
      array.push(item);
      if (this.options.keepsSources && this.depth === 1) this.keepSource(item, from);
    });
    return array;
  }

  private keepSource(item: unknown, from: number): void {
    if (typeof item === 'object' && item !== null)
      sources.set(item, this.text.slice(from, this.index).trimEnd());
  }

  private readEntries(close: number, readEntry: () => void): void {
    const { maxDepth, maxEntries } = this.options;
    this.depth += 1;
    if (this.depth > maxDepth)
      throw new JsonExcess(`The body must have at most ${maxDepth} levels.`);
    this.expectAny();
    let entries = 0;
    if (this.text.charCodeAt(this.index) !== close)
      for (;;) {
        entries += 1;
        if (entries > maxEntries)
          throw new JsonExcess(
            `An array or object of the body must have at most ${maxEntries} entries.`,
          );
        readEntry();
        if (this.text.charCodeAt(this.index) !== comma) break;
        this.expectAny();
      }
    this.expect(close);
    this.depth -= 1;
  }

  private readString(): string {
    const start = this.index + 1;
    let end = this.text.indexOf('"', start);
    while (end >= 0 && this.isEscaped(end)) end = this.text.indexOf('"', end + 1);
    if (end < 0) throw new SyntaxError('text without an end');
    const plain = this.text.slice(start, end);
    // JSON.parse reads escapes, and rejects control characters.
    const value = isNotPlain.test(plain)
      ? (JSON.parse(this.text.slice(start - 1, end + 1)) as string)
      : plain;
    return this.endOf(value, end + 1 - this.index);
  }

  /** Whether an odd number of backslashes stands before the character at `end`. */
  private isEscaped(end: number): boolean {
    let from = end;
    while (this.text.charCodeAt(from - 1) === backslash) from -= 1;
    return (end - from) % 2 === 1;
  }

  private readNumber(): LosslessNumber {
    number.lastIndex = this.index;
    const digits = number.exec(this.text)?.[0];
    if (digits === undefined) throw new SyntaxError('no number');
    return this.endOf(new LosslessNumber(digits), digits.length);
  }

  private expect(code: number): void {
    if (this.text.charCodeAt(this.index) !== code) throw new SyntaxError('another character');
    this.expectAny();
  }

  private expectAny(): void {
    this.index += 1;
    this.skipSpace();
  }

  private endOf<Value>(value: Value, length: number): Value {
    this.index += length;
    this.skipSpace();
    return value;
  }

  private skipSpace(): void {
    for (; ; this.index += 1) {
      const code = this.text.charCodeAt(this.index);
      if (code !== space && code !== lineFeed && code !== carriageReturn && code !== tab) return;
    }
  }
}

const words = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

/** An assignment to `__proto__` would change the prototype. */
function setField(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else {
    const field = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(object, key, field);
  }
}
