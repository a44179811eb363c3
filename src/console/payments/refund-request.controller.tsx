// Refunds a received Pix, in full or in part: a page asks for the amount, the next one shows whom
// the money goes to, and the outcome is the refund itself.
import { attempt } from '../problems.js';
import { Controller } from '@nestjs/common';
import { fieldError } from '../../bank-contract/field-errors.js';
import { refundTransaction } from '../../bank-contract/refunds.js';
import { Database } from '../../platform/postgres/database.service.js';
import { printReais } from '../../brazil/printed-text.js';
import { AppError, invalidField, ruleBroken } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { isNsu } from '../../platform/http/listing.js';
import { RefundsService, type RefundPreview } from '../../outbound/refunds/refunds.service.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { formatAmount } from '../formats.js';
import {
  ConfirmMoney,
  factsChanged,
  hasChanged,
  isConfirmed,
  type Money,
} from '../kit/confirm-money.js';
import { Amount, Code, FactList, Message, Folded } from '../kit/elements.js';
import { FormCard, type FormFields, reasonField } from '../kit/form.js';
import { MoneyFacts } from '../money-facts.service.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { requireReason, typed, useVisit, type Visit } from '../visit.js';
import { readTypedAmount, writeTypedAmount } from '../typed-amount.js';
import { Identifier } from './record-page.js';
import {
  duplicateFieldsOf,
  keyOf,
  operationIdOf,
  preferencesOf,
  problemOf,
  ProblemNotice,
  requestText,
} from './request-form.js';

const needs = 'request payments';

@Controller()
export class RefundRequestPages {
  constructor(
    private readonly refunds: RefundsService,
    private readonly facts: MoneyFacts,
    private readonly database: Database,
  ) {}

  @ConsolePage('refunds/new/:nsu', needs)
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.amountPage(visit, newId(), null);
  }

  /** What is asked for, before it is sent. */
  @ConsoleAction('refunds/new/:nsu/confirm', needs, 'own')
  async check(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.ask(visit, null);
  }

  @ConsoleAction('refunds/new/:nsu', needs, 'request refund', (visit) => `line ${nsuOf(visit)}`)
  async request(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const idempotencyKey = keyOf(visit);
    const { accountId } = visit;
    const asked = await this.readRefund(visit, false);
    // A form that is sent twice finds what it was sent for, and that changes nothing.
    if (!isConfirmed(visit, asked.money)) {
      const where = { accountId, idempotencyKey };
      if ((await this.database.prisma.operation.count({ where })) === 0)
        return this.ask(visit, factsChanged());
    }
    try {
      const input = { ...inputOf(nsuOf(visit), asked.amount), idempotencyKey };
      const reply = await this.refunds.refund(accountId, input, preferencesOf(visit));
      return new Redirect(visit.to(`refunds/${operationIdOf(reply)}`));
    } catch (error) {
      return this.confirmation(visit, asked, problemOf(error));
    }
  }

  private async ask(visit: Visit, why: AppError | null): Promise<Shown> {
    const key = keyOf(visit);
    const { problem, result } = await attempt(() => this.readRefund(visit));
    return problem ? this.amountPage(visit, key, problem) : this.confirmation(visit, result, why);
  }

  /** Throws for a Pix that cannot be refunded, and an amount that no refund of it can have. */
  private async readRefund(visit: Visit, isNew = true): Promise<AskedRefund> {
    const nsu = nsuOf(visit);
    const preview = await this.refunds.preview(visit.accountId, nsu);
    const { refundableCents, refusal } = preview;
    if (isNew && refusal !== null) throw ruleBroken(refusal, 'The Pix cannot be refunded.');
    const amount = readTypedAmount(typed(visit, 'amount'));
    const isPossible = amount !== null && amount > 0n && (!isNew || amount <= refundableCents);
    if (!isPossible) {
      const bounds = { least: formatAmount(0n), most: formatAmount(refundableCents) };
      throw invalidField('$.amount', fieldError('more_than', bounds));
    }
    const [party, asked] = await Promise.all([
      this.facts.findParty(visit, nsu),
      this.facts.readAsked(visit),
    ]);
    const payee = { party, asked, amountCents: amount };
    const facts = [['payment.refundable', formatAmount(refundableCents)]] as const;
    return { preview, amount, money: { payees: [payee], totalCents: amount, facts } };
  }

  private async amountPage(
    visit: Visit,
    requestKey: string,
    problem: AppError | null,
  ): Promise<Shown> {
    const title = visit.t('payment.refundTitle');
    try {
      const preview = await this.refunds.preview(visit.accountId, nsuOf(visit));
      const body = <AmountPage {...{ requestKey, preview, problem }} />;
      return new Shown(title, body, { isNarrow: true, status: problem?.status ?? 200 });
    } catch (error) {
      // The line is no received Pix.
      const refusal = problemOf(error);
      const body = <ProblemNotice problem={refusal} />;
      return new Shown(title, body, { isNarrow: true, status: refusal.status });
    }
  }

  private async confirmation(
    visit: Visit,
    { preview, amount, money }: AskedRefund,
    problem: AppError | null,
  ): Promise<Shown> {
    const { original, refundableCents } = preview;
    const balances = await this.facts.findBalances(visit.accountId);
    const page = visit.to(`refunds/new/${original.nsu}`);
    const body = (
      <>
        {problem && !hasChanged(problem) && <ProblemNotice problem={problem} />}
        <ConfirmMoney
          {...{ money, balances, action: page }}
          button={{ one: 'money.refund' }}
          warning="payment.confirmRefund"
          shown={seenRefund(original.nsu, refundableCents, amount)}
          hidden={{
            ...{ key: keyOf(visit), amount: writeTypedAmount(amount) },
            reason: typed(visit, 'reason'),
          }}
          fields={duplicateFieldsOf(problem)}
          back={{ href: page, text: 'payment.otherAmount' }}
        >
          <Folded title={visit.t('payment.sent')}>
            <Code text={requestText(refundTransaction, inputOf(original.nsu, amount))} wraps />
          </Folded>
        </ConfirmMoney>
      </>
    );
    const status = problem ? { status: problem.status, problem } : {};
    return new Shown(visit.t('payment.refundTitle'), body, { isNarrow: true, ...status });
  }
}

interface AskedRefund {
  preview: RefundPreview;
  amount: bigint;
  money: Money;
}

/** Throws `not_found` for what is no nsu. */
function nsuOf({ params }: Visit): bigint {
  const { nsu = '' } = params;
  if (!isNsu(nsu)) throw new AppError('not_found');
  return BigInt(nsu);
}

function inputOf(nsu: bigint, amount: bigint) {
  return {
    params: { transactionId: nsu.toString() },
    query: { filterBy: 'NSU' as const },
    body: { amount },
  };
}

const amountFields: FormFields = {
  amount: {
    ...{ label: 'word.refundAmount', hint: 'payment.refundAmountHint', is: 'amount' },
    ...{ maxLength: 30, required: true },
  },
  reason: { ...reasonField.reason, hint: 'payment.reasonHint' },
};

interface AmountPageProps {
  /** Made before anything is asked for: a form that is sent twice requests once. */
  requestKey: string;
  preview: RefundPreview;
  problem: AppError | null;
}

function AmountPage({ requestKey, preview, problem }: AmountPageProps) {
  const { time, to, t, query } = useVisit();
  const { original, refundableCents, refusal } = preview;
  const page = to(`refunds/new/${original.nsu}`);
  const amount = query.get('amount') ?? writeTypedAmount(refundableCents);
  return (
    <>
      <FactList
        title="payment.original"
        facts={[
          ['word.amount', <Amount cents={original.amountCents} />],
          ['payment.refundable', <Amount cents={refundableCents} />],
          ['word.when', time(original.occurredAt)],
          ['word.nsu', <a href={to(`statement/${original.nsu}`)}>{original.nsu.toString()}</a>],
          ['payment.endToEndId', <Identifier text={original.endToEndId} />],
        ]}
      />
      {refusal === null ? (
        <FormCard
          {...{ problem, fields: amountFields, values: { amount } }}
          action={`${page}/confirm`}
          hidden={{ key: requestKey }}
          button="app.continue"
        />
      ) : (
        <Message kind="warn">{t(`payment.problem.${refusal}`)}</Message>
      )}
    </>
  );
}

/** What a person saw of a refund when they confirmed it, for the audit. */
function seenRefund(nsu: bigint, refundable: bigint, amount: bigint): string {
  return `nsu ${nsu}, refundable ${printReais(refundable)}, amount ${printReais(amount)}`;
}
