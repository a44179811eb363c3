// The forged webhook body that a fault sends beside a genuine one.
import { isLosslessNumber, LosslessNumber } from 'lossless-json';
import { parseReais } from '../../brazil/cents.js';
import { sha256 } from '../../platform/json/exact-json.js';
import { wireReais } from '../wire-values.js';

/** The fields of a webhook body that identify a movement or a charge. */
const identifiers: readonly string[] = [
  ...['id', 'nsu', 'correlationId', 'referenceId', 'endToEndId', 'originalEndToEndId'],
  ...['transactionId', 'transactionNsu', 'externalId', 'idempotencyKey'],
];
const addedCents = 1_234_56n;
const addedNumber = 1_000_000n;

/**
 * A body of the same shape with other amounts and invented ids, for an event that never happened.
 * Equal ids stay equal, so that the forgery is as consistent as the genuine body.
 */
export function forgeBody(body: object): object {
  return forgeValue('', body) as object;
}

function forgeValue(name: string, value: unknown): unknown {
  if (isLosslessNumber(value)) return forgeNumber(name, value);
  if (Array.isArray(value)) return value.map((item) => forgeValue(name, item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, forgeValue(key, one)]),
    );
  return typeof value === 'string' && identifiers.includes(name) ? forgedId(value) : value;
}

function forgeNumber(name: string, number: LosslessNumber): LosslessNumber {
  if (name === 'amount') {
    const parsed = parseReais(number.value);
    return parsed.ok ? wireReais(parsed.cents + addedCents) : number;
  }
  const isId = identifiers.includes(name) && /^\d+$/.test(number.value);
  return isId ? new LosslessNumber(String(BigInt(number.value) + addedNumber)) : number;
}

const changedLength = 8;

/** Replaces the last characters by digits, which are valid in GUIDs, endToEndIds and client ids. */
function forgedId(id: string): string {
  const length = Math.min(changedLength, id.length);
  const digits = BigInt(`0x${sha256(`forged ${id}`)}`)
    .toString()
    .slice(-length);
  const forged = id.slice(0, id.length - length) + digits;
  return forged === id ? `${id}0` : forged;
}
