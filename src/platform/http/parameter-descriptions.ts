// What each parameter of the API is, for its reference. A name means the same wherever it stands;
// what a schema describes itself is not here.

export const headerDescriptions = {
  request: {
    IdempotencyKey: 'Names the request, best by a GUID: a repeat with it moves nothing again.',
    Prefer: '`respond-async`: answers 202 at once, without waiting for the bank.',
    'Concilia-Allow-Duplicate': '`true`: sends what may be a duplicate of another request.',
  } as Record<string, string>,
  always: { 'x-trace-id': 'Names the request in logs and errors.' },
  repeated: { 'Idempotent-Replayed': '`true` where the response is that of an earlier request.' },
} as const;

const ofQuery: Record<string, string> = {
  limit: 'How many items a page has at most.',
  cursor: 'The `next` of the page before.',
  sort: 'By what the list is ordered.',
  order: 'From which end: `desc` lists the greatest or newest first.',
  page: 'Which page, from 1.',
  after: 'Selects what comes after it: the last that the caller has.',
  type: 'Selects by type.',
  eventType: 'Selects by the type of the event.',
  eventId: 'Selects by the id of an event.',
  endpointId: 'Selects by the id of a webhook endpoint.',
  channelId: 'Selects by the id of an alert channel.',
  ruleId: 'Selects by the id of a rule.',
  state: 'Selects by state.',
  kind: 'Selects by kind.',
  severity: 'Selects by severity.',
  shape: 'Selects by how the beneficiary is named.',
  reference: 'Selects by an id of the movement: nsu, endToEndId or correlationId.',
  operationId: 'Selects by the id of an operation.',
  expectedPaymentId: 'Selects by the id of an expected payment.',
  correlationId: 'Selects by the correlationId that the caller chose.',
  externalId: 'Selects by the externalId that the caller chose.',
  endToEndId: 'Selects by the endToEndId of a Pix.',
  idempotencyKey: 'Selects by the idempotency key of the request.',
  metadata: 'Selects by metadata, as `key:value`.',
  barCode: 'Selects by the bar code or the digitable line.',
  nsu: 'Selects by the number of a statement line.',
  originalNsu: 'Selects by the number of the line that was refunded.',
  isCredit: 'Selects credits or debits.',
  isResolved: 'Selects what is resolved, or what is not.',
  startDate: 'The first statement day.',
  endDate: 'The last statement day.',
  from: 'The first day or moment, included.',
  to: 'The last day, included; of moments, the first that is not.',
  day: 'The statement day.',
  openedFrom: 'The first day from which its age counts: of its line, or else of its opening.',
  openedTo: 'The last day from which its age counts: of its line, or else of its opening.',
  minAmount: 'The least amount, in reais.',
  maxAmount: 'The greatest amount, in reais.',
  format: 'The format of the file.',
  delimiter: 'What separates the columns of a CSV file.',
  filterBy: 'What kind of id the path has.',
  reason: 'Why it is done, for the history.',
  account: 'The number of an account at the bank.',
  audit: 'Whether every change is listed with its cause.',
};

const ofPath: Record<string, string> = {
  id: 'The id of the resource.',
  slug: 'The name of the account in addresses.',
  version: 'The number of the version, from 1.',
  date: 'The statement day.',
  event: 'The type of the event.',
  transactionId: 'The endToEndId or nsu of the received Pix.',
  identifier: 'The id at the bank, or the one that the caller chose.',
  month: 'The month, as `2026-11`.',
};

/** A test names what has none. */
export function parameterDescription(name: string, location: 'path' | 'query'): string | undefined {
  return location === 'query' ? ofQuery[name] : (ofPath[name] ?? ofQuery[name]);
}
