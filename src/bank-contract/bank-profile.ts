// A bank profile: what one bank does where the contract leaves it open. `concilia bank-check`
// writes it as a JSON file, the service reads it (BANK_PROFILE), and the sandbox bank imitates it.
// What nobody observed is `unknown`, which is never a default: each reader declares what it then
// does.
import { z } from 'zod';

export const bankProfileVersion = 1;

const orUnknown = <Schema extends z.ZodType>(schema: Schema) =>
  z.union([schema, z.literal('unknown')]).default('unknown');
const oneOf = <const Values extends [string, ...string[]]>(...values: Values) =>
  orUnknown(z.enum(values));
const yesOrNo = () => orUnknown(z.boolean());
const upTo = (most: number, least = 1) => orUnknown(z.int().min(least).max(most));

const presence = () => oneOf('present', 'absent');
/**
 * What a repeat of the same request gets: the first response, a refusal, or a second effect. Only
 * the first two are safe.
 */
const repeat = () => oneOf('replay', 'refused', 'executed');
const days = z.int().min(0).max(30);
const dayMs = 86_400_000;

export const bankHabits = z.strictObject({
  /** The order of lines on the pages of the statement, by nsu. */
  pageOrder: oneOf('desc', 'asc'),
  /** The most lines of a page, whatever `limit` requests. */
  pageCap: upTo(10_000),
  /** Whether lines become visible in the order of nsu. */
  nsuOrder: oneOf('in-order', 'out-of-order'),
  /** How late the latest line was that was seen, in whole seconds, rounded up. */
  lineDelayMs: upTo(dayMs),
  /** How late an effect may appear on the statement at most. Proofs of absence depend on it. */
  visibilityBoundMs: upTo(dayMs),
  /** Which ids lines carry: of a Pix, of a charge, of the client's transfer, of a refund. */
  lineEndToEndId: presence(),
  lineCorrelationId: presence(),
  lineExternalId: presence(),
  lineOriginalId: presence(),
  /** The endToEndId on the line of a refund: one of its own, or the original's. */
  refundEndToEndId: oneOf('own', 'original'),
  /** By the same IdempotencyKey, or the same correlationId of a charge. */
  repeatedTransfer: repeat(),
  repeatedCharge: repeat(),
  /** Whether the state can be read. The contract has no routes for it. */
  hasTransferById: yesOrNo(),
  hasTransferByExternalId: yesOrNo(),
  hasChargeById: yesOrNo(),
  /** Whether the bank serves the contract's routes that pay and expire a charge. */
  hasSimulation: yesOrNo(),
  /** Whether each event is sent; how late the latest was that arrived; whether copies arrive. */
  webhookDelivery: oneOf('all', 'some'),
  webhookDelayMs: upTo(dayMs),
  webhookCopies: oneOf('once', 'repeated'),
  /** The most requests of one account in a second. */
  ratePerSecond: upTo(100_000),
  /** Whether a scheduled bill is paid on time. If not, up to one business day late. */
  paysBillsOnTime: yesOrNo(),
  /** Business days from a payment to its credit, by way. */
  creditDays: orUnknown(z.strictObject({ slip: days, pix: days, other: days })),
  /** What late interest as a percentage is of. */
  interestPeriod: oneOf('day', 'month'),
});

export type BankHabits = z.output<typeof bankHabits>;
export type HabitName = keyof BankHabits;
export const habitNames = Object.keys(bankHabits.shape) as HabitName[];

export const bankProfileFile = z.strictObject({
  version: z.literal(bankProfileVersion),
  /** By the bank's clock. */
  checkedAt: z.iso.datetime(),
  habits: bankHabits,
});

export type BankProfileFile = z.output<typeof bankProfileFile>;

export type Known<Habit> = Exclude<Habit, 'unknown'>;

export function knownOr<Habit, Other>(habit: Habit, other: Other): Known<Habit> | Other {
  return habit === 'unknown' ? other : (habit as Known<Habit>);
}
