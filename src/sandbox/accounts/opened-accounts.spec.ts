import { fixtureAccounts } from './fixtures.js';
import { openedAccounts, openedFixtures } from './opened-accounts.js';

it('opens the fixtures with their keys where nothing else is asked for', () => {
  const opened = openedFixtures('first-key');
  expect(opened.map(({ apiKey: _, ...account }) => account)).toEqual(fixtureAccounts);
  expect(opened.map(({ apiKey }) => apiKey)).toEqual([
    ...['first-key', 'sandbox-dev-key-2', 'sandbox-dev-key-3'],
  ]);
});

it('numbers as many accounts as are asked for, each with a random Pix key', () => {
  const opened = openedAccounts([{}, {}, {}, { balance: '0.30' }, { document: '529.982.247-25' }]);
  expect(opened.map(({ number }) => number)).toEqual([
    ...['1000001', '1000002', '1000003', '1000004', '1000005'],
  ]);
  expect(opened[3]).toMatchObject({ openingBalanceCents: 30n, apiKey: 'sandbox-dev-key-4' });
  expect(opened[4]).toMatchObject({ holderDocument: '52998224725', holderType: 'NATURAL' });
  for (const { dictKeys } of opened) expect(dictKeys.map(({ kind }) => kind)).toContain('EVP');
});

it('gives an account the Pix keys that are asked for', () => {
  const [{ dictKeys }] = openedAccounts([{ pixKeys: ['Shop@Shop.example'] }]);
  expect(dictKeys).toMatchObject([{ kind: 'EMAIL', key: 'shop@shop.example' }, { kind: 'EVP' }]);
});

it.each([
  [[], 'A bank needs an account.'],
  [[{ document: '123' }], '123 is no CPF and no CNPJ.'],
  [[{ balance: '-1.00' }], '-1.00 is no balance'],
  [[{ balance: '1.005' }], '1.005 is no balance'],
  [[{ pixKeys: ['?'] }], '? is no Pix key.'],
  [[{ apiKey: 'a' }, { apiKey: 'a' }], 'Two accounts have the same API key: a.'],
  [[{ pixKeys: ['a@b.example'] }, { pixKeys: ['a@b.example'] }], 'the same Pix key: a@b.example'],
])('refuses %j', (requested, message) => {
  expect(() => openedAccounts(requested)).toThrow(message);
});
