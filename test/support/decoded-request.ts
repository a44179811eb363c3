// Decodes a request that a test writes as an object, as the service decodes its JSON text.
import type { z } from 'zod';
import { fieldMessages, type FieldErrors } from '../../src/bank-contract/field-errors.js';
import { decode } from '../../src/platform/http/contract-route.js';
import { AppError } from '../../src/platform/errors.js';
import { parseJson } from '../../src/platform/json/exact-json.js';

export function decodeRequest<Body extends z.ZodType>(
  schema: Body,
  request: object,
): z.output<Body> {
  const issues: FieldErrors = {};
  const decoded = decode(schema, parseJson(JSON.stringify(request)), issues);
  if (Object.keys(issues).length > 0) throw new Error(JSON.stringify(issues));
  return decoded as z.output<Body>;
}

/** The status of a refusal, and its messages by JSON path. Fails where the work is not refused. */
export async function fieldRefusalOf(work: Promise<unknown>): Promise<[number, object]> {
  const error: unknown = await work.then(
    () => new Error('nothing was refused'),
    (refusal: unknown) => refusal,
  );
  if (!(error instanceof AppError)) throw error;
  return [error.status, fieldMessages(error.details.errors ?? {})];
}
