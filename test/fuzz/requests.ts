// Draws one request of an operation: as a client should send it, or with something wrong.
import type { Dice } from '../chaos/dice.js';
import type { FuzzOperation, FuzzParameter, RequestSchema } from './operations.js';
import type { Pool } from './pool.js';
import { Values } from './values.js';

export interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
  /** As the reference has it, except that ids may be of nothing. */
  isValid: boolean;
  /** Whether the caller is of another account than what the path names. */
  isOfOther: boolean;
}

/** Draws what an operation is sent where its schema alone makes nothing that is accepted. */
export type Sample = (dice: Dice, pool: Pool) => unknown;

export interface FuzzWorld {
  pool: Pool;
  /** A valid key for the operation. */
  keyOf: (operation: FuzzOperation) => string;
  /** By header: the key of another account. */
  otherKeys: Record<string, string>;
  /** Bodies by the names of operations. */
  samples: Record<string, Sample>;
  /** Values of fields by their names. */
  hints: Record<string, Sample>;
  /** Whether what is there may be changed or deleted. */
  mayChange?: (path: string, method: string) => boolean;
}

const wrongIds = [
  ...['0', '-1', '%00', '%2e%2e', '%F0%9F%98%80', '%ff', '9'.repeat(30), 'x'.repeat(600)],
  ...['%27%20OR%201=1', '2026-11-01', '2026-13', '00000000-0000-0000-0000-000000000000'],
];
const brokenHeaders: Record<string, string>[] = [
  ...['', 'a b', 'x'.repeat(300), 'é', '1'].map((one) => ({ IdempotencyKey: one })),
  ...['text/plain', 'application/xml', 'application/json; charset=utf-16', '', 'x'].map((one) => ({
    'content-type': one,
  })),
  ...[{ Prefer: 'wait=1, x' }, { 'Concilia-Allow-Duplicate': 'maybe' }, { accept: 'image/png' }],
  ...[{ traceparent: '00-x-y-01' }, { 'content-encoding': 'gzip' }, { 'x-forwarded-for': 'a, b' }],
];

export class Requests {
  private readonly values: Values;
  /** By operation: bodies that were accepted. Others are like them, with something wrong. */
  private readonly accepted = new Map<string, unknown[]>();

  constructor(
    private readonly dice: Dice,
    private readonly world: FuzzWorld,
    schemas: Record<string, RequestSchema>,
  ) {
    this.values = new Values(dice, schemas, (name) => {
      const hint = world.hints[name];
      return hint && dice.chance(0.9) ? hint(dice, world.pool) : world.pool.value(dice, name);
    });
  }

  draw(operation: FuzzOperation): FuzzRequest {
    const { dice, world } = this;
    const wrong = dice.chance(0.65) ? null : dice.pick(['path', 'query', 'header', 'body', 'body']);
    const headers = this.headers(operation);
    const isOfOther = operation.keyHeader in world.otherKeys && dice.chance(0.04);
    if (isOfOther) headers[operation.keyHeader] = world.otherKeys[operation.keyHeader]!;
    // It is rare, because the answer to a wrong key is held for a second.
    else if (dice.chance(0.001)) headers[operation.keyHeader] = dice.pick(['', 'x'.repeat(5_000)]);
    const path = this.path(operation, wrong === 'path');
    const query = this.query(operation, wrong === 'query');
    const body = this.body(operation, wrong === 'body', headers);
    if (wrong === 'header') Object.assign(headers, dice.pick(brokenHeaders));
    return {
      ...{ method: operation.method, path: path + query, headers },
      ...{ isValid: wrong === null, isOfOther },
      ...(body === undefined ? {} : { body }),
    };
  }

  accept(name: string, body: unknown): void {
    const bodies = this.accepted.get(name) ?? [];
    this.accepted.set(name, [...bodies, body].slice(-20));
  }

  private path({ path, method }: FuzzOperation, isWrong: boolean): string {
    const isAllowed = (one: string) =>
      method === 'GET' || (this.world.mayChange?.(one, method) ?? true);
    const known = isWrong ? null : this.world.pool.path(this.dice, path, isAllowed);
    return known ?? path.replace(/\{\w+\}/g, () => this.dice.pick(wrongIds));
  }

  private query({ parameters, path }: FuzzOperation, isWrong: boolean): string {
    const search = new URLSearchParams();
    for (const one of parameters)
      if (one.in === 'query' && (one.required || this.dice.chance(0.2)))
        search.append(one.name, this.parameter(one, path));
    if (isWrong) {
      const names = [...search.keys(), 'limit', 'cursor', 'unknown', '__proto__', 'a[]'];
      const value = this.values.textOf(this.values.hostile()).slice(0, 2_000);
      search.append(this.dice.pick(names), value);
    }
    const end = isWrong ? this.dice.pick(['', '', '&%', '&a=%ff', '&=&&']) : '';
    return search.size > 0 ? `?${search}${end}` : '';
  }

  private parameter({ name, schema }: FuzzParameter, path: string): string {
    if (name === 'cursor')
      return this.world.pool.text(this.dice, `cursor ${path}`) ?? this.values.text(20);
    const value = this.values.valid(schema, name);
    return typeof value === 'string' ? value : this.values.textOf(value);
  }

  private headers(operation: FuzzOperation): Record<string, string> {
    const headers = { [operation.keyHeader]: this.world.keyOf(operation) };
    for (const { name, in: where, required, schema } of operation.parameters)
      if (where === 'header' && (required || this.dice.chance(0.5)))
        headers[name] =
          name === 'IdempotencyKey' ? this.values.uuid() : String(this.values.valid(schema));
    return headers;
  }

  private body(
    { name, body, fileTypes }: FuzzOperation,
    isWrong: boolean,
    headers: Record<string, string>,
  ): string | Buffer | undefined {
    const { dice, values } = this;
    const sample = this.world.samples[name];
    if (fileTypes.length > 0) {
      const rows = sample!(dice, this.world.pool) as object[];
      const text = rows.map((row) => values.textOf(row)).join('\n');
      headers['content-type'] = isWrong ? dice.pick(fileTypes) : fileTypes[0]!;
      return isWrong ? dice.pick([values.brokenText(text), values.text(300), text]) : text;
    }
    if (!body) return isWrong ? '{"a":1}' : undefined;
    headers['content-type'] = 'application/json';
    const drawn = sample && dice.chance(0.6) ? sample(dice, this.world.pool) : values.valid(body);
    if (!isWrong) return values.textOf(drawn);
    const base = dice.pick(this.accepted.get(name) ?? [drawn]);
    return dice.chance(0.75)
      ? values.textOf(values.broken(base))
      : values.brokenText(values.textOf(base));
  }
}
