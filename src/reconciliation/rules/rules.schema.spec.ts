import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { parseJson, stringifyJson } from '../../platform/json/exact-json.js';
import { describeAction, describeCondition, toAction, toCondition } from './rule-views.js';
import { createRuleVersion } from './rules.schema.js';
import { readStored, writeStored } from '../load/stored-rule.js';

const read = (body: object) =>
  z.safeDecode(createRuleVersion.body, parseJson(JSON.stringify(body)) as never);
const pathsOf = (body: object) => {
  const decoded = read(body);
  return decoded.success ? [] : decoded.error.issues.map(({ path }) => path.map(String).join('.'));
};
const version = (changes: object) => ({ priority: 10, reason: 'test', ...changes });
const matches = (match: object) => version({ then: { match } });

describe('a rule’s declaration', () => {
  it.each([
    ['needs one of classify and match', version({ then: {} }), ['then']],
    [
      'needs a reason to classify',
      version({ when: { isCredit: true }, then: { classify: 'fee' } }),
      ['then.reason'],
    ],
    [
      'needs a condition to classify',
      version({ then: { classify: 'fee', reason: 'x' } }),
      ['when'],
    ],
    ['does not match by amount alone', matches({ by: ['amount'] }), ['then.match.by']],
    ['does not match by document alone', matches({ by: ['document'] }), ['then.match.by']],
    [
      'needs the field window for the criterion window',
      matches({ by: ['document', 'window'] }),
      ['then.match.window'],
    ],
    [
      'allows a tolerance only for the criterion amount',
      matches({
        by: ['notes', 'window'],
        window: { daysBefore: 1, daysAfter: 1 },
        tolerance: { amount: 1 },
      }),
      ['then.match.tolerance'],
    ],
    [
      'refuses unknown fields',
      version({ when: { regex: 'x' }, then: { match: { by: ['document', 'amount'] } } }),
      ['when'],
    ],
    [
      'takes a CPF or CNPJ',
      version({ when: { document: '1' }, then: { match: { by: ['document', 'amount'] } } }),
      ['when.document'],
    ],
    [
      'refuses a range whose max is below its min',
      version({
        when: { amount: { min: 2, max: 1 } },
        then: { match: { by: ['document', 'amount'] } },
      }),
      ['when.amount.max'],
    ],
    [
      'takes text or a pattern for the notes',
      version({ when: { notes: {} }, then: { match: { by: ['document', 'amount'] } } }),
      ['when.notes'],
    ],
    ...['(', '(a{1000}){1000}', 'a'.repeat(201), '.', '.*', String.raw`\w`].map(
      (pattern): [string, object, string[]] => [
        `refuses the pattern ${pattern.slice(0, 20)}`,
        version({
          when: { notes: { matches: pattern } },
          then: { match: { by: ['document', 'amount'] } },
        }),
        ['when.notes.matches'],
      ],
    ),
    [
      'classifies nothing by a part of nearly every text',
      version({
        when: { notes: { contains: ' . ' } },
        then: { classify: 'fee', reason: 'x' },
      }),
      ['when.notes.contains'],
    ],
    [
      'classifies nothing by amounts over four orders of magnitude',
      version({
        when: { amount: { min: 0.01, max: 100 } },
        then: { classify: 'fee', reason: 'x' },
      }),
      ['when'],
    ],
    ...[{ amount: 1_000.01 }, { percent: 10.01 }, { amount: 1, max: 1_000.01 }].map(
      (tolerance): [string, object, string[]] => [
        `caps the tolerance ${JSON.stringify(tolerance)}`,
        matches({ by: ['document', 'amount'], tolerance }),
        [`then.match.tolerance.${Object.keys(tolerance).at(-1)}`],
      ],
    ),
    [
      'needs an interval for instalments',
      matches({ by: ['document', 'amount'], instalments: { count: 3 } }),
      ['then.match.instalments'],
    ],
    [
      'refuses instalments that share days',
      matches({
        by: ['document', 'amount'],
        instalments: { count: 3, intervalDays: 10, toleranceDays: 5 },
      }),
      ['then.match.instalments.toleranceDays'],
    ],
    [
      'needs what determines the sales of a net settlement',
      matches({
        by: ['document', 'amount'],
        netSettlement: { groupBy: 'day', fee: { percent: { max: 3 } } },
      }),
      ['then.match.by'],
    ],
    [
      'bounds the fee of a net settlement, and refuses a tolerance beside it',
      matches({
        by: ['notes', 'amount'],
        tolerance: { amount: 1 },
        netSettlement: { groupBy: 'notes', fee: { percent: { min: 3, max: 2 } } },
      }),
      ['then.match.netSettlement.fee.percent.max', 'then.match.tolerance'],
    ],
    [
      'refuses a fee without bounds',
      matches({ by: ['notes', 'amount'], netSettlement: { groupBy: 'notes', fee: {} } }),
      ['then.match.netSettlement.fee'],
    ],
    [
      'refuses a tolerance above its own max',
      matches({ by: ['document', 'amount'], tolerance: { amount: 2, max: 1 } }),
      ['then.match.tolerance.max'],
    ],
    [
      'allows a star only at the end of a type',
      version({ when: { types: ['A*B'] }, then: { classify: 'fee', reason: 'x' } }),
      ['when.types.0'],
    ],
  ])('%s', (_, body, paths) => expect(pathsOf(body)).toEqual(paths));

  it('is read, stored and shown to the cent, with its document masked', () => {
    const decoded = read(
      version({
        when: { amount: { min: 0.1, max: 12345678901.23 }, document: '111.444.777-35' },
        then: { match: { by: ['document', 'amount'], tolerance: { percent: 0.25 } } },
      }),
    );
    if (!decoded.success) throw decoded.error;
    const { when, then } = decoded.data;
    const stored = writeStored({ when: toCondition(when), then: toAction(then) });
    const definition = JSON.parse(JSON.stringify(stored)) as unknown;
    const rule = readStored({ ruleId: 'r', version: 1, priority: 1, definition });
    expect(rule.when).toEqual({
      minCents: 10n,
      maxCents: 1_234_567_890_123n,
      document: '11144477735',
    });
    expect(JSON.stringify(describeCondition(rule.when))).toContain('***.444.777-**');
    expect(JSON.stringify(describeCondition(rule.when))).not.toContain('11144477735');
    expect(rule.then).toMatchObject({ do: 'match', toleranceBasisPoints: 25n });
    expect(JSON.stringify(describeAction(rule.then))).toContain('0.25');
    expect(rule.then).toMatchObject({ toleranceMaxCents: 100_000n });
    expect(JSON.stringify(describeAction(rule.then))).toContain('"max":{"value":"1000"');
  });

  it.each([
    [
      ['document', 'amount'],
      { instalments: { count: 12, monthly: true, toleranceDays: 3 } },
      { plan: { count: 12, intervalDays: null, toleranceDays: 3 }, instalments: false },
    ],
    [
      ['notes', 'amount'],
      { netSettlement: { groupBy: 'notes', fee: { percent: { min: 1.5, max: 2.49 } } } },
      {
        netSettlement: {
          groupBy: 'notes',
          minFeeBasisPoints: 150n,
          maxFeeBasisPoints: 249n,
          minFeeCentsPerSale: 0n,
          maxFeeCentsPerSale: 0n,
        },
      },
    ],
  ])('by %j is stored and shown as it was declared: %j', (by, terms, applied) => {
    const decoded = read(matches({ by, ...terms }));
    if (!decoded.success) throw decoded.error;
    const stored = writeStored({ when: {}, then: toAction(decoded.data.then) });
    const definition = JSON.parse(JSON.stringify(stored)) as unknown;
    const { then } = readStored({ ruleId: 'r', version: 1, priority: 1, definition });
    expect(then).toMatchObject(applied);
    const { match } = describeAction(then) as { match: object };
    const again = read(matches(JSON.parse(stringifyJson(match)) as object));
    expect(again.success && toAction(again.data.then)).toEqual(toAction(decoded.data.then));
  });

  it('shows the pattern of the notes as it was declared', () => {
    const notes = { contains: 'lote', matches: String.raw`Lote \d{4} da Açaí` };
    const decoded = read(
      version({ when: { notes }, then: { match: { by: ['document', 'amount'] } } }),
    );
    if (!decoded.success) throw decoded.error;
    expect(describeCondition(toCondition(decoded.data.when))).toEqual({ notes });
  });

  it('of a version from before the cap on its tolerance is shown and applied without one', () => {
    const definition = {
      when: {},
      then: { do: 'match', by: ['document', 'amount'], toleranceCents: '500000' },
    };
    const { then } = readStored({ ruleId: 'r', version: 1, priority: 1, definition });
    expect(then).toMatchObject({ toleranceCents: 500_000n });
    expect(then).not.toHaveProperty('toleranceMaxCents');
  });
});
