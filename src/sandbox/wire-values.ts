import { z } from 'zod';
import type { Route } from '../bank-contract/route.js';
import { bigInteger, reais } from '../bank-contract/wire.js';
import { stringifyJson } from '../platform/json/exact-json.js';

/** An amount as an exact JSON number in reais. */
export function wireReais(cents: bigint) {
  return z.encode(reais, cents);
}

/** A whole number as an exact JSON number. */
export function wireInteger(value: bigint) {
  return z.encode(bigInteger, value);
}

/** The JSON text of a response. */
export function responseText<R extends Route>(route: R, response: z.output<R['response']>): string {
  return stringifyJson(z.encode(route.response, response));
}

/** More rows than any account will have, and still a number that PostgreSQL accepts as OFFSET. */
const maxOffset = 2n ** 62n;

/** How many rows precede the requested page, however large its number is. */
export function pageOffset(page: number, limit: number): bigint {
  const offset = BigInt(page - 1) * BigInt(limit);
  return offset < maxOffset ? offset : maxOffset;
}
