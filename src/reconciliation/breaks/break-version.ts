// What a person saw of a break, as a short text: an action that carries it is refused once the
// break has changed.
import { createHash } from 'node:crypto';

/** What a decision about a break depends on. */
export interface VersionedBreak {
  id: string;
  kind: string;
  state: string;
  amountCents: bigint | null;
  nsu: bigint | null;
  expectedPaymentId: string | null;
  resolution: string | null;
  evidence: unknown;
}

/** The same for the same content of a break, and another one after each change of it. */
export function versionOfBreak(found: VersionedBreak): string {
  const { id, kind, state, amountCents, nsu, expectedPaymentId, resolution, evidence } = found;
  const content = [
    ...[id, kind, state, resolution, expectedPaymentId],
    ...[amountCents?.toString() ?? null, nsu?.toString() ?? null],
    sorted(evidence),
  ];
  return hashOf(JSON.stringify(content));
}

/** The version of a list of breaks: it changes with each of them, and with their order. */
export function versionOfBreaks(versions: readonly string[]): string {
  return hashOf(versions.join(' '));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Equal JSON has one form, in whatever order the database returns its fields. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.map(([key, field]) => [key, sorted(field)]);
}
