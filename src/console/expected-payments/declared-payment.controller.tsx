// What people do with payments that they expect: declare, change and cancel them.
import { attempt } from '../problems.js';
import { Controller } from '@nestjs/common';
import { fieldError } from '../../bank-contract/field-errors.js';
import {
  amendPayment,
  declarePayment,
  toTerms,
} from '../../statement/expected-payments/declared-payments.schema.js';
import { DeclaredPayments } from '../../statement/expected-payments/declared-payments.service.js';
import { AppError, invalidField } from '../../platform/errors.js';
import {
  ConsoleAction,
  ConsolePage,
  Visiting,
  ShownAgainBy,
} from '../serving/console-page.decorator.js';
import { readBody } from '../kit/form.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { callerOf, pathId, requireReason, typed, type Visit } from '../visit.js';
import {
  PaymentForm,
  typedAmendment,
  typedDeclaration,
  valuesOfPayment,
  type PaymentFormProps,
} from './payment-form.js';

const needs = 'manage expected payments';
const paymentOf = 'expected_payment :id';

@Controller()
export class DeclaredPaymentPages {
  constructor(private readonly payments: DeclaredPayments) {}

  @ConsolePage('expected-payments/new', needs)
  new(@Visiting() visit: Visit): PageAnswer {
    return new Shown(visit.t('expectedPayment.new'), <PaymentForm changed={null} />);
  }

  @ConsoleAction('expected-payments/new', needs, 'declare expected payment', 'expected_payment new')
  @ShownAgainBy('new')
  async declare(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, actor } = callerOf(visit);
    const author = { accountId, actor, reason: null };
    const body = readBody(declarePayment.body, typedDeclaration(visit));
    try {
      const { id } = await this.payments.declare(author, body.externalId, toTerms(body));
      return new Redirect(visit.to(`expected-payments/${id}`));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'idempotency_key_reused') throw error;
      throw invalidField('$.externalId', fieldError('other_terms'));
    }
  }

  @ConsolePage('expected-payments/:id/edit', needs)
  async edit(@Visiting() visit: Visit): Promise<PageAnswer> {
    // The form has who pays: whoever must not see it would store it masked.
    if (!visit.may('see personal data')) throw new AppError('forbidden');
    const id = pathId(visit);
    const payment = await this.payments.get(visit.accountId, id, { isVisible: true });
    return editPage(visit, {
      values: valuesOfPayment(payment),
      references: payment.references,
      changed: { id, version: String(payment.version) },
    });
  }

  @ConsoleAction('expected-payments/:id/amend', needs, 'amend expected payment', paymentOf)
  async amend(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const { accountId, actor } = callerOf(visit);
    const { problem } = await attempt(async () => {
      const body = readBody(amendPayment.body, typedAmendment(visit));
      const author = { accountId, actor, reason: body.reason };
      return this.payments.amend(author, id, body, { version: shownVersion(visit) });
    });
    // Of another version there is nothing to mend in this form.
    if (problem && !problem.details.errors) throw problem;
    if (!problem) return new Redirect(visit.to(`expected-payments/${id}`));
    visit.problem = problem;
    return editPage(visit, { changed: { id, version: typed(visit, 'shown') } });
  }

  @ConsoleAction('expected-payments/:id/cancel', needs, 'cancel expected payment', paymentOf)
  async cancel(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, actor } = callerOf(visit);
    const author = { accountId, actor, reason: requireReason(visit) };
    const id = pathId(visit);
    await this.payments.cancel(author, id, { version: shownVersion(visit) });
    return new Redirect(visit.to(`expected-payments/${id}`));
  }
}

function shownVersion(visit: Visit): number {
  const shown = typed(visit, 'shown');
  if (!/^\d{1,9}$/.test(shown)) throw new AppError('validation_failed');
  return Number(shown);
}

function editPage(visit: Visit, props: PaymentFormProps): Shown {
  const { values = {} } = props;
  const externalId = String(values.externalId ?? typed(visit, 'externalId'));
  const title = visit.t('expectedPayment.amendTitle', { externalId });
  return new Shown(title, <PaymentForm {...props} />);
}
