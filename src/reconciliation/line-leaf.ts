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
  const document = {
    format: 'concilia-line/1',
    accountId,
    nsu: line.nsu.toString(),
    id: line.bankId,
    isCredit: line.isCredit,
    amount: formatReaisWithTwoDecimals(line.amountCents),
    type: line.typeName,
    correlationId: line.correlationId,
    endToEndId: line.endToEndId,
    externalId: line.externalId,
    originalEndToEndId: line.originalEndToEndId,
    movementId: line.movementId,
    idempotencyKey: line.idempotencyKey,
    billCode: line.billCode,
    balancePrevious: formatReaisWithTwoDecimals(line.balancePreviousCents),
    currentBalance: formatReaisWithTwoDecimals(line.currentBalanceCents),
    occurredAt: line.occurredAt.toISOString(),
    hasOneHolder: line.hasOneHolder,
    commitment: commitmentOfLine(line),
    outcome: {
      ...{ version, state },
      breaks: breaks.map(({ kind, amountCents, expectedPaymentId }) => ({
        ...{ kind, expectedPaymentId },
        amount: amountCents === null ? null : formatReaisWithTwoDecimals(amountCents),
      })),
      classification: classification && {
        category: classification.category,
        rule: classification.rule,
        declared: textOfRule(classification.declared),
      },
      payments: payments.map(({ expectedPaymentId, amountCents, role, rule, declared }) => ({
        ...{ expectedPaymentId, role, rule },
        amount: formatReaisWithTwoDecimals(amountCents),
        declared: textOfRule(declared),
      })),
    },
  };
  return leafHashOf(toCanonicalJson(document));
}

function textOfRule(declared: DeclaredRule | null): string | null {
  return declared && `${declared.ruleId}/${declared.version}`;
}
