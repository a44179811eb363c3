// Decodes a request that a test writes as an object, as the service decodes its JSON text.
import type { z } from 'zod';
import { decode, type Issues } from '../../src/platform/http/contract-route.js';
import { parseJson } from '../../src/platform/json/exact-json.js';

export function decodeRequest<Body extends z.ZodType>(
  schema: Body,
  request: object,
): z.output<Body> {
  const issues: Issues = {};
  const decoded = decode(schema, parseJson(JSON.stringify(request)), issues);
  if (Object.keys(issues).length > 0) throw new Error(JSON.stringify(issues));
  return decoded as z.output<Body>;
}
