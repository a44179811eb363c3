// Adds the metadata of a request to the bank's response, as the caller gets it.
import type { Metadata } from '../../statement/expected-payments/metadata.js';
import {
  isJsonObject,
  parseJson,
  stringifyJson,
  tolerantJson,
} from '../../platform/json/exact-json.js';

/**
 * The response to one request gets its metadata, and each element of the response to a batch that
 * of its item. Without metadata the text stays as the bank sent it.
 */
export function withMetadata(text: string, metadata: readonly (Metadata | null)[]): string {
  if (metadata.every((one) => one === null)) return text;
  const response = parseJson(text, tolerantJson);
  return stringifyJson(
    Array.isArray(response)
      ? response.map((element, index) => added(element, metadata[index] ?? null))
      : added(response, metadata[0] ?? null),
  );
}

function added(response: unknown, metadata: Metadata | null): unknown {
  return metadata === null || !isJsonObject(response) ? response : { ...response, metadata };
}
