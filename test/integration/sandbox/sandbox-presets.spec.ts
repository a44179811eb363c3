// What the sandbox bank shows in each preset: only the fields, types and routes of the contract,
// what is published of the real service, or everything.
import { Modes } from '../../../src/sandbox/modes/modes.service.js';
import { presets, type Preset } from '../../../src/sandbox/presets/presets.js';
import {
  inPublishedForm,
  eventually,
  sandboxUnderTest,
  type SandboxUnderTest,
} from '../../contract/bank-under-test.js';
import { finalBeneficiary, newKeyHeader, slip, staticQr } from '../../contract/samples.js';
import {
  batchItem,
  internalTransfer,
  manualTransfer,
  transferCalls,
} from '../../contract/transfer-samples.js';

interface Line {
  nsu: number;
  type: { name: string; isCredit: boolean };
  proof: Record<string, unknown>;
  correlationId?: string;
  [field: string]: unknown;
}

let bank: SandboxUnderTest;
beforeAll(async () => {
  bank = await sandboxUnderTest('published');
});
afterAll(() => bank.stop());
const { send: transfer, sendBatch: batch } = transferCalls(() => bank);
const post = async (path: string, body: object = {}) => {
  const response = await bank.call('POST', path, { body, headers: newKeyHeader() });
  expect([path, response.status, response.text]).toEqual([path, 200, expect.any(String)]);
  return response.body;
};
const setModes = async (body: object) =>
  (await bank.call('PATCH', '/sandbox/modes', { body })).body;
const lines = async (query = 'limit=1000'): Promise<Line[]> =>
  (await bank.call('GET', `/baas/api/v2/transactions?${query}`)).body;
const payTheBill = async () => {
  const bill = await post('/sandbox/bills', {
    type: 'BANKSLIP',
    status: 'PENDING_PAYMENT',
    amount: 3,
  });
  await post('/baas/api/v1/bill-payments', { amount: 3, barCode: bill.barCode });
};

/** Every kind of movement of money, once. */
async function moveMoney(): Promise<void> {
  await post('/sandbox/clock', { now: '2031-03-04T15:00:00Z' });
  const charge = slip({ finalBeneficiary });
  await post('/baas/v1/charges', charge);
  await post(`/baas/v1/charges/${charge.correlationId}/pay`);
  const code = staticQr({ amount: 7 });
  await post('/baas/api/v2/pix/qrcode/static', code);
  const received = await post('/sandbox/pix/received', {
    correlationId: code.correlationId,
    amount: 7,
  });
  const refund = await bank.call(
    'PUT',
    `/baas/api/v1/transactions/${received.nsu}/refund?filterBy=NSU`,
    { body: { amount: 2 } },
  );
  expect(refund.status).toBe(200);
  const sent = (await transfer(manualTransfer({ amount: 5 }))).body;
  await eventually(() => post('/sandbox/pix/returned', { endToEndId: sent.endToEndId, amount: 1 }));
  await post('/sandbox/faults', { endpoint: 'transfers', kind: 'async-error', times: 1 });
  await transfer(manualTransfer({ amount: 6 }));
  await transfer(internalTransfer({ amount: 4 }));
  await batch([batchItem({ amount: 1 })]);
  await payTheBill();
  await eventually(async () => {
    const reversal = (await bank.call('GET', '/sandbox/ledger?account=1000001&audit=false')).body;
    expect(reversal.movements.filter((m: { amount: number }) => m.amount === 6).length % 2).toBe(0);
  });
}

const contractTypes = [
  ...['DEBIT_TRANSFER_INTERNAL', 'CREDIT_TRANSFER_INTERNAL', 'DEBIT_TRANSFER_EXTERNAL'],
  ...['CREDIT_TRANSFER_EXTERNAL', 'DEBIT_PIX', 'CREDIT_PIX', 'DEBIT_PIX_REFUND'],
];
const contractFields = [
  ...['id', 'correlationId', 'nsu', 'amount', 'notes', 'createdAt', 'type', 'balance', 'proof'],
];
const contractProof = [
  ...['id', 'endToEndId', 'status', 'type', 'amount', 'createdAt', 'description'],
  ...['payer', 'beneficiary'],
];

it('begins with the preset of its start, and returns to it with a reset', async () => {
  expect(bank.application.get(Modes).current.preset).toBe('published');
  await setModes({ preset: 'complete', batch: 'partial' });
  await post('/sandbox/reset');
  const { preset, lineExternalId, batch: mode } = bank.application.get(Modes).current;
  expect({ preset, lineExternalId, mode }).toEqual({
    preset: 'published',
    lineExternalId: 'absent',
    mode: 'atomic',
  });
});

it('sets every mode by one call, and then the others that the call names', async () => {
  await setModes({ statementOrder: 'asc', preset: 'complete' });
  await setModes({ batch: 'partial' });
  const changed = await setModes({ preset: 'contract', endDate: 'inclusive' });
  expect(changed).toMatchObject({
    ...{ preset: 'contract', endDate: 'inclusive', statementOrder: 'desc', batch: 'atomic' },
    ...{ reversalType: 'CREDIT_PIX', lineOriginalId: 'absent' },
  });
});

describe.each(presets)('in the preset %s', (preset: Preset) => {
  let shown: Line[];
  beforeAll(async () => {
    await post('/sandbox/reset');
    await setModes({ preset });
    await moveMoney();
    shown = await lines();
  });
  const hasAll = preset === 'complete';

  it('shows lines of all kinds with the fields that the preset has', () => {
    expect(shown.length).toBeGreaterThanOrEqual(10);
    const fields = new Set(shown.flatMap((line) => Object.keys(line)));
    const proofs = new Set(shown.flatMap(({ proof }) => Object.keys(proof)));
    const beyond = [...fields].filter((name) => !contractFields.includes(name));
    const beyondInProofs = [...proofs].filter((name) => !contractProof.includes(name));
    expect(beyond).toEqual(hasAll ? ['externalId'] : []);
    if (hasAll)
      expect(beyondInProofs).toEqual(
        expect.arrayContaining(['originalEndToEndId', 'idempotencyKey', 'refundCode', 'barCode']),
      );
    else expect(beyondInProofs).toEqual([]);
    const withId = shown.filter(({ proof }) => 'id' in proof).map(({ type }) => type.name);
    if (!hasAll) expect([...new Set(withId)]).toEqual(['DEBIT_PIX_REFUND']);
    const charged = shown.filter(({ correlationId }) => correlationId !== undefined);
    expect(charged).toHaveLength(hasAll ? 2 : 1);
  });

  it('names the types of lines as the preset does, and finds lines by the shown type', async () => {
    const names = [...new Set(shown.map(({ type }) => type.name))];
    const beyond = names.filter((name) => !contractTypes.includes(name)).sort();
    const expected: Record<Preset, string[]> = {
      contract: [],
      published: ['CREDIT_OTHER', 'DEBIT_OTHER'],
      complete: [
        ...['CREDIT_BANKSLIP', 'CREDIT_PIX_REFUND', 'CREDIT_PIX_REVERSAL'],
        ...['DEBIT_BILL_PAYMENT'],
      ],
    };
    expect(beyond).toEqual(expected[preset]);
    for (const name of names) {
      const found = await lines(`limit=1000&type=${name}`);
      expect(found.map(({ nsu }) => nsu)).toEqual(
        shown.filter(({ type }) => type.name === name).map(({ nsu }) => nsu),
      );
    }
    const unknown = await bank.call(
      'GET',
      '/baas/api/v2/transactions?type=CREDIT_BANKSLIP',
      inPublishedForm,
    );
    expect(unknown.status).toBe(hasAll ? 200 : 400);
  });

  it.each([
    ['GET', '/baas/v1/charges'],
    ['GET', '/baas/api/v1/webhooks'],
    ['GET', '/baas/api/v1/balances'],
  ])('serves %s %s unless the contract alone is shown', async (method, path) => {
    expect((await bank.call(method, path)).status).toBe(preset === 'contract' ? 404 : 200);
  });

  it('answers without what the preset hides', async () => {
    const externalId = 'of-the-batch';
    const [element] = (await batch([batchItem({ amount: 1, externalId })])).body;
    expect('externalId' in element).toBe(hasAll);
    const issued = await post('/baas/v1/charges', slip({ finalBeneficiary }));
    expect('finalBeneficiary' in issued).toBe(hasAll);
    const found = await bank.call('GET', `/baas/api/v2/transfers/${externalId}`, inPublishedForm);
    expect(found.status).toBe(hasAll ? 200 : 404);
    const byId = await bank.call('GET', `/baas/api/v2/transfers/${element.id}`);
    expect(byId.status).toBe(preset === 'contract' ? 404 : 200);
  });
});

it('never changes lines that were written under another preset', async () => {
  await setModes({ preset: 'complete' });
  const before = await lines();
  await setModes({ preset: 'contract' });
  expect(await lines()).toEqual(before);
});

it('shows what a test writes as the test wrote it, in every preset', async () => {
  await setModes({ preset: 'contract' });
  const written = { amount: 1, isCredit: false, typeName: 'DEBIT_FEE', correlationId: 'c-1' };
  const { nsu, type } = await post('/sandbox/transactions', written);
  expect(type).toBe('DEBIT_FEE');
  expect(await lines(`nsu=${nsu}`)).toMatchObject([
    { type: { name: 'DEBIT_FEE' }, correlationId: 'c-1' },
  ]);
});

it('gives a refund the endToEndId of its original where the mode says so', async () => {
  await setModes({ preset: 'published', refundEndToEndId: 'original' });
  const { nsu, endToEndId } = await post('/sandbox/pix/received', { amount: 9 });
  const path = `/baas/api/v1/transactions/${nsu}/refund?filterBy=NSU`;
  const refund = (await bank.call('PUT', path, { body: { amount: 4 } })).body;
  expect(refund.proof.endToEndId).toBe(endToEndId);
  const again = await bank.call('PUT', path, { ...inPublishedForm, body: { amount: 5.01 } });
  expect(again.status).toBe(422);
});
