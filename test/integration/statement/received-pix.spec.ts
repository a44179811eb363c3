// Which statement lines are received Pix: the one condition of refunds, policies and disputes.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { isUndoingType, lineTypes } from '../../../src/bank-contract/line-types.js';
import { Prisma } from '../../../src/generated/service/client.js';
import { isReceivedPix } from '../../../src/statement/expected-payments/received-pix.queries.js';
import { SentMoneyFixture, type SentMoneyLine } from '../../support/sent-money.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

let service: ServiceDatabase;
let nsu = 0;
const fixture = new SentMoneyFixture(() => service);
const endToEndId = 'E88888888202611211200AAAAAAAAAAA';
const received = { isCredit: true, typeName: 'CREDIT_PIX' };

beforeAll(async () => {
  service = await serviceDatabase();
});
afterAll(() => service.drop());
beforeEach(() => {
  nsu += 10;
});

async function isReceived(...lines: Omit<SentMoneyLine, 'nsu'>[]) {
  await fixture.addLines(...lines.map((line, index) => ({ nsu: nsu + index, ...line })));
  const [row] = await service.database.sql.$queryRaw<{ isReceived: boolean }[]>`
    SELECT ${isReceivedPix(Prisma.sql`t`)} AS "isReceived" FROM statement_line t
    WHERE t.account_id = ${service.accountId} AND t.nsu = ${nsu + lines.length - 1}`;
  return row?.isReceived;
}

it.each([...Object.keys(lineTypes), 'DEVOLUCAO_PIX', 'Estorno de Pix', 'PIX_QR_CODE_STATIC'])(
  'of the type %s: by the words of the type, and never a debit',
  async (typeName) => {
    const ofType = { typeName, endToEndId: `${endToEndId}${nsu}` };
    expect(await isReceived({ ...ofType, isCredit: true })).toBe(!isUndoingType(typeName));
    nsu += 1;
    expect(await isReceived({ ...ofType, isCredit: false })).toBe(false);
  },
);

it.each<[string, Partial<SentMoneyLine>]>([
  ['without an endToEndId', {}],
  ['with the id of a refund', { endToEndId: 'D88888888202611211200AAAAAAAAAAA' }],
  ['with the id of its original', { endToEndId, originalEndToEndId: 'E1' }],
])('not a credit %s', async (_, ids) => {
  expect(await isReceived({ ...received, ...ids })).toBe(false);
});

it('not a credit that undoes a debit, whatever its type', async () => {
  const sent = { isCredit: false, typeName: 'DEBIT_PIX', endToEndId: 'E2', age: 20 };
  expect(await isReceived(sent, { ...received, endToEndId: 'E2', age: 10 })).toBe(false);
});
