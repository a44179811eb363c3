// Finds out how a bank behaves where the contract leaves it open. Without consent it only reads. It
// calls routes of the contract alone, so that it works at a real bank.
import { setTimeout as sleep } from 'node:timers/promises';
import { bankProfileVersion, type BankProfileFile } from '../../bank-contract/bank-profile.js';
import type { loadBankCheckSettings } from '../../platform/settings/bank-check-settings.js';
import { CommandFailure } from '../exit.js';
import { BankClient } from './bank-client.js';
import { habitsOf, linesOf, pageCapOf, ratePerSecondOf } from './habits.js';
import { isSuccess, type Observations } from './observations.js';
import { OwnPayments } from './own-payments.js';
import { observeRate } from './rate.js';
import { StatementReader } from './statement-reader.js';
import { WebhookListener, type ListenerAddress } from './webhook-listener.js';

export interface CheckOptions {
  settings: ReturnType<typeof loadBankCheckSettings>;
  /** Null without consent: then the check only reads. */
  payments: { beneficiaryAccount: string | null } | null;
  /** Null where the bank reaches no address of ours. */
  webhooks: ListenerAddress | null;
  /** How long lines and webhooks may take to come. */
  patienceMs: number;
  progress: (question: string) => void;
}

const pauseMs = 200;
/** After the last line and webhook came: a second one of the same may follow. */
const settlingMs = 2_000;

/** Throws CommandFailure where the statement cannot be read. */
export async function checkBank(
  options: CheckOptions,
): Promise<{ profile: BankProfileFile; seen: Observations }> {
  const client = new BankClient(options.settings);
  try {
    const seen = await observe(client, options);
    if (!client.bankTime) throw new CommandFailure('The bank sends no Date header.');
    const checkedAt = client.bankTime.toISOString();
    return { profile: { version: bankProfileVersion, checkedAt, habits: habitsOf(seen) }, seen };
  } finally {
    client.close();
  }
}

async function observe(client: BankClient, options: CheckOptions): Promise<Observations> {
  const { payments, progress } = options;
  const reader = new StatementReader(client);
  progress('statement: order, length of pages, ids on lines');
  let cap = await reader.readHistory();
  progress('limit: requests a second');
  const rate = await observeRate(client);
  const ratePerSecond = ratePerSecondOf(rate);
  if (ratePerSecond !== 'unknown') {
    client.keepBelow(ratePerSecond);
    await sleep(1_000);
  }
  const own = new OwnPayments(client);
  const webhooks = payments ? await observePayments(client, reader, own, options) : null;
  const isCapKnown = pageCapOf(cap) !== 'unknown';
  if (payments && !isCapKnown) cap = await reader.observeCap(cap.largestTaken);
  return {
    statement: { pages: reader.pages, cap },
    rate,
    history: [...reader.history.values()],
    effects: own.effects,
    newLines: [...reader.newLines.values()],
    // One before the effects, which are requested without a pause.
    earlyReadings: 1,
    repeatedTransfer: own.transfers?.repeated ?? null,
    repeatedCharge: own.repeatedCharge,
    transferById: await own.readTransferById(),
    transferByExternalId: await own.readTransferByExternalId(),
    chargeById: await own.readChargeById(),
    simulations: own.simulations,
    webhooks,
  };
}

async function observePayments(
  client: BankClient,
  reader: StatementReader,
  own: OwnPayments,
  { payments, webhooks: address, patienceMs, progress }: CheckOptions,
): Promise<Observations['webhooks']> {
  const listener = address && new WebhookListener(client, address);
  try {
    if (listener) progress('webhooks: registration');
    const isRegistered = listener ? await listener.open() : false;
    progress('charges: issue, repeat');
    await own.issueCharges();
    // Lines of others that came meanwhile are no new lines of the check.
    await reader.readNew();
    progress('payments, transfers, a repeat, a refund');
    await own.move(payments?.beneficiaryAccount ?? null);
    progress('waiting for lines and webhooks');
    await waitFor(reader, own, isRegistered ? listener : null, patienceMs);
    if (!listener || !isRegistered) return null;
    const paid = own.effects.filter(({ kind, answer }) => kind === 'payment' && isSuccess(answer));
    return {
      expected: paid.flatMap(({ correlationId }) => correlationId ?? []),
      arrivals: listener.arrivals.flatMap(({ correlationId, atMs }) => {
        const effect = paid.find((one) => one.correlationId === correlationId);
        return effect ? [{ correlationId, delayMs: atMs - effect.answer.startedAtMs }] : [];
      }),
    };
  } finally {
    await listener?.close();
  }
}

/** Until everything has come and nothing follows, or until the patience ends. */
async function waitFor(
  reader: StatementReader,
  { effects }: OwnPayments,
  listener: WebhookListener | null,
  patienceMs: number,
): Promise<void> {
  const beganAtMs = performance.now();
  let completeAtMs: number | null = null;
  const executed = effects.filter(({ answer }) => isSuccess(answer));
  const paid = executed.filter(({ kind }) => kind === 'payment');
  while (performance.now() - beganAtMs < patienceMs) {
    await reader.readNew();
    const lines = [...reader.newLines.values()];
    const hasLines = executed.every((effect) => linesOf(effect, lines).length > 0);
    const hasWebhooks =
      !listener ||
      paid.every(({ correlationId: id }) =>
        listener.arrivals.some(({ correlationId }) => correlationId === id),
      );
    if (hasLines && hasWebhooks) completeAtMs ??= performance.now();
    // A second line of a repeat may be as late as the lines were that came.
    const settledAtMs = completeAtMs && 2 * completeAtMs - beganAtMs + settlingMs;
    if (settledAtMs !== null && performance.now() > settledAtMs) return;
    await sleep(pauseMs);
  }
}
