// docs/explanation/reliability.md lists every invariant and every fault case, each case with the
// test that holds it. test/architecture.spec.ts holds that the files exist.
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

const page = readFileSync('docs/explanation/reliability.md', 'utf8');
const numbered = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

it('has the invariants I1 to I15', () => {
  const invariants = [...page.matchAll(/^- \*\*I(\d+)\*\* ./gm)].map(([, number]) =>
    Number(number),
  );
  expect(invariants).toEqual(numbered(15));
});

it('has a test for each of the cases 1 to 68', () => {
  const cases = [
    ...page.matchAll(/^(\d+)\. .*: (?:`[\w/.-]+`, )*`[\w/.-]+\.(?:e2e-)?spec\.ts`$/gm),
  ];
  expect(cases.map(([, number]) => Number(number))).toEqual(numbered(68));
});

it('says how to run crash points', () => {
  expect(page).toContain('npm run chaos -- --points');
});
