// What the contract leaves open: each mode with its values and its default, which is read from nowhere else.
import { z } from 'zod';
import { route } from '../../contract/route.js';
import { filledText, integer, positiveReais } from '../../contract/wire.js';

const word = filledText(40);
const count = (minimum: number, maximum: number) =>
  integer.refine(
    (value) => value >= minimum && value <= maximum,
    `Must be from ${minimum} to ${maximum}.`,
  );
const oneOf = <const Values extends [string, ...string[]]>(...values: Values) =>
  z.enum(values, `Must be one of ${values.join(', ')}.`);

/** Words for a charge's status; the contract shows only those on creation. */
const chargeStatus = z.strictObject({
  slipCreated: word,
  qrCreated: word,
  paid: word,
  expired: word,
  voided: word,
});

export const modes = z.strictObject({
  /** What a key (or correlationId) that was used before gets: the first answer, 409, or a second effect. */
  idempotentRepeat: oneOf('replay', 'conflict', 'ignore'),
  statementOrder: oneOf('desc', 'asc'),
  /** A longer `limit` is served up to this many lines. */
  statementPageCap: count(1, 10_000),
  /** Out of order: one line in three is told two seconds after its followers. */
  nsuVisibility: oneOf('in-order', 'out-of-order'),
  /** Whether balances follow the order of nsu, or that in which movements were made final. */
  balanceOrder: oneOf('nsu', 'commit'),
  /** Whether lines carry the client's externalId; one that is written stays as it is. */
  lineExternalId: oneOf('present', 'absent'),
  /** Whether the line of a return carries the endToEndId of what it returns; the same holds. */
  lineOriginalId: oneOf('present', 'absent'),
  chargeStatus,
  /** What `/pay` pays on a static QR code whose payer chooses. */
  freeAmountPayment: positiveReais,
  /** How webhooks prove themselves: as registered, or another way with the registered secret. */
  webhookSigning: oneOf('registered', 'header', 'bearer', 'basic', 'none', 'standard-webhooks'),
  /** CHARGE_PAID: all that is known of both published versions, or exactly one of them. */
  webhookShape: oneOf('complete', 'v1', 'v2'),
  /** When a sent Pix is debited; until it is effective its amount is held all the same. */
  pixDebit: oneOf('at-acceptance', 'when-effective'),
  /** How long a sent Pix stays in each of its two states of passage. */
  pixStepMs: count(0, 86_400_000),
  /** How long the endToEndId of a look-up can be used. */
  lookupMinutes: count(1, 10_080),
  /** Partial: items that cannot be done do not stop the others. */
  batch: oneOf('atomic', 'partial'),
  batchMaximumItems: count(1, 10_000),
  /** Hours of São Paulo, on business days, in which bills are paid; the closing hour is outside. */
  billPaymentHours: z
    .strictObject({ open: count(0, 23), close: count(1, 24) })
    .refine(({ open, close }) => open < close, 'Must open before it closes.'),
  /** Requests a second of one account, beyond which they are 429; null for no limit. */
  rateLimitPerSecond: count(1, 100_000).nullable(),
});

export type ModeValues = z.output<typeof modes>;

export const defaultModes: ModeValues = {
  idempotentRepeat: 'replay',
  statementOrder: 'desc',
  statementPageCap: 1_000,
  nsuVisibility: 'in-order',
  balanceOrder: 'nsu',
  lineExternalId: 'present',
  lineOriginalId: 'present',
  chargeStatus: {
    slipCreated: 'Pending',
    qrCreated: 'Created',
    paid: 'Paid',
    expired: 'Expired',
    voided: 'Voided',
  },
  freeAmountPayment: 100n,
  webhookSigning: 'registered',
  webhookShape: 'complete',
  pixDebit: 'at-acceptance',
  pixStepMs: 300,
  lookupMinutes: 720,
  batch: 'atomic',
  batchMaximumItems: 1_000,
  billPaymentHours: { open: 7, close: 20 },
  rateLimitPerSecond: null,
};

/** A change: modes that are left out stay, and so do words of `chargeStatus`. */
const modeChanges = modes.extend({ chargeStatus: chargeStatus.partial() }).partial();

export type ModeChanges = z.output<typeof modeChanges>;

const control = {
  chapter: 'Sandbox control',
  authentication: 'api-key',
  path: '/sandbox/modes',
  response: modes,
} as const;

export const readModes = route({
  ...control,
  name: 'sandboxReadModes',
  summary: 'The modes in force: what the contract leaves open.',
  method: 'GET',
});

export const changeModes = route({
  ...control,
  name: 'sandboxChangeModes',
  summary: 'Changes the modes that are given, for what happens from now on.',
  method: 'PATCH',
  body: modeChanges,
});
