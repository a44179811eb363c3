// The page that plays the payer at the sandbox bank: it pays QR codes and slips, sends Pix that
// nobody expects, moves the bank's clock, and switches modes and faults on, beside the records that
// react to it. With another bank the page is not there.
import { Controller } from '@nestjs/common';
import { isLosslessNumber } from 'lossless-json';
import { encode } from 'zod';
import { SandboxControl, type ControlRequest } from '../../bank/sandbox-control.service.js';
import { ChargesService } from '../../outbound/charges/charges.service.js';
import { reais } from '../../bank-contract/wire.js';
import { Database } from '../../platform/postgres/database.service.js';
import { parseReais } from '../../brazil/cents.js';
import { AppError } from '../../platform/errors.js';
import { listTransactionRows } from '../../reconciliation/api/transactions.queries.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { accountOf, pathId, typed, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import { readTypedAmount } from '../typed-amount.js';
import { bankState, type BankState } from './bank-state.js';
import { PayerForms, Records, type PayerRecords } from './payer-elements.js';
import { isCodeOf, readScannedCode } from './scanned-code.js';
import {
  clockSteps,
  faultNames,
  modeNames,
  switchableFaults,
  switchableModes,
} from './sandbox-options.js';

const needs = 'play the payer';
const shownRecords = 8;
/** Among how many of the newest charges the slip with a code is looked for. */
const scannedCharges = 200;

/** What was done, as the page says it after a form. */
const doneTexts = ['paid', 'received', 'posted', 'clock', 'mode', 'fault', 'faultRemoved'] as const;
type Done = (typeof doneTexts)[number];

const subject = 'account :account';
const change = 'change the sandbox bank';

@Controller()
export class PayerPages {
  constructor(
    private readonly sandbox: SandboxControl,
    private readonly charges: ChargesService,
    private readonly database: Database,
  ) {}

  @ConsolePage('payer', needs, {
    title: 'payer.title',
    section: 'today',
    place: 13,
    isOfSandbox: true,
  })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page(visit);
  }

  /** The records, which refresh themselves. */
  @ConsolePage('payer/records', needs)
  async records(@Visiting() visit: Visit): Promise<PageAnswer> {
    const part = <Records records={await this.readRecords(visit)} />;
    return new Shown(visit.t('payer.records'), part, { part });
  }

  @ConsoleAction('payer/scan', needs, needs, subject)
  async scan(@Visiting() visit: Visit): Promise<PageAnswer> {
    const code = readScannedCode(visit.form.get('code') ?? '');
    if (code.kind === 'unknown') return this.page(visit, 'payer.unknownCode');
    if (code.kind === 'pix')
      return this.act(visit, 'paid', pixReceived({ payloadPix: code.payload, ...amountIn(visit) }));
    const correlationId = await this.findSlip(visit, code.digits);
    if (correlationId === null) return this.page(visit, 'payer.unknownSlip');
    return this.act(visit, 'paid', payment(correlationId));
  }

  @ConsoleAction('payer/pay', needs, needs, subject)
  async pay(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.act(visit, 'paid', payment(typed(visit, 'correlationId')));
  }

  @ConsoleAction('payer/send', needs, needs, subject)
  async send(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { amount } = amountIn(visit);
    if (amount === undefined) return this.page(visit, 'payer.noAmount');
    const [name, document] = [typed(visit, 'name'), typed(visit, 'document')];
    const from = { ...(name ? { name } : {}), ...(document ? { document } : {}) };
    return this.act(visit, 'received', pixReceived({ amount, payer: from }));
  }

  @ConsoleAction('payer/line', needs, needs, subject)
  async line(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { amount } = amountIn(visit);
    if (amount === undefined) return this.page(visit, 'payer.noAmount');
    const isCredit = visit.form.get('direction') === 'credit';
    const typeName =
      typed(visit, 'typeName') || (isCredit ? 'CREDIT_TRANSFER_EXTERNAL' : 'DEBIT_FEE');
    const body = { amount, isCredit, typeName };
    return this.act(visit, 'posted', { method: 'POST', path: '/sandbox/transactions', body });
  }

  @ConsoleAction('payer/clock', needs, change, subject)
  async clock(@Visiting() visit: Visit): Promise<PageAnswer> {
    const step = clockSteps.find((one) => one === visit.form.get('advance'));
    const frozen = visit.form.get('frozen');
    const body = step ? { advance: step } : { frozen: frozen === 'yes' };
    if (!step && frozen === null) throw new AppError('validation_failed');
    return this.act(visit, 'clock', { method: 'POST', path: '/sandbox/clock', body });
  }

  @ConsoleAction('payer/mode', needs, change, subject)
  async mode(@Visiting() visit: Visit): Promise<PageAnswer> {
    const name = modeNames.find((one) => one === visit.form.get('mode'));
    const values: readonly string[] = name ? switchableModes[name] : [];
    const value = values.find((one) => one === visit.form.get('value'));
    if (!name || !value) throw new AppError('validation_failed');
    const body = { [name]: value };
    return this.act(visit, 'mode', { method: 'PATCH', path: '/sandbox/modes', body });
  }

  @ConsoleAction('payer/fault', needs, change, subject)
  async fault(@Visiting() visit: Visit): Promise<PageAnswer> {
    const kind = faultNames.find((one) => one === visit.form.get('kind'));
    const times = Number(typed(visit, 'times'));
    if (!kind || !Number.isInteger(times) || times < 1) throw new AppError('validation_failed');
    const body = { endpoint: switchableFaults[kind], kind, times };
    return this.act(visit, 'fault', { method: 'POST', path: '/sandbox/faults', body });
  }

  @ConsoleAction('payer/faults/:id/remove', needs, change, subject)
  async removeFault(@Visiting() visit: Visit): Promise<PageAnswer> {
    const path = `/sandbox/faults/${pathId(visit)}`;
    return this.act(visit, 'faultRemoved', { method: 'DELETE', path });
  }

  /** Does it at the bank. What the bank refuses is shown on the page. */
  private async act(visit: Visit, done: Done, request: ControlRequest): Promise<PageAnswer> {
    try {
      await this.sandbox.call(accountOf(visit), request);
    } catch (error) {
      if (error instanceof AppError && error.status < 500 && this.sandbox.isOffered)
        return this.page(visit, 'payer.refused', error.details.reason ?? error.code);
      throw error;
    }
    return new Redirect(`${visit.to('payer')}?done=${done}`);
  }

  private async page(visit: Visit, problem?: TextKey, reason?: string): Promise<Shown> {
    const [bank, records] = await Promise.all([this.readBank(visit), this.readRecords(visit)]);
    const done = doneTexts.find((one) => one === visit.query.get('done')) ?? null;
    const body = (
      <PayerForms
        {...{ bank, records }}
        done={done && `payer.done.${done}`}
        problem={problem ? { key: problem, reason: reason ?? null } : null}
      />
    );
    return new Shown(visit.t('payer.title'), body, { status: problem ? 422 : 200 });
  }

  private async readBank(visit: Visit): Promise<BankState> {
    const read = (path: string) => this.sandbox.call(accountOf(visit), { method: 'GET', path });
    const [clock, modes, faults] = await Promise.all(
      ['/sandbox/clock', '/sandbox/modes', '/sandbox/faults'].map(read),
    );
    return bankState.parse({ clock, modes, faults });
  }

  /** A few of the newest records: what a payment does to them is seen at once. */
  private async readRecords(visit: Visit): Promise<PayerRecords> {
    const { id } = accountOf(visit);
    if (!this.sandbox.isOffered) throw new AppError('not_found');
    const [charges, { rows: lines }] = await Promise.all([
      this.charges.list(id, { limit: shownRecords, after: null }, {}),
      listTransactionRows(this.database.prisma, id, { limit: shownRecords }),
    ]);
    return { charges: [...charges.data].map(toPayable), lines };
  }

  /** The charge whose slip has this code, among the newest ones. */
  private async findSlip(visit: Visit, digits: string): Promise<string | null> {
    const page = { limit: scannedCharges, after: null };
    const { data } = await this.charges.list(visit.accountId, page, {});
    for (const charge of data)
      if (isCodeOf(charge as unknown as Record<string, unknown>, digits))
        return charge.correlationId;
    return null;
  }
}

/** The amount is the one of the bank's response, as it was read, or of the request. */
function toPayable(charge: { correlationId: string; settlement: string; amount?: unknown }) {
  const { correlationId, settlement, amount } = charge;
  if (typeof amount === 'bigint') return { correlationId, settlement, amount };
  const parsed = isLosslessNumber(amount) ? parseReais(amount.value) : null;
  return { correlationId, settlement, amount: parsed?.ok ? parsed.cents : null };
}

function payment(correlationId: string): ControlRequest {
  return { method: 'POST', path: `/baas/v1/charges/${encodeURIComponent(correlationId)}/pay` };
}

function pixReceived(body: object): ControlRequest {
  return { method: 'POST', path: '/sandbox/pix/received', body };
}

/** The amount of the form as the bank reads it, if the form has one. */
function amountIn(visit: Visit) {
  const cents = readTypedAmount(typed(visit, 'amount'));
  return cents === null || cents === 0n ? {} : { amount: encode(reais, cents) };
}
