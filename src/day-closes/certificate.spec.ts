import { describe, expect, it } from '@jest/globals';
import {
  makeCertificate,
  cutOfCertificate,
  hashCertificate,
  zeroHash,
  readCertificate,
  hasSameContent,
  writeCertificate,
  type DayFacts,
} from './certificate.js';

const occurredAt = new Date('2026-03-02T12:00:00Z');
const facts: DayFacts = {
  accountId: 7,
  date: '2026-03-02',
  revision: 1,
  sequence: 1,
  reason: null,
  openingCents: -5n,
  lines: [
    { nsu: 12n, state: 'matched', label: null, isCredit: true, amountCents: 1_000n },
    { nsu: 9n, state: 'classified', label: 'fee', isCredit: false, amountCents: 1n },
    { nsu: 10n, state: 'classified', label: 'fee', isCredit: false, amountCents: 2n },
    { nsu: 11n, state: 'in_break', label: 'unexpected', isCredit: true, amountCents: 500n },
  ],
  cut: {
    nsu: 13n,
    balanceCents: 1_400n,
    straddlingLines: [{ nsu: 13n, occurredAt, signedCents: -92n }],
    acceptedDifferences: [
      { nsu: 12n, occurredAt, signedCents: -7n, breakId: 'b', reason: 'confirmed by the bank' },
    ],
  },
  linesHash: 'a'.repeat(64),
  earlier: null,
  added: [],
  previousHash: zeroHash,
  closedUntil: new Date('2026-03-03T05:00:00Z'),
  madeAt: new Date('2026-03-03T05:00:10Z'),
};

describe('a certificate', () => {
  it('contains exact figures, and counts and sums by the outcome of each line', () => {
    expect(makeCertificate(facts)).toMatchObject({
      opening: '-0.05',
      credits: '15.00',
      debits: '0.03',
      closing: '14.92',
      lines: 4,
      matched: { count: 1, credits: '10.00', debits: '0.00' },
      classified: { fee: { count: 2, credits: '0.00', debits: '0.03' } },
      inBreak: { unexpected: { count: 1, credits: '5.00', debits: '0.00' } },
      firstNsu: '9',
      lastNsu: '12',
    });
  });

  it('reads back as it was written, with its cut', () => {
    const text = writeCertificate(makeCertificate(facts));
    expect(readCertificate(text)).toEqual(makeCertificate(facts));
    expect(cutOfCertificate(readCertificate(text))).toEqual(facts.cut);
  });

  it('has the same text for any order of its lines, and another hash when any fact differs', () => {
    const text = writeCertificate(makeCertificate(facts));
    expect(writeCertificate(makeCertificate({ ...facts, lines: [...facts.lines].reverse() }))).toBe(
      text,
    );
    const others: Partial<DayFacts>[] = [
      { accountId: 8 },
      { date: '2026-03-03' },
      { revision: 2 },
      { sequence: 2 },
      { openingCents: -4n },
      { lines: facts.lines.slice(1) },
      { linesHash: 'b'.repeat(64) },
      { earlier: { lines: 1, linesHash: 'c' } },
      { previousHash: '1'.repeat(64) },
      { madeAt: occurredAt },
    ];
    const hashes = others.map((other) =>
      hashCertificate(writeCertificate(makeCertificate({ ...facts, ...other }))),
    );
    expect(new Set([hashCertificate(text), ...hashes]).size).toBe(others.length + 1);
  });

  it('has the same content if only revision and time differ, not if a figure or the cut differs', () => {
    const first = makeCertificate(facts);
    expect(
      hasSameContent(first, makeCertificate({ ...facts, revision: 2, madeAt: occurredAt })),
    ).toBe(true);
    expect(hasSameContent(first, makeCertificate({ ...facts, openingCents: 0n }))).toBe(false);
    for (const cut of [{ nsu: 14n }, { straddlingLines: [] }, { acceptedDifferences: [] }])
      expect(
        hasSameContent(first, makeCertificate({ ...facts, cut: { ...facts.cut, ...cut } })),
      ).toBe(false);
  });
});
