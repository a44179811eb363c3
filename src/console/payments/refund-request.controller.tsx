// Refunds a received Pix, in full or in part: a page asks for the amount, the next one shows
// exactly what will be sent, and the outcome is the refund itself.
import { Controller } from '@nestjs/common';
import { printReais } from '../../brazil/printed-text.js';
import { refundTransaction } from '../../bank-contract/refunds.js';
import { AppError } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { isNsu } from '../../platform/http/listing.js';
import { RefundsService, type RefundPreview } from '../../outbound/refunds/refunds.service.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { formatTime } from '../formats.js';
import { Amount, FactList } from '../kit/elements.js';
import { AskingForm, Fields, type FormFields } from '../kit/form.js';
import { Message } from '../kit/frame.js';
import { ListCard } from '../kit/list-page.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { readTypedAmount, writeTypedAmount } from '../typed-amount.js';
import { accountOf, pathTo, requireReason } from '../visit.js';
import { Identifier } from './record-page.js';
import {
  Confirmation,
  keyOf,
  operationIdOf,
  preferencesOf,
  problemOf,
  ProblemNotice,
  requestText,
} from './request-form.js';

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
  problem: AppError | null;
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
        <RefundForm visit={visit} asked={asked} amount={amount} />
      ) : (
        <AmountForm visit={visit} asked={asked} />
      )}
    </>
  );
}

const amountFields: FormFields = {
  amount: {
    ...{ label: 'payment.refundAmount', hint: 'payment.refundAmountHint', is: 'amount' },
    ...{ maxLength: 30, required: true },
  },
};

function AmountForm({ visit, asked: { preview, typedAmount } }: Props) {
  const { t, path: action } = visit;
  const amount = typedAmount ?? writeTypedAmount(preview.refundableCents);
  return (
    <ListCard>
      {typedAmount !== null && <Message kind="bad">{t('payment.wrongAmount')}</Message>}
      <AskingForm action={action}>
        <Fields {...{ visit, fields: amountFields, values: { amount } }} />
        <button>{t('app.continue')}</button>
      </AskingForm>
    </ListCard>
  );
}

function RefundForm({ visit, asked, amount }: Props & { amount: bigint }) {
  const { t, path } = visit;
  const { preview, requestKey, problem } = asked;
  const { original, refundableCents } = preview;
  return (
    <Confirmation
      {...{ visit, requestKey, problem }}
      sent={requestText(refundTransaction, inputOf(original.nsu, amount))}
      shown={seenRefund(original.nsu, refundableCents, amount)}
      hidden={{ amount: writeTypedAmount(amount) }}
      button="payment.refundNow"
      back={{ href: path, text: 'payment.otherAmount' }}
    >
      <p>{t('payment.confirmRefund')}</p>
      <p>
        {t('payment.refundAmount')}{' '}
        <strong>
          <Amount cents={amount} />
        </strong>
      </p>
    </Confirmation>
  );
}

/** What a person saw of a refund when they confirmed it, for the audit. */
function seenRefund(nsu: bigint, refundable: bigint, amount: bigint): string {
  return `nsu ${nsu}, refundable ${printReais(refundable)}, amount ${printReais(amount)}`;
}
