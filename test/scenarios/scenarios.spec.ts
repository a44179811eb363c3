// What the matcher decides, as an accountant reads it. Each scenario is facts and what they mean.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { openBreaks, type OpenBreak } from '../../src/reconciliation/decide/breaks.js';
import { decide, type Decision } from '../../src/reconciliation/decide/decide.js';
import { decidedBreakKinds } from '../../src/reconciliation/decide/break-kinds.js';
import { factsOf, scenarioSchema } from '../support/scenario-facts.js';

const folder = import.meta.dirname;
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const scenarios = files.flatMap((file) =>
  (parse(readFileSync(join(folder, file), 'utf8')) as unknown[]).map((one) => ({
    file,
    ...scenarioSchema.parse(one),
  })),
);

const reaisOf = (cents: bigint): string => (Number(cents) / 100).toFixed(2);

function describeLine({ component }: Decision, nsu: bigint): string {
  const outcome = component.unmatched.get(nsu);
  if (outcome?.outcome === 'classified') return outcome.category;
  if (outcome) return outcome.outcome === 'break' ? outcome.kind : outcome.outcome;
  return component
    .allocationsOfLine(nsu)
    .map(({ role, expectedPaymentId, amountCents, rule }) => {
      const verb = role === 'payment' ? 'pays' : 'reverses';
      return `${verb} ${expectedPaymentId} ${reaisOf(amountCents)} by ${rule}`;
    })
    .join(', ');
}

const subjectNames: [RegExp, string][] = [
  [/^nsu:/, 'line '],
  [/^expected_payment:/, ''],
  [/^operation:/, 'operation '],
  [/^transfer:/, 'transfer '],
  [/^bill_payment:/, 'bill of '],
];

function describeOpenBreak({ kind, amountCents, subject }: OpenBreak): string {
  const [pattern, name] = subjectNames.find(([each]) => each.test(subject)) ?? [/^/, ''];
  const amount = amountCents === null ? '' : ` ${reaisOf(amountCents)}`;
  return `${kind}${amount} of ${subject.replace(pattern, name)}`;
}

describe.each(files)('%s', (file) => {
  it.each(scenarios.filter((one) => one.file === file))('$scenario', (scenario) => {
    const facts = factsOf(scenario);
    const decision = decide(facts);
    const outcomes = facts.lines.map(({ nsu }) => [nsu.toString(), describeLine(decision, nsu)]);
    expect(Object.fromEntries(outcomes)).toEqual(scenario.outcomes);
    expect(openBreaks(decision).map(describeOpenBreak)).toEqual(scenario.breaks);
  });
});

it('covers every kind of break and every way to match', () => {
  const opened = scenarios.flatMap(({ breaks }) => breaks.map((one) => one.split(' ')[0]));
  expect(new Set(opened)).toEqual(new Set(decidedBreakKinds));
  const texts = scenarios.flatMap(({ outcomes }) => Object.values(outcomes));
  const rules = texts.flatMap((text) => [...text.matchAll(/ by (\w+)/g)].map(([, rule]) => rule));
  expect(new Set(rules)).toEqual(
    new Set(['manual', 'reference', 'original', 'counterparty', 'declared', 'reversal']),
  );
});
