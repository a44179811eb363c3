import { describe, expect, it } from '@jest/globals';
import * as certificates from './certificate.js';
import { zeroHash, type Certificate } from './certificate.js';
import type { Cut } from './cut.js';
import type { OutcomeTotal } from './day-lines.queries.js';

const occurredAt = new Date('2026-03-02T12:00:00Z');
const cut: Cut = {
  nsu: 13n,
  balanceCents: 1_400n,
  straddlingLines: [{ nsu: 13n, occurredAt, signedCents: -92n }],
  acceptedDifferences: [
    { nsu: 12n, occurredAt, signedCents: -7n, breakId: 'b', reason: 'confirmed by the bank' },
  ],
};
const totals: OutcomeTotal[] = [
  { state: 'matched', label: null, isCredit: true, lines: 1, cents: 1_000n },
  { state: 'classified', label: 'fee', isCredit: false, lines: 2, cents: 3n },
  { state: 'in_break', label: 'unexpected', isCredit: true, lines: 1, cents: 500n },
  { state: 'in_break', label: 'unexpected', isCredit: false, lines: 1, cents: 0n },
];
const figures = certificates.figuresOf(-5n, { creditCents: 1_500n, debitCents: 3n });
const lines = { lines: 5, firstNsu: 9n, lastNsu: 12n };
const content = certificates.describeDay(figures, lines, cut);
const certificate: Certificate = {
  format: 'concilia-day-close/1',
  ...{ accountId: 7, date: '2026-03-02', revision: 1, sequence: 1, reason: null },
  ...content,
  ...certificates.describeOutcomes(totals),
  added: [],
  linesRoot: 'a'.repeat(64),
  earlier: null,
  outcomeChanges: { count: 1, root: 'd', first: [{ nsu: '3', formerLeaf: 'b', leaf: 'c' }] },
  ...{ lastArrival: '40', outcomeSequence: '12' },
  previousHash: zeroHash,
  closedUntil: '2026-03-03T05:00:00.000Z',
  madeAt: '2026-03-03T05:00:10.000Z',
};

describe('a certificate', () => {
  it('contains exact figures, and counts and sums by the outcome of each line', () => {
    expect(certificate).toMatchObject({
      opening: '-0.05',
      credits: '15.00',
      debits: '0.03',
      closing: '14.92',
      lines: 5,
      matched: { count: 1, credits: '10.00', debits: '0.00' },
      classified: { fee: { count: 2, credits: '0.00', debits: '0.03' } },
      inBreak: { unexpected: { count: 2, credits: '5.00', debits: '0.00' } },
      firstNsu: '9',
      lastNsu: '12',
    });
  });

  it('reads back as it was written, with its cut', () => {
    const text = certificates.writeCertificate(certificate);
    expect(certificates.readCertificate(text)).toEqual(certificate);
    expect(certificates.cutOfCertificate(certificates.readCertificate(text))).toEqual(cut);
  });

  it('has another hash when any field differs', () => {
    const hashOf = (one: Certificate) =>
      certificates.hashCertificate(certificates.writeCertificate(one));
    const others = Object.keys(certificate).map((key) => ({ ...certificate, [key]: 'x' }));
    expect(new Set([certificate, ...others].map((one) => hashOf(one as Certificate))).size).toBe(
      others.length + 1,
    );
  });

  it('has the content of its day unless a figure, a line or the cut differs', () => {
    expect(certificates.hasContent({ ...certificate, revision: 2, linesRoot: 'd' }, content)).toBe(
      true,
    );
    const others = [
      certificates.describeDay({ ...figures, openingCents: 0n }, lines, cut),
      certificates.describeDay(figures, { ...lines, lines: 6 }, cut),
      certificates.describeDay(figures, lines, { ...cut, nsu: 14n }),
      certificates.describeDay(figures, lines, { ...cut, straddlingLines: [] }),
      certificates.describeDay(figures, lines, { ...cut, acceptedDifferences: [] }),
    ];
    for (const other of others) expect(certificates.hasContent(certificate, other)).toBe(false);
  });
});
