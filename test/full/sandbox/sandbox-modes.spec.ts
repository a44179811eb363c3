// The modes: behaviours that the contract leaves open, each with a default.
import { modesOfPreset } from '../../../src/sandbox/modes/modes.schema.js';
import { Modes } from '../../../src/sandbox/modes/modes.service.js';
import {
  createCaller,
  sandboxUnderTest,
  type SandboxUnderTest,
} from '../../contract/bank-under-test.js';
import { expectError, slip } from '../../contract/samples.js';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
});
afterEach(() => bank.stop());

const change = (body: unknown) => bank.call('PATCH', '/sandbox/modes', { body });
const read = async () => (await bank.call('GET', '/sandbox/modes')).body;
/** The defaults as JSON: the only amount is in reais. */
const defaults = { ...modesOfPreset.complete, freeAmountPayment: 1 };

it('starts with the defaults', async () => {
  expect(await read()).toEqual(defaults);
});

it('changes only the modes that are sent', async () => {
  const { status, body } = await change({ statementOrder: 'asc', freeAmountPayment: 12.34 });
  expect(status).toBe(200);
  const changed = { ...defaults, statementOrder: 'asc', freeAmountPayment: 12.34 };
  expect(body).toEqual(changed);
  expect(await read()).toEqual(changed);
  expect((await change({})).body).toEqual(changed);
  expect((await change({ statementOrder: 'desc' })).body.freeAmountPayment).toBe(12.34);
});

it('changes the name of one status and uses it from then on', async () => {
  const chargeStatus = { ...defaults.chargeStatus, slipCreated: 'Registrado' };
  const { body } = await change({ chargeStatus: { slipCreated: 'Registrado' } });
  expect(body.chargeStatus).toEqual(chargeStatus);
  const charge = await bank.call('POST', '/baas/v1/charges', { body: slip() });
  expect(charge.body.status).toBe('Registrado');
});

it('accepts null to remove a limit', async () => {
  expect((await change({ rateLimitPerSecond: 5_000 })).body.rateLimitPerSecond).toBe(5_000);
  expect((await change({ statementPageCap: 5 })).body.rateLimitPerSecond).toBe(5_000);
  expect((await change({ rateLimitPerSecond: null })).body.rateLimitPerSecond).toBeNull();
});

it.each<[unknown, string]>([
  [{ unknown: true }, '$'],
  [{ chargeStatus: { unknown: 'x' } }, '$.chargeStatus'],
  [{ chargeStatus: { paid: '' } }, '$.chargeStatus.paid'],
  [{ chargeStatus: { paid: 'x'.repeat(41) } }, '$.chargeStatus.paid'],
  [{ chargeStatus: 'Paid' }, '$.chargeStatus'],
  [{ idempotentRepeat: 'sometimes' }, '$.idempotentRepeat'],
  [{ idempotentRepeat: null }, '$.idempotentRepeat'],
  [{ statementPageCap: 0 }, '$.statementPageCap'],
  [{ statementPageCap: 10_001 }, '$.statementPageCap'],
  [{ statementPageCap: 1.5 }, '$.statementPageCap'],
  [{ statementPageCap: '10' }, '$.statementPageCap'],
  [{ freeAmountPayment: 0 }, '$.freeAmountPayment'],
  [{ freeAmountPayment: 0.001 }, '$.freeAmountPayment'],
  [{ pixStepMs: -1 }, '$.pixStepMs'],
  [{ billPaymentHours: { open: 20, close: 7 } }, '$.billPaymentHours'],
  [{ billPaymentHours: { open: 7 } }, '$.billPaymentHours.close'],
  [{ rateLimitPerSecond: 0 }, '$.rateLimitPerSecond'],
  [{ lookupMinutes: true }, '$.lookupMinutes'],
  [[], '$'],
  ['"asc"', '$'],
])('refuses %j, and changes nothing', async (body, path) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  expectError(await change(text), 400, path);
  expectError(await change({ statementOrder: 'asc', ...(body as object), pixStepMs: -1 }), 400);
  expect(await read()).toEqual(defaults);
});

it('survives a restart', async () => {
  await change({ batch: 'partial', chargeStatus: { paid: 'Pago' }, freeAmountPayment: 0.29 });
  const restartedBank = await bank.start();
  try {
    const call = createCaller(await restartedBank.getUrl(), 'sandbox-dev-key', 'sandbox');
    expect((await call('GET', '/sandbox/modes')).body).toEqual(await read());
    expect(restartedBank.get(Modes).current.freeAmountPayment).toBe(29n);
  } finally {
    await restartedBank.close();
  }
});

it('gives a mode that is not stored its default', async () => {
  await change({ batch: 'partial' });
  await bank.pool.query(
    `UPDATE bank_setting SET value = (value::jsonb - 'pixStepMs' #- '{chargeStatus,voided}')::json
     WHERE name = 'modes'`,
  );
  const restartedBank = await bank.start();
  try {
    expect(restartedBank.get(Modes).current).toEqual({
      ...modesOfPreset.complete,
      batch: 'partial',
    });
  } finally {
    await restartedBank.close();
  }
});

it('applies each of several concurrent changes', async () => {
  const changes = [
    { statementOrder: 'asc' },
    { batch: 'partial' },
    { pixStepMs: 7 },
    { lookupMinutes: 8 },
    { chargeStatus: { paid: 'Pago' } },
    { chargeStatus: { expired: 'Vencido' } },
  ];
  const responses = await Promise.all(changes.map(change));
  expect(responses.map(({ status }) => status)).toEqual(changes.map(() => 200));
  const expected = {
    ...defaults,
    statementOrder: 'asc',
    batch: 'partial',
    pixStepMs: 7,
    lookupMinutes: 8,
    chargeStatus: { ...defaults.chargeStatus, paid: 'Pago', expired: 'Vencido' },
  };
  expect(await read()).toEqual(expected);
  const restartedBank = await bank.start();
  try {
    const call = createCaller(await restartedBank.getUrl(), 'sandbox-dev-key', 'sandbox');
    expect((await call('GET', '/sandbox/modes')).body).toEqual(expected);
  } finally {
    await restartedBank.close();
  }
});

it('requires an API key', async () => {
  expectError(await bank.call('PATCH', '/sandbox/modes', { body: {}, apiKey: null }), 401);
  expectError(await bank.call('GET', '/sandbox/modes', { apiKey: 'wrong' }), 401);
});
