// The leaf of a statement line in the Merkle tree of its day: what the bank showed, a commitment to
// the content that may be erased, and the version of the outcome.
import type { StatementLine } from '../../generated/service/client.js';
import { formatReaisWithTwoDecimals } from '../../brazil/cents.js';
import { canonicalText } from '../../platform/json/canonical-json.js';
import { leafHashOf } from '../../platform/merkle-tree.js';
import { commitmentOf } from '../../statement/lines/statement-line.js';
import type { DecidedOutcome } from '../decide/line-outcomes.js';
import type { DeclaredRule } from '../decide/model.js';

/** The fields of a line that its leaf covers. An erasure of the line does not change them. */
type ProvenFields = Omit<
  StatementLine,
  | ('accountId' | 'arrival' | 'recordedAt')
  | ('counterparty' | 'counterpartyDocument' | 'counterpartyMaskedTaxId' | 'counterpartyName')
  | ('counterpartyIspb' | 'counterpartyBranch' | 'counterpartyAccount' | 'message')
  | ('notes' | 'content' | 'paidOn')
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

/** The leaf hash by RFC 9162, in hexadecimal. Amounts are in reais with two decimals. */
export function leafOfLine(
  accountId: number,
  line: ProvenLine,
  version: number,
  outcome: DecidedOutcome,
): string {
  return leafHashOf(leafText(accountId, line, version, outcome), 'hex');
}

/** The canonical text (RFC 8785) that the leaf is the hash of. */
export function leafText(
  accountId: number,
  line: ProvenLine,
  version: number,
  { state, breaks, classification, payments }: DecidedOutcome,
): string {
  return textOfLine(
    accountId,
    line,
    'concilia-line/1',
    `,"outcome":{"breaks":[${breaks.map(textOfBreak).join(',')}]` +
      `,"classification":${textOfClassification(classification)}` +
      `,"payments":[${payments.map(textOfPayment).join(',')}]` +
      `,"state":${text(state)},"version":${version}}`,
  );
}

/** The canonical text of what the bank showed of the line, whatever became of it here. */
export function statementLeafText(accountId: number, line: ProvenLine): string {
  return textOfLine(accountId, line, 'concilia-statement-line/1', '');
}

/** Its keys stand in their order, and it is written at once: there is one for each line. */
function textOfLine(accountId: number, line: ProvenLine, format: string, outcome: string): string {
  return (
    `{"accountId":${accountId},"amount":${reais(line.amountCents)}` +
    `,"balancePrevious":${reais(line.balancePreviousCents)},"billCode":${text(line.billCode)}` +
    `,"commitment":${text(commitmentOfLine(line))},"correlationId":${text(line.correlationId)}` +
    `,"currentBalance":${reais(line.currentBalanceCents)},"endToEndId":${text(line.endToEndId)}` +
    `,"externalId":${text(line.externalId)},"format":"${format}"` +
    `,"hasOneHolder":${line.hasOneHolder},"id":${text(line.bankId)}` +
    `,"idempotencyKey":${text(line.idempotencyKey)},"isCredit":${line.isCredit}` +
    `,"movementId":${text(line.movementId)},"nsu":"${line.nsu}"` +
    `,"occurredAt":"${line.occurredAt.toISOString()}"` +
    `,"originalEndToEndId":${text(line.originalEndToEndId)}${outcome}` +
    `,"type":${text(line.typeName)}}`
  );
}

const text = canonicalText;
/** In reais with two decimals. */
const reais = (cents: bigint): string => `"${formatReaisWithTwoDecimals(cents)}"`;

const textOfBreak = ({ kind, amountCents, expectedPaymentId }: DecidedOutcome['breaks'][number]) =>
  `{"amount":${amountCents === null ? 'null' : reais(amountCents)}` +
  `,"expectedPaymentId":${text(expectedPaymentId)},"kind":${text(kind)}}`;

const textOfPayment = (payment: DecidedOutcome['payments'][number]) =>
  `{"amount":${reais(payment.amountCents)},"declared":${textOfRule(payment.declared)}` +
  `,"expectedPaymentId":${text(payment.expectedPaymentId)},"role":${text(payment.role)}` +
  `,"rule":${text(payment.rule)}}`;

const textOfClassification = (classification: DecidedOutcome['classification']) =>
  classification === null
    ? 'null'
    : `{"category":${text(classification.category)}` +
      `,"declared":${textOfRule(classification.declared)},"rule":${text(classification.rule)}}`;

const textOfRule = (declared: DeclaredRule | null): string =>
  declared === null ? 'null' : text(`${declared.ruleId}/${declared.version}`);
