// Refunds a received Pix, in full or in part: a page asks for the amount, the next one shows
// exactly what will be sent, and the outcome is the refund itself.
import { Controller } from '@nestjs/common';
import { refundTransaction } from '../../bank-contract/refunds.js';
import { AppError } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { isNsu } from '../../platform/http/listing.js';
import { RefundsService, type RefundPreview } from '../../outbound/refunds/refunds.service.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Amount, FactList } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { Field, Form, Message } from '../kit/frame.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { accountOf, pathTo, requireReason } from '../visit.js';
import {
  keyOf,
  operationIdOf,
  preferencesOf,
  problemOf,
  seenRefund,
  type RequestProblem,
} from './payment-requests.js';
import { Identifier } from './record-page.js';
import { ProblemNotice, RequestFields, requestText, SentToBank } from './request-form.js';
import { readTypedAmount, writeTypedAmount } from '../typed-amount.js';

const path = '/console/accounts/:account/refunds/new/:nsu';

@Controller()
export class RefundRequestPages {
  constructor(private readonly refunds: RefundsService) {}

  @ConsolePage({ path, needs: 'request payments' })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const typedAmount = visit.query.get('amount');
    return this.page(visit, { typedAmount, requestKey: newId(), problem: null });
  }

  @ConsoleAction({
    path,
    needs: 'request payments',
    audit: { action: 'request refund', subject: (visit) => `line ${nsuOf(visit)}` },
  })
  async request(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const requestKey = keyOf(visit);
    const typedAmount = visit.form.get('amount');
    const amount = readTypedAmount(typedAmount ?? '');
    if (amount === null || amount === 0n) throw new AppError('validation_failed');
    try {
      const reply = await this.refunds.refund(
        accountOf(visit).id,
        { ...inputOf(nsuOf(visit), amount), idempotencyKey: requestKey },
        preferencesOf(visit),
      );
      return new Redirect(pathTo(visit, `refunds/${operationIdOf(reply)}`));
    } catch (error) {
      return this.page(visit, { typedAmount, requestKey, problem: problemOf(error) });
    }
  }

  private async page(visit: Visit, asked: Omit<Asked, 'preview'>): Promise<Shown> {
    const title = visit.t('payment.refundTitle');
    try {
      const preview = await this.refunds.preview(accountOf(visit).id, nsuOf(visit));
      const body = <RefundPage visit={visit} asked={{ ...asked, preview }} />;
      return new Shown(title, body, { isNarrow: true, status: asked.problem?.status ?? 200 });
    } catch (error) {
      // The line is no received Pix.
      const problem = problemOf(error);
      const body = <ProblemNotice visit={visit} problem={problem} />;
      return new Shown(title, body, { isNarrow: true, status: problem.status });
    }
  }
}

interface Asked {
  preview: RefundPreview;
  /** As it was typed; null while the person was not asked for it. */
  typedAmount: string | null;
  requestKey: string;
  problem: RequestProblem | null;
}

interface Props {
  visit: Visit;
  asked: Asked;
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

function RefundPage({ visit, asked }: Props) {
  const { t, language } = visit;
  const { preview, problem, typedAmount } = asked;
  const { original, refundableCents, refusal } = preview;
  const amount = typedAmount === null ? null : readTypedAmount(typedAmount);
  const isValid = amount !== null && amount > 0n && amount <= refundableCents;
  return (
    <>
      {problem && <ProblemNotice visit={visit} problem={problem} />}
      <FactList
        visit={visit}
        title="payment.original"
        facts={[
          ['payment.amount', <Amount cents={original.amountCents} />],
          ['payment.refundable', <Amount cents={refundableCents} />],
          ['payment.when', formatTime(original.occurredAt, language)],
          [
            'payment.nsu',
            <a href={pathTo(visit, `statement/${original.nsu}`)}>{original.nsu.toString()}</a>,
          ],
          ['payment.endToEndId', <Identifier text={original.endToEndId} />],
        ]}
      />
      {refusal !== null ? (
        <Message kind="warn">{t(`payment.problem.${refusal}`)}</Message>
      ) : isValid ? (
        <Confirmation visit={visit} asked={asked} amount={amount} />
      ) : (
        <AmountForm visit={visit} asked={asked} />
      )}
    </>
  );
}

function AmountForm({ visit, asked: { preview, typedAmount } }: Props) {
  const { t, path: action } = visit;
  return (
    <div class="card">
      {typedAmount !== null && <Message kind="bad">{t('payment.wrongAmount')}</Message>}
      <form method="get" action={action}>
        <Field
          label={t('payment.refundAmount')}
          hint={t('payment.refundAmountHint')}
          name="amount"
          inputMode="decimal"
          value={typedAmount ?? writeTypedAmount(preview.refundableCents)}
          maxLength={30}
          required
        />
        <button>{t('app.continue')}</button>
      </form>
    </div>
  );
}

function Confirmation({ visit, asked, amount }: Props & { amount: bigint }) {
  const { t, path: action } = visit;
  const { preview, requestKey, problem } = asked;
  const { original, refundableCents } = preview;
  return (
    <div class="card">
      <h2>{t('payment.confirm')}</h2>
      <p>{t('payment.confirmRefund')}</p>
      <p>
        {t('payment.refundAmount')}{' '}
        <strong>
          <Amount cents={amount} />
        </strong>
      </p>
      <SentToBank
        visit={visit}
        text={requestText(refundTransaction, inputOf(original.nsu, amount))}
      />
      <Form visit={visit} action={action} shown={seenRefund(original.nsu, refundableCents, amount)}>
        <input type="hidden" name="amount" value={writeTypedAmount(amount)} />
        <RequestFields
          visit={visit}
          requestKey={requestKey}
          asksForDuplicate={problem?.isPossibleDuplicate === true}
        />
        <div class="row">
          <button>{t('payment.refundNow')}</button>
          <a href={action}>{t('payment.otherAmount')}</a>
        </div>
      </Form>
    </div>
  );
}
