// Voids a charge that is not paid, after a page that says whose it is, and how much.
import { Controller } from '@nestjs/common';
import { ChargeChanges } from '../../outbound/charges/charge-changes.service.js';
import { ChargesService } from '../../outbound/charges/charges.service.js';
import { printDay } from '../../brazil/printed-text.js';
import type { AppError } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { formatAmount, writeTaxId } from '../formats.js';
import { FactList } from '../kit/elements.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { requireReason, type Visit } from '../visit.js';
import { chargeFacts } from './charge-facts.js';
import { PaymentStories } from './payment-stories.service.js';
import { Identifier, pathOfRecord, recordId, SettlementBadge } from './record-page.js';
import {
  Confirmation,
  keyOf,
  operationIdOf,
  preferencesOf,
  problemOf,
  ProblemNotice,
} from './request-form.js';

@Controller()
export class ChargeVoidPages {
  constructor(
    private readonly charges: ChargesService,
    private readonly changes: ChargeChanges,
    private readonly stories: PaymentStories,
  ) {}

  @ConsolePage('charges/:id/void', 'request payments')
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page(visit, newId(), null);
  }

  @ConsoleAction(
    'charges/:id/void',
    'request payments',
    'void charge',
    (visit) => `charge ${recordId(visit)}`,
  )
  async void(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    const requestKey = keyOf(visit);
    const { correlationId } = await this.charges.get(visit.accountId, recordId(visit));
    try {
      const reply = await this.changes.void(
        visit.accountId,
        { ...inputOf(correlationId), idempotencyKey: requestKey },
        preferencesOf(visit),
      );
      // An operation shows what the bank objects to, or that its answer is not known yet.
      return new Redirect(
        reply.status === 200
          ? pathOfRecord(visit, 'charges', correlationId)
          : visit.to(`operations/${operationIdOf(reply)}`),
      );
    } catch (error) {
      return this.page(visit, requestKey, problemOf(error));
    }
  }

  private async page(visit: Visit, requestKey: string, problem: AppError | null): Promise<Shown> {
    const { t } = visit;
    const charge = await this.charges.get(visit.accountId, recordId(visit));
    const { correlationId, settlement, expectedPaymentId } = charge;
    const { amountCents, dueDate } = chargeFacts(charge);
    const { name, taxId } = await this.stories.findExpectedParty(visit, expectedPaymentId);
    const amount = amountCents === null ? t('payment.openAmount') : formatAmount(amountCents);
    const payer = name ?? correlationId;
    const body = (
      <>
        {problem && <ProblemNotice problem={problem} />}
        <FactList
          title="word.summary"
          facts={[
            [
              'word.payer',
              <strong>
                <bdi>{name ?? t('money.unnamed')}</bdi>
              </strong>,
            ],
            ['word.taxId', writeTaxId(taxId) ?? t('app.none')],
            ['word.amount', <strong>{amount}</strong>],
            ['word.dueDate', dueDate === null ? t('app.none') : printDay(dueDate)],
            ['word.settlement', <SettlementBadge of="charge" settlement={settlement} />],
            ['list.ownId', <Identifier text={correlationId} />],
          ]}
        />
        <Confirmation
          {...{ requestKey, problem }}
          shown={`charge ${correlationId}, ${settlement}`}
          button={t('payment.voidNow', { amount, payer })}
          back={{ href: pathOfRecord(visit, 'charges', correlationId), text: 'app.back' }}
        >
          <p>{t('payment.confirmVoid')}</p>
        </Confirmation>
      </>
    );
    const options = { isNarrow: true, status: problem?.status ?? 200 };
    return new Shown(t('payment.voidTitle'), body, options);
  }
}

function inputOf(correlationId: string) {
  return { params: { correlationId }, query: {}, body: undefined };
}
