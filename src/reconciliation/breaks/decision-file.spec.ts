import { describe, expect, it } from '@jest/globals';
import { readDecisions } from './decision-file.js';

const id = (n: number) => `01900000-0000-7000-8000-00000000000${n}`;

describe('a spreadsheet of decisions', () => {
  it('is read in both languages, without amounts, and without rows that decide nothing', () => {
    const rows = [
      [2, { id: id(1), versao: 'v1e5', decisao: ' Aceitar ', motivo: 'as agreed', valor: '9' }],
      [3, { ID: id(2), version: 'vab', decision: 'note' }],
      [4, { id: id(3), versao: 'vab', decisao: '' }],
    ] as const;
    expect(readDecisions(rows)).toEqual({
      decisions: [
        { line: 2, id: id(1), version: '1e5', action: 'accept', reason: 'as agreed' },
        { line: 3, id: id(2), version: 'ab', action: 'note', reason: null },
      ],
      refused: [],
    });
  });

  it('refuses each row of a break that stands twice, and what it cannot read', () => {
    const row = { versao: 'vab', decisao: 'aceitar' };
    const rows = [
      [2, { ...row, id: id(1) }],
      [3, { ...row, id: id(1).toUpperCase(), decisao: 'anotar' }],
      [4, { ...row, id: id(2), decisao: '=HYPERLINK("x")' }],
      [5, { ...row, id: id(3), decisao: 'devolver' }],
      [6, { ...row, id: id(4), motivo: 'x' }],
      [7, { ...row, id: 'x' }],
      [8, { ...row, id: id(5), versao: '' }],
      [9, null],
    ] as const;
    const { decisions, refused } = readDecisions(rows);
    expect(decisions).toEqual([]);
    expect(refused.map(({ line, code }) => [line, code])).toEqual([
      [9, 'unreadable_row'],
      ...[[2, 'row_twice'] as const, [3, 'row_twice'] as const],
      ...[[4, 'unknown_decision'] as const, [5, 'unknown_decision'] as const],
      ...[[6, 'wrong_reason'] as const, [7, 'row_without_break'] as const],
      [8, 'row_without_break'],
    ]);
  });
});
