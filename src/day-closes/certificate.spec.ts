import { describe, expect, it } from '@jest/globals';
import {
  certify,
  cutOf,
  hashOfCertificate,
  noHash,
  readCertificate,
  saysTheSame,
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
    { nsu: 12n, state: 'matched', as: null, isCredit: true, amountCents: 1_000n },
    { nsu: 9n, state: 'classified', as: 'fee', isCredit: false, amountCents: 1n },
    { nsu: 10n, state: 'classified', as: 'fee', isCredit: false, amountCents: 2n },
    { nsu: 11n, state: 'in_break', as: 'unexpected', isCredit: true, amountCents: 500n },
  ],
  cut: {
    nsu: 13n,
    balanceCents: 1_400n,
    items: [{ nsu: 13n, occurredAt, signedCents: -92n }],
    differences: [
      { nsu: 12n, occurredAt, signedCents: -7n, breakId: 'b', reason: 'the bank says so' },
    ],
  },
  linesHash: 'a'.repeat(64),
  earlier: null,
  added: [],
  previousHash: noHash,
  closedUntil: new Date('2026-03-03T05:00:00Z'),
  madeAt: new Date('2026-03-03T05:00:10Z'),
};

describe('a certificate', () => {
  it('tells exact figures, counts and sums of how each line stood', () => {
    expect(certify(facts)).toMatchObject({
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

  it('is read as it was written, its cut too', () => {
    const text = writeCertificate(certify(facts));
    expect(readCertificate(text)).toEqual(certify(facts));
    expect(cutOf(readCertificate(text))).toEqual(facts.cut);
  });

  it('has one text whatever order its groups came in, and another hash for another of anything', () => {
    const text = writeCertificate(certify(facts));
    expect(writeCertificate(certify({ ...facts, lines: [...facts.lines].reverse() }))).toBe(text);
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
      hashOfCertificate(writeCertificate(certify({ ...facts, ...other }))),
    );
    expect(new Set([hashOfCertificate(text), ...hashes]).size).toBe(others.length + 1);
  });

  it('says the same when only its place and time differ, and another when a figure does', () => {
    const one = certify(facts);
    expect(saysTheSame(one, certify({ ...facts, revision: 2, madeAt: occurredAt }))).toBe(true);
    expect(saysTheSame(one, certify({ ...facts, openingCents: 0n }))).toBe(false);
    for (const cut of [{ nsu: 14n }, { items: [] }, { differences: [] }])
      expect(saysTheSame(one, certify({ ...facts, cut: { ...facts.cut, ...cut } }))).toBe(false);
  });
});
