// Reads a dispute from a webhook of the bank. The bank publishes only the names of these events, so
// every field may be missing, and several names of a field are understood.
import { isLosslessNumber } from 'lossless-json';
import { parseEndToEndId } from '../../brazil/end-to-end-id.js';
import { parseReais } from '../../brazil/cents.js';
import type { DisputeKind, DisputeStatus } from '../../generated/service/client.js';

/** The event types of disputes, with what each reports. */
export const disputeEventTypes = {
  INFRACTION_NOTIFICATION_CREATED: { kind: 'infraction', status: 'reported' },
  MED_REQUESTED: { kind: 'med', status: 'reported' },
  MED_ACCEPTED: { kind: 'med', status: 'accepted' },
  MED_REJECTED: { kind: 'med', status: 'rejected' },
} as const satisfies Record<string, { kind: DisputeKind; status: DisputeStatus }>;

export type DisputeEventType = keyof typeof disputeEventTypes;

export function isDisputeEventType(eventType: string): eventType is DisputeEventType {
  return eventType in disputeEventTypes;
}

/**
 * How long the receiver has from the report, where the webhook says no deadline: seven days of
 * analysis for an infraction, and 72 hours for a request (brazil-facts.md D7).
 */
const defaultDays: Record<DisputeKind, number> = { infraction: 7, med: 3 };
const dayMs = 86_400_000;

export interface DisputeReport {
  kind: DisputeKind;
  status: DisputeStatus;
  /** The endToEndId of the Pix, or else the bank's id of the dispute; null without both. */
  reference: string | null;
  endToEndId: string | null;
  amountCents: bigint | null;
  deadlineAt: Date;
}

const pixNames = ['endToEndId', 'originalEndToEndId', 'referenceId', 'transactionId'];
const idNames = ['id', 'infractionId', 'medId', 'notificationId', 'protocol'];
const amountNames = ['amount', 'disputedAmount', 'refundAmount'];
const deadlineNames = ['deadline', 'deadlineAt', 'dueDate', 'expiresAt', 'limitDate'];

/** `receivedAt` is in the bank's time. */
export function readDisputeReport(
  eventType: DisputeEventType,
  fields: Readonly<Record<string, unknown>>,
  receivedAt: Date,
): DisputeReport {
  const { kind, status } = disputeEventTypes[eventType];
  const texts = (names: readonly string[]) =>
    names.map((name) => fields[name]).filter((value) => typeof value === 'string');
  const endToEndId = texts(pixNames).find((text) => parseEndToEndId(text)) ?? null;
  const id = texts(idNames).find((text) => /^[\x21-\x7e]{1,100}$/.test(text)) ?? null;
  const deadline = texts(deadlineNames)
    .map(readTime)
    .find((time) => time !== null);
  return {
    kind,
    status,
    reference: endToEndId ?? id,
    endToEndId,
    amountCents: readAmount(fields),
    deadlineAt: deadline ?? new Date(receivedAt.getTime() + defaultDays[kind] * dayMs),
  };
}

function readAmount(fields: Readonly<Record<string, unknown>>): bigint | null {
  for (const name of amountNames) {
    const value = fields[name];
    const parsed = isLosslessNumber(value) ? parseReais(value.value) : null;
    if (parsed?.ok && parsed.cents > 0n) return parsed.cents;
  }
  return null;
}

/**
 * A time without a zone is UTC, as in other webhooks of the bank (real-bank.md A.4). A time that no
 * column can hold, such as one in the year 10000, is none: it would fail the notices that are
 * recorded with it, for ever.
 */
function readTime(text: string): Date | null {
  const match =
    /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?(Z|[+-]\d{2}:\d{2})?$/.exec(text);
  if (!match) return null;
  const time = new Date(`${match[1]}${match[2] ?? 'T23:59:59'}${match[5] ?? 'Z'}`);
  const year = time.getUTCFullYear();
  return year >= 2000 && year < 10_000 ? time : null;
}
