import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { netOf, type BreakSums, type LineTotal } from './month-days.js';
import { monthFigures, moneyGroups, type MonthFacts } from './month-figures.js';
import { reportTexts } from './month-sections.js';

const shownDays = ['2026-11-01', '2026-11-02', '2026-11-03'];
const facts: MonthFacts = {
  ...{ slug: 'main', month: '2026-11', today: '2026-11-10', openingCents: 1_000n },
  ...{ generatedAt: new Date('2026-11-10T12:00Z'), shownDays },
  ...{ lines: [], breaks: [], certificates: [] },
};
const line = (fields: Partial<LineTotal>): LineTotal => ({
  ...{ day: '2026-11-01', isCredit: true, state: 'matched', label: null, undoes: false },
  ...{ lines: 1n, cents: 100n },
  ...fields,
});
const open = (fields: Partial<BreakSums>): BreakSums => ({
  ...{ kind: 'unexpected', day: '2026-11-01', isOfLine: true, breaks: 1n },
  ...{ creditCents: 100n, debitCents: 0n },
  ...fields,
});
const categories = [
  ...['before_go_live', 'fee', 'tariff', 'own_account_transfer', 'ignored', 'accepted', 'refunded'],
];
const totals = fc.array(
  fc.record({
    day: fc.constantFrom(...shownDays),
    isCredit: fc.boolean(),
    state: fc.constantFrom('matched', 'classified', 'in_break', 'pending'),
    label: fc.constantFrom(...categories),
    undoes: fc.boolean(),
    lines: fc.bigInt(1n, 9n),
    cents: fc.bigInt(0n, 10n ** 12n),
  }),
);
const sum = (values: readonly bigint[]) => values.reduce((a, b) => a + b, 0n);

describe('the figures of a month', () => {
  it('add up from the opening to the closing balance, each line in one group', () => {
    fc.assert(
      fc.property(totals, fc.bigInt(-(10n ** 12n), 10n ** 12n), (lines, openingCents) => {
        const figures = monthFigures({ ...facts, openingCents, lines: lines as LineTotal[] });
        const groups = moneyGroups.map((group) => figures.groups[group]);
        expect(openingCents + sum(groups.map(netOf))).toBe(figures.closingCents);
        expect(sum(groups.map((one) => one.lines))).toBe(sum(lines.map((one) => one.lines)));
        expect(figures.days.at(-1)?.closingCents).toBe(figures.closingCents);
      }),
    );
  });

  it('show what was received net of refunds, and what was paid net of returns', () => {
    const lines = [
      ...[line({}), line({ isCredit: false, undoes: true, cents: 30n })],
      ...[line({ isCredit: false, cents: 50n }), line({ undoes: true, cents: 20n })],
      // Received without an explanation and refunded, and a fee that the bank gave back.
      ...['refunded', 'fee'].flatMap((label) =>
        [true, false].map((isCredit) => line({ state: 'classified', label, isCredit, cents: 7n })),
      ),
    ];
    const figures = monthFigures({ ...facts, lines });
    const { received, refunds, payments, returned, fees } = figures.groups;
    expect([received, refunds, payments, returned, fees].map(netOf)).toEqual([
      ...[107n, -37n, -50n, 20n, 0n],
    ]);
    const [money] = reportTexts(figures).sections;
    const amounts = money?.rows.flatMap(([name, ...cells]) =>
      typeof name === 'string' ? [] : [[name?.text, ...cells].map(textOf)],
    );
    expect(amounts).toEqual([
      ['Recebido, líquido de devoluções', '4', 'R$\u00a01,07', 'R$\u00a0-0,37', 'R$\u00a00,70'],
      ['Pago, líquido do que voltou', '2', 'R$\u00a00,20', 'R$\u00a0-0,50', 'R$\u00a0-0,30'],
      ['Total do mês', '8', 'R$\u00a01,34', 'R$\u00a0-0,94', 'R$\u00a00,40'],
    ]);
  });

  it('age breaks by their day, of the month and of earlier ones', () => {
    const breaks = [
      ...[open({}), open({ day: '2026-11-03', breaks: 2n, creditCents: 0n, debitCents: 5n })],
      open({ day: '2026-08-01', isOfLine: false }),
    ];
    const [found] = monthFigures({ ...facts, breaks }).breaks;
    expect(found).toMatchObject({
      ...{ breaks: 4n, ofMonth: 3n, creditCents: 200n, debitCents: 5n },
      ...{ byAge: [2n, 1n, 0n, 1n], oldestDay: '2026-08-01' },
    });
  });

  it('distinguish a certified day from one that is explained too', () => {
    const certificates = shownDays.map(
      (date, index) =>
        ({
          ...{ date, hash: `hash-${index}`, revision: 1 },
          ...{ creditCents: index === 0 ? 100n : 0n, debitCents: 0n },
        }) as MonthFacts['certificates'][number],
    );
    const lines = [line({}), line({ day: '2026-11-02', state: 'in_break', cents: 0n })];
    const breaks = [open({ breaks: 2n }), open({ day: '2026-11-03', isOfLine: false })];
    const { sections } = reportTexts(monthFigures({ ...facts, lines, breaks, certificates }));
    expect(sections[2]?.note).toBe('3 de 3 dias certificados; 1 certificados e explicados.');
    expect(sections[2]?.rows.map((cells) => textOf(cells[5]))).toEqual([
      ...['Certificado, 2 em divergência', 'Certificado, 1 em divergência'],
      'Certificado e explicado',
    ]);
  });
});

const textOf = (cell: string | { text: string } | undefined) =>
  typeof cell === 'object' ? cell.text : cell;
