// The leaf of a statement line in the Merkle tree of its day: what the bank showed, a commitment to
// the content that may be erased, and the version of the outcome.
import type { StatementLine } from '../generated/service/client.js';
import { formatReaisWithTwoDecimals } from '../money/cents.js';
import { toCanonicalJson } from '../platform/canonical-json.js';
import { leafHashOf } from '../platform/merkle-tree.js';
import { commitmentOf } from '../statement/statement-line.js';
import type { DecidedOutcome } from './decide/line-outcomes.js';
import type { DeclaredRule } from './decide/model.js';

/** The fields of a line that its leaf covers. An erasure of the line does not change them. */
type ProvenFields = Omit<
  StatementLine,
  | ('accountId' | 'arrival' | 'recordedAt')
  | ('counterparty' | 'counterpartyDocument' | 'notes' | 'content')
>;

export interface ProvenLine extends ProvenFields {
  /** The commitment that the erasure of the line stored; null while the content is there. */
  erasedCommitment: string | null;
}

/** The commitment to the line's content; null if it can neither be computed nor was stored. */
export function commitmentOfLine(line: ProvenLine): string | null {
  const { salt, contentHash, erasedCommitment } = line;
  return erasedCommitment ?? (salt === null ? null : commitmentOf(salt, contentHash));
}

/** The leaf hash by RFC 9162. Amounts are in reais with two decimals. */
export function leafOfLine(
  accountId: number,
  line: ProvenLine,
  version: number,
  { state, breaks, classification, payments }: DecidedOutcome,
): Buffer {
  // The keys stand in the order of the canonical text, which is then written at once.
  const document = {
    accountId,
    amount: formatReaisWithTwoDecimals(line.amountCents),
    balancePrevious: formatReaisWithTwoDecimals(line.balancePreviousCents),
    billCode: line.billCode,
    commitment: commitmentOfLine(line),
    correlationId: line.correlationId,
    currentBalance: formatReaisWithTwoDecimals(line.currentBalanceCents),
    endToEndId: line.endToEndId,
    externalId: line.externalId,
    format: 'concilia-line/1',
    hasOneHolder: line.hasOneHolder,
    id: line.bankId,
    idempotencyKey: line.idempotencyKey,
    isCredit: line.isCredit,
    movementId: line.movementId,
    nsu: line.nsu.toString(),
    occurredAt: line.occurredAt.toISOString(),
    originalEndToEndId: line.originalEndToEndId,
    outcome: {
      breaks: breaks.map(({ kind, amountCents, expectedPaymentId }) => ({
        amount: amountCents === null ? null : formatReaisWithTwoDecimals(amountCents),
        ...{ expectedPaymentId, kind },
      })),
      classification: classification && {
        category: classification.category,
        declared: textOfRule(classification.declared),
        rule: classification.rule,
      },
      payments: payments.map(({ expectedPaymentId, amountCents, role, rule, declared }) => ({
        amount: formatReaisWithTwoDecimals(amountCents),
        declared: textOfRule(declared),
        ...{ expectedPaymentId, role, rule },
      })),
      ...{ state, version },
    },
    type: line.typeName,
  };
  return leafHashOf(toCanonicalJson(document));
}

function textOfRule(declared: DeclaredRule | null): string | null {
  return declared && `${declared.ruleId}/${declared.version}`;
}
