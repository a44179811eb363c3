// The parts of a batch. A part is loaded before the writes of the part before it, which is right
// unless they have a subject in common: what is not connected is decided as if it were alone.
import type { ComponentSeeds } from './component.queries.js';
import type { ExpectedPaymentFacts, Facts } from '../decide/model.js';
import { someMatch } from '../decide/rule.js';
import type { LoadedAccount } from './load.queries.js';

/** Splits the subjects into parts of at most `size` of each kind. There is at least one part. */
export function partsOf(seeds: ComponentSeeds, size: number): ComponentSeeds[] {
  const nsus = [...new Set(seeds.nsus)];
  const expectedPaymentIds = [...new Set(seeds.expectedPaymentIds)];
  const operationIds = [...new Set(seeds.operationIds)];
  const most = Math.max(nsus.length, expectedPaymentIds.length, operationIds.length);
  return Array.from({ length: Math.max(1, Math.ceil(most / size)) }, (_, index) => {
    const partOf = <Id>(ids: readonly Id[]) => ids.slice(index * size, (index + 1) * size);
    return {
      nsus: partOf(nsus),
      expectedPaymentIds: partOf(expectedPaymentIds),
      operationIds: partOf(operationIds),
    };
  });
}

/** The subjects of the parts that were decided so far. */
export class DecidedSubjects {
  private readonly nsus = new Set<bigint>();
  private readonly ids = new Set<string>();

  add(facts: Facts): void {
    for (const { nsu } of facts.lines) this.nsus.add(nsu);
    for (const id of idsOf(facts)) this.ids.add(id);
  }

  /** Whether one of these facts is about a subject that was decided before. */
  hasSome(facts: Facts): boolean {
    if (facts.lines.some(({ nsu }) => this.nsus.has(nsu))) return true;
    return idsOf(facts).some((id) => this.ids.has(id));
  }
}

/** The payments, and the operations about which something is found. */
function idsOf({ expectedPayments, operations }: Facts): string[] {
  const ids = operations.map(({ id }) => id);
  for (const payment of expectedPayments) {
    if (!isDecidedByPayment(payment)) ids.push(payment.id);
    // One break reports all late lines of an operation.
    if (payment.withdrawal !== null && payment.operationId !== null) ids.push(payment.operationId);
  }
  return ids;
}

/** The payments of a multi-use QR code are decided apart, and its total changes by each of them. */
const isDecidedByPayment = ({ isCredit, isMultiUse, withdrawal }: ExpectedPaymentFacts): boolean =>
  isCredit && isMultiUse && withdrawal === null;

/**
 * Whether rules, or the conditions of declared payments, connect lines with payments by more than
 * ids: by what was decided of others.
 */
export const hasMatchRules = ({ rules, hasDeclared }: LoadedAccount): boolean =>
  hasDeclared || someMatch(rules);
