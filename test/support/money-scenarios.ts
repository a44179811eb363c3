// The ways in which money moves, each with what becomes of it in every preset of the sandbox bank:
// the service explains it by itself, a person does, or it is frozen. One declaration: a test plays
// each of them, and writes the table of docs/reference/presets.md.
import type { ModeChanges } from '../../src/sandbox/modes/modes.schema.js';
import type { Preset } from '../../src/sandbox/presets/presets.js';
import { eventually } from '../contract/bank-under-test.js';
import { slip, staticQr } from '../contract/samples.js';
import {
  batchItem,
  internalTransfer,
  keyTransfer,
  manualTransfer,
} from '../contract/transfer-samples.js';
import { dueDate, type MoneyWorld, type PlayedLine } from './money-world.js';

/** `not offered`: the bank refuses the request, and no money moves. */
export type Result = 'alone' | 'person' | 'frozen' | 'not offered';

export interface MoneyScenario {
  name: string;
  results: Record<Preset, Result>;
  /** What the bank does otherwise than its preset says. */
  modes?: ModeChanges;
  play(world: MoneyWorld): Promise<PlayedLine[]>;
}

const inPresets = (contract: Result, published: Result, complete: Result) => ({
  ...{ contract, published, complete },
});
const everywhere = (result: Result) => inPresets(result, result, result);
/** What only an id beyond the published ones explains. */
const onlyComplete = (otherwise: Result) => inPresets(otherwise, otherwise, 'alone');

const transfers = '/baas/api/v2/transfers';
const teds = `${transfers}/ted`;
const batches = '/baas/v1/transfers/batch';
const ownKey = 'financeiro@empresa-um.example';
const otherAccount = 'sandbox-dev-key-2';

const pix = (amount: number) => manualTransfer({ amount });
const internal = (amount: number) => internalTransfer({ amount });
const batch = (amount: number) => [batchItem({ amount })];

async function medOfCharge(world: MoneyWorld): Promise<PlayedLine[]> {
  const amount = world.newAmount();
  const paid = await world.paidCharge(amount);
  return [paid, await world.med(paid, amount)];
}

async function returnedPix(world: MoneyWorld): Promise<PlayedLine[]> {
  const amount = world.newAmount();
  const { key, body } = await world.request('POST', transfers, pix(amount));
  const { endToEndId, transactionNsu } = body;
  const { nsu } = await eventually(() =>
    world.atBank('/sandbox/pix/returned', { endToEndId, amount }),
  );
  const explainedBy = await world.ofKey(key);
  return [transactionNsu, nsu].map((one) => ({ nsu: one as number, explainedBy }));
}

async function payBill(world: MoneyWorld) {
  const amount = world.newAmount();
  const bill = { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount };
  const { barCode } = await world.atBank('/sandbox/bills', bill);
  const { key, body } = await world.request('POST', '/baas/api/v1/bill-payments', {
    ...{ amount, barCode },
  });
  return { amount, id: body.id, explainedBy: await world.ofKey(key) };
}

export const moneyScenarios: readonly MoneyScenario[] = [
  {
    name: 'A charge is paid by Pix',
    results: everywhere('alone'),
    play: async (world) => [await world.paidCharge()],
  },
  {
    name: 'A slip is paid by its bar code',
    results: onlyComplete('person'),
    async play(world) {
      const amount = world.newAmount();
      const charge = slip({ dueDate, Amount: amount });
      await world.request('POST', '/baas/v1/charges', charge);
      await world.atBank(`/baas/v1/charges/${charge.correlationId}/pay`, {});
      const [nsu = 0] = await world.linesOf(amount, 1);
      return [{ nsu, explainedBy: await world.ofCharge(charge.correlationId) }];
    },
  },
  {
    name: 'A slip is paid by its bar code, and a webhook names its charge',
    results: everywhere('alone'),
    async play(world) {
      const amount = world.newAmount();
      const charge = slip({ dueDate, Amount: amount });
      const { correlationId } = charge;
      await world.request('POST', '/baas/v1/charges', charge);
      await world.atBank(`/baas/v1/charges/${correlationId}/pay`, {});
      const [nsu = 0] = await world.linesOf(amount, 1);
      await world.report('CHARGE_PAID', { nsu, correlationId, amount, source: 'PCR' });
      return [{ nsu, explainedBy: await world.ofCharge(correlationId) }];
    },
  },
  {
    name: 'A paid slip is charged back',
    results: everywhere('person'),
    async play(world) {
      const amount = world.newAmount();
      const charge = slip({ dueDate, Amount: amount });
      const { body } = await world.request('POST', '/baas/v1/charges', charge);
      const { barCode } = body;
      const payment = await world.atBank(
        '/baas/api/v1/bill-payments',
        { amount, barCode },
        otherAccount,
      );
      await world.atBank(`/sandbox/bill-payments/${payment.id}/chargeback`, {}, otherAccount);
      const explainedBy = await world.ofCharge(charge.correlationId);
      return (await world.linesOf(amount, 2)).map((nsu) => ({ nsu, explainedBy }));
    },
  },
  {
    name: 'A static QR code is paid',
    results: everywhere('alone'),
    async play(world) {
      const amount = world.newAmount();
      const { correlationId } = staticQr();
      await world.request('POST', '/baas/api/v2/pix/qrcode/static', { correlationId, amount });
      const { nsu } = await world.atBank('/sandbox/pix/received', { correlationId, amount });
      return [{ nsu: nsu as number, explainedBy: await world.ofCharge(correlationId) }];
    },
  },
  {
    name: 'A Pix arrives that nobody expects',
    results: everywhere('person'),
    async play(world) {
      const body = { amount: world.newAmount(), payer: world.newPayer() };
      const { nsu } = await world.atBank('/sandbox/pix/received', body);
      return [{ nsu: nsu as number, explainedBy: null }];
    },
  },
  {
    name: 'We refund a Pix',
    results: everywhere('alone'),
    async play(world) {
      const paid = await world.paidCharge();
      const { key, body } = await world.refund(paid.nsu, 10);
      return [paid, { nsu: body.nsu as number, explainedBy: await world.ofKey(key) }];
    },
  },
  {
    name: 'The response to our refund is lost',
    results: everywhere('alone'),
    play: (world) => world.refundWhole({ fault: 'reset-after-effect' }),
  },
  {
    name: 'Our refund fails and is reversed',
    results: everywhere('alone'),
    play: (world) => world.refundWhole({ fault: 'async-error', lines: 2 }),
  },
  {
    name: 'Our refund fails, and its money is held before it is reversed',
    results: everywhere('alone'),
    play: (world) => world.refundWhole({ fault: 'refund-held', lines: 2 }),
  },
  {
    name: 'The bank refunds a Pix (MED)',
    results: everywhere('alone'),
    play: medOfCharge,
  },
  {
    name: 'We refund a part of a Pix, and the bank refunds the rest (MED)',
    results: everywhere('alone'),
    async play(world) {
      const rest = world.newAmount();
      const paid = await world.paidCharge(Number((rest + 10).toFixed(2)));
      const { key, body } = await world.refund(paid.nsu, 10);
      const own = { nsu: body.nsu as number, explainedBy: await world.ofKey(key) };
      return [paid, own, await world.med(paid, rest)];
    },
  },
  {
    name: 'The bank refunds one of two equal Pix of a payer',
    results: onlyComplete('person'),
    async play(world) {
      const amount = world.newAmount();
      const payer = world.newPayer();
      const first = await world.paidCharge(amount, payer);
      await world.paidCharge(amount, payer);
      return [await world.med(first, amount)];
    },
  },
  {
    name: 'The bank refunds one Pix while the response to our refund of another is missing',
    results: onlyComplete('frozen'),
    async play(world) {
      const amount = world.newAmount();
      const payer = world.newPayer();
      const first = await world.paidCharge(amount, payer);
      const second = await world.paidCharge(amount, payer);
      await world.fault('refunds', 'error-before-effect');
      await world.refund(second.nsu, amount);
      return [await world.med(first, amount)];
    },
  },
  {
    name: 'We send a Pix by account data',
    results: everywhere('alone'),
    play: (world) => world.send(transfers, pix),
  },
  {
    name: 'We send a Pix to a key of this account',
    results: everywhere('alone'),
    async play(world) {
      const amount = world.newAmount();
      const { body: found } = await world.request(
        'POST',
        '/baas/api/v2/pix/dict/payment-initialization',
        { key: ownKey },
      );
      const body = keyTransfer(found.endToEndId as string, { amount });
      const { key } = await world.request('POST', transfers, body);
      const [debit = 0, credit = 0] = await world.linesOf(amount, 2);
      return [
        { nsu: debit, explainedBy: await world.ofKey(key) },
        { nsu: credit, explainedBy: null },
      ];
    },
  },
  {
    name: 'The response to a sent Pix is lost',
    results: everywhere('alone'),
    play: (world) => world.send(transfers, pix, { fault: 'reset-after-effect' }),
  },
  {
    name: 'A sent Pix fails and is reversed',
    results: everywhere('alone'),
    play: (world) => world.send(transfers, pix, { fault: 'async-error', lines: 2 }),
  },
  {
    name: 'The status of a sent Pix is stuck',
    results: everywhere('alone'),
    play: (world) => world.send(transfers, pix, { fault: 'status-stuck' }),
  },
  {
    name: 'A sent Pix is undone by a late credit, without a webhook',
    results: everywhere('alone'),
    play: (world) => world.send(transfers, pix, { fault: 'undone-silently', lines: 2 }),
  },
  {
    name: 'A sent Pix is debited twice',
    results: everywhere('person'),
    play: (world) => world.send(transfers, pix, { fault: 'debited-twice', lines: 2 }),
  },
  {
    name: 'A Pix goes out under a new endToEndId',
    results: inPresets('frozen', 'alone', 'alone'),
    modes: { pixDebit: 'when-effective' },
    play: (world) => world.send(transfers, pix, { fault: 'new-end-to-end-id' }),
  },
  {
    name: 'The receiver returns a Pix that we sent',
    results: onlyComplete('person'),
    play: returnedPix,
  },
  {
    name: 'We refund a Pix, and the line bears the id of the Pix',
    results: everywhere('alone'),
    modes: { refundEndToEndId: 'original' },
    play: (world) => world.refundWhole(),
  },
  {
    name: 'Our refund fails, and the lines bear the id of the Pix',
    results: everywhere('alone'),
    modes: { refundEndToEndId: 'original' },
    play: (world) => world.refundWhole({ fault: 'async-error', lines: 2 }),
  },
  {
    name: 'The bank refunds a Pix (MED), and the line bears the id of the Pix',
    results: everywhere('alone'),
    modes: { refundEndToEndId: 'original' },
    play: medOfCharge,
  },
  {
    name: 'The receiver returns a Pix that we sent, and the line bears its id',
    results: everywhere('alone'),
    modes: { refundEndToEndId: 'original' },
    play: returnedPix,
  },
  {
    name: 'We send a TED',
    results: inPresets('not offered', 'alone', 'alone'),
    play: (world) => world.send(teds, pix),
  },
  {
    name: 'A sent TED fails and is returned',
    results: inPresets('not offered', 'alone', 'alone'),
    play: (world) => world.send(teds, pix, { fault: 'async-error', lines: 2 }),
  },
  {
    name: 'The response to a sent TED is lost',
    results: inPresets('not offered', 'alone', 'alone'),
    play: (world) => world.send(teds, pix, { fault: 'reset-after-effect' }),
  },
  {
    name: 'We transfer to another account of the bank',
    results: everywhere('alone'),
    play: (world) => world.send(transfers, internal),
  },
  {
    name: 'The response to a transfer to another account of the bank is lost',
    results: onlyComplete('frozen'),
    play: (world) => world.send(transfers, internal, { fault: 'reset-after-effect' }),
  },
  {
    name: 'Another account of the bank transfers to us',
    results: everywhere('person'),
    async play(world) {
      const amount = world.newAmount();
      const body = internalTransfer({ amount, beneficiaryAccount: '1000001' });
      await world.atBank(transfers, body, otherAccount);
      const [nsu = 0] = await world.linesOf(amount, 1);
      return [{ nsu, explainedBy: null }];
    },
  },
  {
    name: 'We send a batch',
    results: inPresets('frozen', 'alone', 'alone'),
    play: (world) => world.send(batches, batch),
  },
  {
    name: 'The response to a batch is lost',
    results: onlyComplete('frozen'),
    play: (world) => world.send(batches, batch, { endpoint: 'batch', fault: 'reset-after-effect' }),
  },
  {
    name: 'We pay a bill',
    results: onlyComplete('frozen'),
    async play(world) {
      const { amount, explainedBy } = await payBill(world);
      const [nsu = 0] = await world.linesOf(amount, 1);
      return [{ nsu, explainedBy }];
    },
  },
  {
    name: 'A bill that we paid is charged back',
    results: onlyComplete('frozen'),
    async play(world) {
      const { amount, id, explainedBy } = await payBill(world);
      await world.atBank(`/sandbox/bill-payments/${id}/chargeback`, {});
      return (await world.linesOf(amount, 2)).map((nsu) => ({ nsu, explainedBy }));
    },
  },
];
