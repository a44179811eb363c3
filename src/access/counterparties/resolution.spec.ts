import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  counterpartySources,
  resolveCounterparty,
  unknownCounterparty,
  type SourcedParty,
} from './resolution.js';

const said = (
  source: SourcedParty['source'],
  fields: Partial<Omit<SourcedParty, 'source'>>,
): SourcedParty => ({ ...unknownCounterparty, ...fields, source });
const account = { ispb: '00000001', branch: '0001', account: '12345-6' };

describe('the counterparty of a line', () => {
  it('is unknown without a source', () =>
    expect(resolveCounterparty([])).toEqual(unknownCounterparty));

  it('is what the line says, whoever else says more', () => {
    const line = said('line', { name: 'Ana', taxId: '12345678909' });
    const other = said('webhook', { name: 'Rui', taxId: '98765432100', message: 'oi', ...account });
    expect(resolveCounterparty([line, other])).toEqual(line);
  });

  it.each([
    ['tax id', { taxId: '12345678909' }],
    ['visible part of the tax id', { taxId: '***.456.789-**' }],
    ['name, however it is spelled', { name: 'ANA  SOUZA' }],
  ])('is completed by a source with the same %s', (_, shared) => {
    const line = said('line', { name: 'Ana Souza', taxId: '12345678909', ...account });
    const known = { ...unknownCounterparty, ...shared };
    const resolved = resolveCounterparty([said('line', known), { ...line, source: 'webhook' }]);
    expect(resolved).toEqual({ ...line, ...shared, taxId: '12345678909', source: 'line' });
  });

  it.each([
    ['tax id', { name: 'Ana', taxId: '12345678909' }, { name: 'Ana', taxId: '12345678800' }],
    [
      'hidden tax id',
      { name: 'Ana', taxId: '***.456.789-**' },
      { name: 'Ana', taxId: '98765432100' },
    ],
    ['account', { name: 'Ana', ...account }, { name: 'Ana', ...account, account: '9' }],
    ['bank', { name: 'Ana', ...account }, { name: 'Ana', ...account, ispb: '00000002' }],
    ['name', { name: 'Ana' }, { name: 'Rui', taxId: '12345678909' }],
  ])('is not completed by a source with another %s', (_, known, other) =>
    expect(
      resolveCounterparty([said('line', known), said('charge', { ...other, message: 'oi' })]),
    ).toEqual(said('line', known)),
  );

  it('is the first one with a name, where the line has an account only', () => {
    const named = { name: 'Ana', taxId: '***.456.789-**', ...account };
    expect(resolveCounterparty([said('line', account), said('look_up', named)])).toEqual(
      said('look_up', named),
    );
    const elsewhere = said('look_up', { ...named, account: '777' });
    expect(resolveCounterparty([said('line', account), elsewhere])).toEqual(said('line', account));
  });

  it('never mixes two tax ids, accounts or names of different people', () => {
    const text = (...values: string[]) => fc.constantFrom(null, ...values);
    const party = fc.record({
      name: text('Ana', 'Rui'),
      taxId: text('12345678909', '98765432109', '***.456.789-**', '***.654.321-**'),
      ispb: text('00000001', '00000002'),
      branch: text('1', '2'),
      account: text('1', '2'),
      message: text('a', 'b'),
      source: fc.constantFrom(...counterpartySources),
    });
    fc.assert(
      fc.property(fc.array(party, { maxLength: 4 }), (sources) => {
        const { name, taxId, ispb, branch, account: number } = resolveCounterparty(sources);
        const hasAccount = sources.some(
          (one) => one.ispb === ispb && one.branch === branch && one.account === number,
        );
        expect(hasAccount || sources.length === 0).toBe(true);
        const [line] = sources;
        if (line?.name && line.taxId) {
          expect(name).toBe(line.name);
          const fullOf = { '***.456.789-**': '12345678909', '***.654.321-**': '98765432109' };
          const full = fullOf[line.taxId as keyof typeof fullOf] ?? line.taxId;
          expect([line.taxId, full]).toContain(taxId);
        }
      }),
    );
  });
});
