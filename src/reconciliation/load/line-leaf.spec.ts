import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toCanonicalJson, type CanonicalValue } from '../../platform/json/canonical-json.js';
import { leafHashOf } from '../../platform/merkle-tree.js';
import { leafOfLine, leafText, type ProvenLine } from './line-leaf.js';
import type { DecidedOutcome } from '../decide/line-outcomes.js';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '\n', 'ação', '😀'),
);
const textOrNull = fc.option(text);
const cents = fc.bigInt({ min: 0n, max: 10n ** 14n });
const declared = fc.option(fc.record({ ruleId: text, version: fc.nat() }));

const lines: fc.Arbitrary<ProvenLine> = fc.record({
  nsu: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
  bankId: text,
  isCredit: fc.boolean(),
  amountCents: cents,
  typeName: text,
  correlationId: textOrNull,
  endToEndId: textOrNull,
  externalId: textOrNull,
  originalEndToEndId: textOrNull,
  movementId: textOrNull,
  idempotencyKey: textOrNull,
  billCode: textOrNull,
  hasOneHolder: fc.boolean(),
  balancePreviousCents: fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }),
  currentBalanceCents: fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }),
  occurredAt: fc.date({ noInvalidDate: true, min: new Date(0) }),
  contentHash: text,
  salt: textOrNull,
  erasedCommitment: textOrNull,
});

const outcomes: fc.Arbitrary<DecidedOutcome> = fc.record({
  state: fc.constantFrom('matched', 'classified', 'in_break', 'pending'),
  breaks: fc.array(
    fc.record({ kind: text, amountCents: fc.option(cents), expectedPaymentId: textOrNull }),
  ),
  classification: fc.option(fc.record({ category: text, rule: text, declared })),
  payments: fc.array(
    fc.record({ expectedPaymentId: text, amountCents: cents, role: text, rule: text, declared }),
  ),
});

describe('the leaf of a line', () => {
  it('is the hash of canonical JSON, whatever text the bank sends', () => {
    fc.assert(
      fc.property(lines, outcomes, fc.nat(), (line, outcome, version) => {
        const written = leafText(7, line, version, outcome);
        expect(toCanonicalJson(JSON.parse(written) as CanonicalValue)).toBe(written);
        const hashed = leafHashOf(written).toString('hex');
        expect(leafOfLine(7, line, version, outcome)).toBe(hashed);
      }),
    );
  });

  it('has each text of the line as it is', () => {
    fc.assert(
      fc.property(lines, outcomes, (line, outcome) => {
        const read = JSON.parse(leafText(7, line, 1, outcome)) as Record<string, unknown>;
        const { bankId: id, typeName: type, correlationId, endToEndId, externalId, nsu } = line;
        expect(read).toMatchObject({ accountId: 7, id, type, correlationId, endToEndId });
        expect(read).toMatchObject({ externalId, nsu: nsu.toString(), billCode: line.billCode });
        expect(read.outcome).toMatchObject({ state: outcome.state, version: 1 });
      }),
    );
  });
});
