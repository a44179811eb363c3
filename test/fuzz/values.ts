// Draws JSON values from the schemas of the API reference, and breaks them.
import fc from 'fast-check';
import type { Dice } from '../chaos/dice.js';
import type { RequestSchema } from './operations.js';

/** A number that JSON.stringify cannot write: `textOf` writes it as it is. */
const rawNumber = (digits: string) => `@number:${digits}@`;

const alphabets = [
  'abcdefghijklmnop',
  '0123456789',
  'áçãõ€ ½٣',
  '😀🧾 漢字ß',
  '"\\/<>&%;\'',
  '\u202e\u200b\t',
];

const hostile: readonly unknown[] = [
  ...'null true false 0 -1 1 0.001 1.005 1e21 9007199254740994 -9223372036854775808 [] {} [[]]'
    .split(' ')
    .map((one) => JSON.parse(one) as unknown),
  ...['', ' ', '\u0000', '\ud800', '😀'.repeat(400), 'x'.repeat(5_000), '../..', 'null', '９９'],
  ...["' OR 1=1; --", '<script>', '2026-02-30', '0000-00-00', '+275760-09-13', 'NaN', '-0'],
  ...['1e400', '-1e400', '1e-400', '12345678901234567890.125', '-0', '0.1e1'].map(rawNumber),
  ...['2026-11-29T25:00:00Z', '9999-12-31T23:59:60Z', '00000000-0000-0000-0000-000000000000'],
  { constructor: { prototype: { admin: true } } },
];

export class Values {
  constructor(
    private readonly dice: Dice,
    private readonly schemas: Record<string, RequestSchema>,
    /** What a field of this name may be, where its type alone would hardly be accepted. */
    private readonly hint: (name: string) => unknown,
  ) {}

  /** A value of the schema, mostly one that its name hints at. */
  valid(schema: RequestSchema, name = '', depth = 0): unknown {
    if (schema.$ref) return this.valid(this.schemas[schema.$ref.split('/').at(-1)!]!, name, depth);
    if ('const' in schema) return schema.const;
    if (schema.enum) {
      const hinted = this.dice.chance(0.9) ? this.hint(name) : undefined;
      return schema.enum.includes(hinted) ? hinted : this.dice.pick(schema.enum);
    }
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return this.valid(this.choice(choices), name, depth);
    const type = Array.isArray(schema.type) ? this.dice.pick(schema.type) : schema.type;
    if (type !== 'object' && type !== 'array' && this.dice.chance(0.9)) {
      const hinted = this.hint(name);
      const types = [type, 'null', ...(type === 'integer' ? ['number', 'string'] : [])];
      if (types.includes(hinted === null ? 'null' : typeof hinted)) return hinted;
    }
    if (type === 'object') return this.object(schema, depth);
    if (type === 'array') return this.array(schema, name, depth);
    return this.scalar(type, schema);
  }

  /** The value with one thing changed: a field is left out, added, or another. */
  broken(value: unknown): unknown {
    const root = { value: structuredClone(value) };
    const slots = slotsOf(root);
    const [holder, key] = this.dice.pick(slots);
    const way = this.dice.next();
    if (way < 0.2 && holder !== root && !Array.isArray(holder)) delete holder[key];
    else if (way < 0.35 && isObject(holder[key])) holder[key][this.text(12)] = this.hostile();
    else if (way < 0.5 && typeof holder[key] === 'string')
      holder[key] = this.otherText(holder[key]);
    else holder[key] = this.hostile();
    return root.value;
  }

  hostile(): unknown {
    return structuredClone(this.dice.pick(hostile));
  }

  text(length: number): string {
    const alphabet = [...this.dice.pick(this.dice.chance(0.7) ? alphabets.slice(0, 3) : alphabets)];
    return Array.from({ length }, () => this.dice.pick(alphabet)).join('');
  }

  /** JSON, with the numbers that only a text can have. */
  textOf(value: unknown): string {
    return JSON.stringify(value ?? null).replace(/"@number:([^@"]+)@"/g, '$1');
  }

  /** A text that is no JSON of one meaning: cut, with a key twice, too deep, too large. */
  brokenText(json: string): string | Buffer {
    const firstKey = /^\{("[^"]*":)/.exec(json)?.[1] ?? '"a":';
    return this.dice.pick([
      json.slice(0, this.dice.integer(0, json.length - 1)),
      json.replace(/^\{/, `{${firstKey}1,`),
      json.replace(/\}$/, ',}'),
      `\ufeff${json}`,
      `${json} ${json}`,
      '['.repeat(3_000),
      `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`,
      '',
      '"text"',
      Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
      json.replace(/\d+/, '٣'),
      `{"a":"${'x'.repeat(300_000)}"}`,
    ]);
  }

  private choice(choices: RequestSchema[]): RequestSchema {
    const filled = choices.filter(({ type }) => type !== 'null');
    return this.dice.pick(filled.length > 0 && this.dice.chance(0.8) ? filled : choices);
  }

  private object(schema: RequestSchema, depth: number): Record<string, unknown> {
    const { properties = {}, required = [], additionalProperties: others } = schema;
    const present = Object.entries(properties).filter(
      ([name]) => required.includes(name) || this.dice.chance(depth > 3 ? 0.1 : 0.35),
    );
    const fields = present.map(([name, of]) => [name, this.valid(of, name, depth + 1)]);
    const isMap = typeof others === 'object' && Object.keys(properties).length === 0;
    const count = isMap ? this.dice.integer(0, 3) : 0;
    const further = Array.from({ length: count }, () => [
      this.text(6),
      this.valid(others as RequestSchema, '', depth + 1),
    ]);
    return Object.fromEntries([...fields, ...further]) as Record<string, unknown>;
  }

  private array(
    { items = {}, minItems = 0, maxItems = 3 }: RequestSchema,
    name: string,
    depth: number,
  ) {
    const length = this.dice.integer(minItems, Math.min(maxItems, minItems + 2));
    return Array.from({ length }, () => this.valid(items, name, depth + 1));
  }

  private scalar(type: string | undefined, schema: RequestSchema): unknown {
    const { exclusiveMinimum, minimum = exclusiveMinimum ?? 0 } = schema;
    // The largest count of what is to be made would take minutes.
    const maximum = Math.min(schema.maximum ?? Infinity, minimum + 1_000);
    if (type === 'null') return null;
    if (type === 'boolean') return this.dice.chance(0.5);
    if (type === 'integer')
      return this.dice.chance(0.2)
        ? this.dice.pick([minimum, maximum])
        : this.dice.integer(minimum, Math.min(maximum, minimum + 60));
    if (type === 'number') return this.dice.integer(minimum * 100 + 1, maximum * 100) / 100;
    return this.string(schema);
  }

  private string({ format, pattern, minLength = 0, maxLength = 60 }: RequestSchema): string {
    const day = new Date(Date.now() + this.dice.integer(-400, 400) * 86_400_000).toISOString();
    if (format === 'date') return day.slice(0, 10);
    if (format === 'date-time') return day;
    if (format === 'uuid') return this.uuid();
    if (format === 'duration') return `PT${this.dice.integer(1, 50)}M`;
    if (pattern) {
      const seed = this.dice.integer(0, 2 ** 31);
      const [matching = ''] = fc.sample(fc.stringMatching(new RegExp(pattern)), {
        seed,
        numRuns: 1,
      });
      return matching === '' ? '' : matching.padEnd(minLength, matching).slice(0, maxLength);
    }
    const length = this.dice.chance(0.1) ? maxLength : this.dice.integer(minLength, minLength + 20);
    return this.text(Math.min(length, maxLength));
  }

  uuid(): string {
    const hex = (length: number) =>
      Array.from({ length }, () => this.dice.integer(0, 15).toString(16)).join('');
    return `${hex(8)}-${hex(4)}-7${hex(3)}-a${hex(3)}-${hex(12)}`;
  }

  private otherText(text: string): string {
    return this.dice.pick([
      `${text}x`,
      text.slice(1),
      text.repeat(40),
      ` ${text}`,
      text.toUpperCase(),
    ]);
  }
}

type Holder = Record<string, unknown>;
type Slot = [holder: Holder, key: string];

function isObject(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every place in a value, with the value itself. */
function slotsOf(holder: object): Slot[] {
  return Object.entries(holder).flatMap(([key, value]): Slot[] => [
    [holder as Holder, key],
    ...(typeof value === 'object' && value !== null ? slotsOf(value as object) : []),
  ]);
}
