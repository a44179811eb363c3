// Metadata: short texts by which a business system finds its own records. The service stores them
// with the expected payment and shows them; the bank never gets them.
import { z } from 'zod';
import {
  fieldError,
  fieldErrorOf,
  readingFields,
  refuse,
} from '../../bank-contract/field-errors.js';
import type { Route } from '../../bank-contract/route.js';
import { patternText, text, notGiven } from '../../bank-contract/wire.js';
import { isJsonObject } from '../../platform/json/exact-json.js';

export const maxMetadataKeys = 20;
const maxValueLength = 500;
const keyPattern = /^[A-Za-z0-9_.-]{1,40}$/;
/** Schemas leave this key out of an object, so that its text would be lost without an error. */
const unreadableKey = '__proto__';
const wrongKey = fieldError('metadata_key');

export type Metadata = Readonly<Record<string, string>>;

const metadataValue = text(maxValueLength).refine(
  (value) => !/\p{Cc}/u.test(value),
  'Must not contain control characters.',
);

const texts = z.record(z.string(), metadataValue).superRefine((fields, context) => {
  const keys = Object.keys(fields);
  if (keys.length > maxMetadataKeys)
    refuse(context, [], fieldError('max_items', { most: maxMetadataKeys }));
  for (const key of keys.filter((one) => !keyPattern.test(one)).slice(0, maxMetadataKeys))
    refuse(context, [key.slice(0, 41)], wrongKey);
});

/** The field of a request. */
export const metadata = z
  .custom<Metadata>()
  .superRefine((fields, context) => {
    if (isJsonObject(fields) && Object.hasOwn(fields, unreadableKey))
      refuse(context, [unreadableKey], wrongKey);
    for (const issue of texts.safeParse(fields, readingFields).error?.issues ?? [])
      refuse(context, issue.path, fieldErrorOf(issue));
  })
  .meta({
    ...{ id: 'Metadata', type: 'object' },
    description:
      `Texts of at most ${maxValueLength} characters by which the caller finds its own records. ` +
      'The bank does not get them.',
    maxProperties: maxMetadataKeys,
    // Without `maxLength`: orval writes a client that does not compile for it.
    additionalProperties: { type: 'string' },
  });

/** The field of a response: null without metadata. */
export const metadataView = z
  .record(z.string(), z.string())
  .meta({ id: 'MetadataView', description: 'The `metadata` of the request.' })
  .nullable();

const metadataField = { metadata: metadata.nullish() };

/** The schema of a request with `metadata` beside its own fields and rules. */
export function takingMetadata<Request extends z.ZodObject>(
  request: Request,
): z.ZodType<z.output<Request> & { metadata?: Metadata | null }, z.input<Request>> {
  // The compiler cannot know that the request has no such field of its own.
  return (request as z.ZodObject).safeExtend(metadataField) as never;
}

/** The schema of a request that has none: its other fields go to the bank as they are. */
export function refusingMetadata<Served extends Route & { body: z.ZodObject }>(
  served: Served,
): Served {
  const refused = notGiven('Must not be given: the bank would get it.');
  return { ...served, body: served.body.safeExtend({ metadata: refused }) };
}

/** One key and its exact value, as a search names it. */
export interface MetadataText {
  key: string;
  value: string;
}

/** The parameter of a list: `metadata=orderId:123`. The value may contain colons. */
export const metadataQuery = z.codec(
  patternText(
    41 + maxValueLength,
    /^[A-Za-z0-9_.-]{1,40}:[^\p{Cc}\p{Cs}]*$/u,
    'Must be a key of the metadata, a colon and its value.',
  ),
  z.object({ key: z.string(), value: z.string() }),
  {
    decode: (pair) => {
      const end = pair.indexOf(':');
      return { key: pair.slice(0, end), value: pair.slice(end + 1) };
    },
    encode: ({ key, value }) => `${key}:${value}`,
  },
);

/** Splits a request into what the bank gets, and its metadata. Empty metadata is none. */
export function splitMetadata<Body extends object>(
  body: Body,
): { body: Body; metadata: Metadata | null } {
  if (!('metadata' in body)) return { body, metadata: null };
  const { metadata: given, ...rest } = body as Body & { metadata?: Metadata | null };
  const isGiven = given != null && Object.keys(given).length > 0;
  return { body: rest as unknown as Body, metadata: isGiven ? given : null };
}

/** The input of a route without `metadata`, and the metadata of its one expected payment. */
export function withoutMetadata<Input extends { body: object }>(
  request: Input,
): { input: Input; metadata: readonly (Metadata | null)[] } {
  const { body, metadata: given } = splitMetadata(request.body as Input['body']);
  return { input: { ...request, body }, metadata: [given] };
}

/** The texts as stored, one row each, as an object. */
export function metadataOf(rows: readonly MetadataText[]): Metadata | null {
  return rows.length === 0
    ? null
    : Object.fromEntries(rows.map(({ key, value }) => [key, value] as const));
}
