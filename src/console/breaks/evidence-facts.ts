// What the evidence of a break says, as facts with a name. Only fields that are declared here are
// shown by name.

/** How a value is written. */
export type EvidenceFormat =
  | 'reais'
  | 'cents'
  | 'day'
  | 'time'
  | 'dayOrTime'
  | 'count'
  | 'code'
  | 'nsu'
  | 'operation'
  /** A stored word that has a text of its own. */
  | 'word'
  | 'source'
  | 'tariff'
  /** Parts of a payment that differ, as JSON. */
  | 'parts'
  /** A day, yyyy-mm-dd, or a month, yyyy-mm. */
  | 'period';

const formats = {
  kind: 'word',
  status: 'word',
  reason: 'word',
  tariff: 'tariff',
  period: 'period',
  chargedCents: 'cents',
  expectedCents: 'cents',
  owed: 'reais',
  paid: 'reais',
  parts: 'parts',
  dueDate: 'day',
  deadline: 'dayOrTime',
  date: 'day',
  occurredAt: 'time',
  nsu: 'nsu',
  originalNsu: 'nsu',
  debitNsu: 'nsu',
  neighbourNsu: 'nsu',
  lastNsu: 'nsu',
  balancePreviousCents: 'cents',
  neighbourBalanceCents: 'cents',
  lastBalanceCents: 'cents',
  liveBalanceCents: 'cents',
  since: 'time',
  fullReads: 'count',
  reportedAt: 'time',
  deadlineAt: 'time',
  scheduledFor: 'time',
  mayGoUntil: 'time',
  attempts: 'count',
  operationKind: 'source',
  operationId: 'operation',
  endToEndId: 'code',
  externalId: 'code',
  bankId: 'code',
  bankStatus: 'code',
  errorCode: 'code',
  referenceValue: 'code',
} as const satisfies Record<string, EvidenceFormat>;

export type EvidenceName = keyof typeof formats;
export const evidenceNames = Object.keys(formats) as EvidenceName[];

export interface EvidenceFact {
  name: EvidenceName;
  format: EvidenceFormat;
  text: string;
}

/** The declared fields that have a value, in the order of the declarations. */
export function evidenceFacts(evidence: unknown): EvidenceFact[] {
  if (typeof evidence !== 'object' || evidence === null) return [];
  const fields = evidence as Record<string, unknown>;
  return evidenceNames.flatMap((name) => {
    const value = fields[name];
    const format = formats[name];
    if (format === 'parts' && value) return [{ name, format, text: JSON.stringify(value) }];
    if (typeof value !== 'string' && typeof value !== 'number') return [];
    return [{ name, format, text: String(value) }];
  });
}
