import { z } from 'zod';
import { bigInteger, reais } from '../contract/wire.js';

/** An amount as it is told: an exact JSON number in reais. */
export function wireReais(cents: bigint) {
  return z.encode(reais, cents);
}

/** A whole number as it is told. */
export function wireInteger(value: bigint) {
  return z.encode(bigInteger, value);
}
