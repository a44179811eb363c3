// Asks once more before an action on a break moves money, or leaves a rest of it open.
import { statusOf } from '../kit/form.js';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import type { AppError } from '../../platform/errors.js';
import { BreakActions } from '../../reconciliation/breaks/break-actions.service.js';
import { BreakReading } from '../../reconciliation/breaks/break-reading.service.js';
import { BreakSides } from '../../reconciliation/breaks/break-sides.service.js';
import type { BreakAction } from '../../reconciliation/breaks/breaks.schema.js';
import { formatAmount } from '../formats.js';
import { ConfirmMoney, type Money } from '../kit/confirm-money.js';
import { MoneyFacts } from '../money-facts.service.js';
import { Shown } from '../page.js';
import { callerOf, typed, type Visit } from '../visit.js';
import { readBreakList } from './break-list.js';

type Action<Name> = Extract<BreakAction, { action: Name }>;

/** What each of them says of itself on its button, and of what cannot be undone. */
const words = {
  refund: { button: 'money.refund', warning: 'payment.confirmRefund' },
  resend: { button: 'money.resend', warning: 'payment.resendWhat' },
  link: { button: 'money.link', warning: 'breaks.effect.link' },
} as const;

@Injectable()
export class BreakConfirmation {
  constructor(
    private readonly reading: BreakReading,
    private readonly actions: BreakActions,
    private readonly sides: BreakSides,
    private readonly database: Database,
    private readonly money: MoneyFacts,
  ) {}

  /** Null for an action that moves nothing: it is done, or refused, at once. */
  async readMoney(visit: Visit, id: string, action: BreakAction): Promise<Money | null> {
    switch (action.action) {
      case 'refund':
        return this.refundOf(visit, id, action);
      case 'resend':
        return this.resendOf(visit, id);
      case 'link':
        return this.restOf(visit, id, action);
      default:
        return null;
    }
  }

  /** The form carries what the form before has asked. */
  async show(
    visit: Visit,
    id: string,
    { action, money }: { action: keyof typeof words; money: Money },
    problem: AppError | null,
  ): Promise<Shown> {
    const { button, warning } = words[action];
    const { place } = readBreakList(visit.query);
    const query = place.toString();
    const page = visit.to(`breaks/${id}`);
    const from = place.has('break') ? visit.to('breaks') : page;
    const own = ['csrf', 'seen', 'shown'];
    const hidden = [...visit.form.keys()]
      .filter((name) => !own.includes(name))
      .map((name) => [name, visit.form.getAll(name)] as const);
    const moves = action !== 'link';
    const body = (
      <ConfirmMoney
        {...{ money, warning }}
        button={{ one: money.payees.length > 0 ? button : `breaks.action.${action}` }}
        {...(moves ? { balances: await this.money.findBalances(visit.accountId) } : {})}
        action={`${page}/${action}?${query}`}
        shown={typed(visit, 'shown')}
        hidden={Object.fromEntries(hidden)}
        back={{ href: `${from}?${query}`, text: 'app.back' }}
      />
    );
    const options = { isNarrow: true, ...statusOf(problem) };
    return new Shown(visit.t(`breaks.action.${action}`), body, options);
  }

  private async refundOf(
    visit: Visit,
    id: string,
    { amount }: Action<'refund'>,
  ): Promise<Money | null> {
    const caller = callerOf(visit);
    const { nsu } = await this.reading.get(caller, id);
    const { amountCents: whole } = await this.actions.preview(caller, id, 'refund');
    const amountCents = amount ?? whole;
    if (nsu === null || amountCents === null) return null;
    const [party, asked] = await Promise.all([
      this.money.findParty(visit, nsu),
      this.money.readAsked(visit),
    ]);
    return { payees: [{ party, asked, amountCents }], totalCents: amountCents };
  }

  private async resendOf(visit: Visit, id: string): Promise<Money | null> {
    const caller = callerOf(visit);
    const { operationId } = await this.reading.get(caller, id);
    if (operationId === null) return null;
    const where = { accountId_id: { accountId: caller.accountId, id: operationId } };
    const operation = await this.database.prisma.operation.findUniqueOrThrow({ where });
    const { amountCents } = operation;
    if (amountCents === null) return null;
    const [payee, asked] = await Promise.all([
      this.money.findPayee(visit, operation),
      this.money.readAsked(visit),
    ]);
    return { payees: [{ ...payee, asked, amountCents }], totalCents: amountCents };
  }

  /** Of a line and a payment whose amounts differ. */
  private async restOf(visit: Visit, id: string, link: Action<'link'>): Promise<Money | null> {
    const caller = callerOf(visit);
    const found = await this.reading.get(caller, id);
    const [nsu, paymentId] = [
      found.nsu ?? link.nsu ?? null,
      link.expectedPaymentId ?? found.expectedPaymentId,
    ];
    if (nsu === null || paymentId === null || link.allocations || link.refundOf) return null;
    const [lines, payments] = await Promise.all([
      this.sides.findLines(caller, [nsu]),
      this.sides.findPayments(caller, [paymentId]),
    ]);
    const [line, payment] = [lines.get(nsu), payments.get(paymentId)];
    if (!line || !payment || payment.amountCents === null) return null;
    const open = payment.amountCents - payment.paidCents;
    if (open === line.amountCents) return null;
    const { counterparty: party, amountCents } = line;
    return {
      payees: [{ party, asked: await this.money.readAsked(visit), amountCents }],
      totalCents: amountCents,
      facts: [
        ['breaks.openOfPayment', formatAmount(open)],
        [
          open > amountCents ? 'breaks.restOfPayment' : 'breaks.restOfLine',
          formatAmount(open > amountCents ? open - amountCents : amountCents - open),
        ],
      ],
    };
  }
}
