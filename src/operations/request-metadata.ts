// A request as business systems make it, split into what the bank gets and its metadata.
import { splitMetadata, type Metadata } from '../expected-payments/metadata.js';

/** The input of a route without `metadata`, and the metadata of its one expected payment. */
export function withoutMetadata<Input extends { body: object }>(
  request: Input,
): { input: Input; metadata: readonly (Metadata | null)[] } {
  const { body, metadata } = splitMetadata(request.body as Input['body']);
  return { input: { ...request, body }, metadata: [metadata] };
}
