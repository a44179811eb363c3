import { lookupAnswer, maskedDocument } from './lookup-answer.js';
import { partyOutside } from '../accounts/party.js';

it.each([
  ['12345678909', '***.456.789-**'],
  ['11222333000181', '**.222.333/0001-**'],
  ['12ABC34501DE35', '**.ABC.345/01DE-**'],
  ['not one', '*******'],
])('masks %s', (document, masked) => expect(maskedDocument(document)).toBe(masked));

it('tells whether the key belongs to a holder, and nobody when none is asked for', () => {
  const beneficiary = partyOutside({ name: 'Ana', document: '529.982.247-25' });
  const ask = (document?: string | null) =>
    lookupAnswer({ endToEndId: 'E1', key: 'ana@x.example', beneficiary }, document)
      .keyBelongsHolder;
  expect(ask('52998224725')).toBe(true);
  expect(ask('529.982.247-25')).toBe(true);
  expect([ask('12345678909'), ask(null), ask()]).toEqual([false, false, false]);
});
