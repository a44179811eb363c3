import { z } from 'zod';
import { bigInteger, reais } from '../contract/wire.js';

/** An amount as an exact JSON number in reais. */
export function wireReais(cents: bigint) {
  return z.encode(reais, cents);
}

/** A whole number as an exact JSON number. */
export function wireInteger(value: bigint) {
  return z.encode(bigInteger, value);
}

/** More rows than any account will have, and still a number that PostgreSQL accepts as OFFSET. */
const maxOffset = 2n ** 62n;

/** How many rows precede the requested page, however large its number is. */
export function pageOffset(page: number, limit: number): bigint {
  const offset = BigInt(page - 1) * BigInt(limit);
  return offset < maxOffset ? offset : maxOffset;
}
