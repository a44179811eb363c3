import { dictLookupResponse, maskedDocument } from './lookup-response.js';
import { outsideParty } from '../accounts/party.js';

it.each([
  ['12345678909', '***.456.789-**'],
  ['11222333000181', '**.222.333/0001-**'],
  ['12ABC34501DE35', '**.ABC.345/01DE-**'],
  ['invalid', '*******'],
])('masks %s', (document, masked) => expect(maskedDocument(document)).toBe(masked));

it('reports whether the key belongs to the given holder, and false without a holder', () => {
  const beneficiary = outsideParty({ name: 'Ana', document: '529.982.247-25' });
  const belongsTo = (document?: string | null) =>
    dictLookupResponse({ endToEndId: 'E1', key: 'ana@x.example', beneficiary }, document)
      .keyBelongsHolder;
  expect(belongsTo('52998224725')).toBe(true);
  expect(belongsTo('529.982.247-25')).toBe(true);
  const others = [belongsTo('12345678909'), belongsTo(null), belongsTo()];
  expect(others).toEqual([false, false, false]);
});
