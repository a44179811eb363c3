import { expect, it } from '@jest/globals';
import { camelCaseRows } from './row-names.js';

it('names columns as TypeScript does, and leaves other names and all values', () => {
  const at = new Date(0);
  expect(
    camelCaseRows([
      { end_to_end_id: 'E1', nsu: 1n, isCredit: true, occurred_at: at, is_2nd: null },
      { end_to_end_id: null, nsu: 2n, isCredit: false, occurred_at: at, is_2nd: 'a_b' },
    ]),
  ).toEqual([
    { endToEndId: 'E1', nsu: 1n, isCredit: true, occurredAt: at, is2nd: null },
    { endToEndId: null, nsu: 2n, isCredit: false, occurredAt: at, is2nd: 'a_b' },
  ]);
  expect(camelCaseRows([])).toEqual([]);
});
