// What people do with payments that they expect: declare, change and cancel them.
import { Controller } from '@nestjs/common';
import { fieldError, type FieldErrors } from '../../bank-contract/field-errors.js';
import type { RouteInput } from '../../bank-contract/route.js';
import {
  amendPayment,
  declarePayment,
  toTerms,
} from '../../statement/expected-payments/declared-payments.schema.js';
import { DeclaredPayments } from '../../statement/expected-payments/declared-payments.service.js';
import type { AuditedSubject } from '../../access/people/audited-actions.js';
import { decode } from '../../platform/http/contract-route.js';
import { AppError } from '../../platform/errors.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import type { FormErrors } from '../kit/form-fields.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import {
  accountOf,
  callerOf,
  pathId,
  isAllowedTo,
  pathTo,
  requireReason,
  typed,
} from '../visit.js';
import {
  amendmentOf,
  declarationOf,
  emptyPayment,
  formOfPayment,
  paymentErrors,
  readPaymentForm,
  type PaymentForm,
} from './payment-form.js';
import { PaymentFormFields } from './payment-form-fields.js';

const payments = '/console/accounts/:account/expected-payments';
const needs = 'manage expected payments';
const paymentOf = (visit: Visit): AuditedSubject => `expected_payment ${pathId(visit)}`;
const noErrors: FormErrors = new Map();

@Controller()
export class DeclaredPaymentPages {
  constructor(private readonly payments: DeclaredPayments) {}

  @ConsolePage({ path: `${payments}/new`, needs })
  new(@Visiting() visit: Visit): PageAnswer {
    return newPage(visit, emptyPayment, noErrors);
  }

  @ConsoleAction({
    path: `${payments}/new`,
    needs,
    audit: { action: 'declare expected payment', subject: () => 'expected_payment new' },
  })
  async declare(@Visiting() visit: Visit): Promise<PageAnswer> {
    const form = readPaymentForm(visit.form);
    const issues: FieldErrors = {};
    const body = decode(declarePayment.body, declarationOf(form), issues) as
      RouteInput<typeof declarePayment>['body'] | undefined;
    if (!body) return newPage(visit, form, paymentErrors(issues));
    const { accountId, actor } = callerOf(visit);
    const author = { accountId, actor, reason: null };
    try {
      const { id } = await this.payments.declare(author, body.externalId, toTerms(body));
      return new Redirect(pathTo(visit, `expected-payments/${id}`));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'idempotency_key_reused') throw error;
      return newPage(visit, form, new Map([['externalId', fieldError('other_terms')]]));
    }
  }

  @ConsolePage({ path: `${payments}/:id/edit`, needs })
  async edit(@Visiting() visit: Visit): Promise<PageAnswer> {
    // The form has who pays: whoever must not see it would store it masked.
    if (!isAllowedTo(visit, 'see personal data')) throw new AppError('forbidden');
    const id = pathId(visit);
    const payment = await this.payments.get(accountOf(visit).id, id, { isVisible: true });
    const changed = { id, version: String(payment.version) };
    return editPage(visit, formOfPayment(payment), noErrors, changed);
  }

  @ConsoleAction({
    path: `${payments}/:id/amend`,
    needs,
    audit: { action: 'amend expected payment', subject: paymentOf },
  })
  async amend(@Visiting() visit: Visit): Promise<PageAnswer> {
    const id = pathId(visit);
    const form = readPaymentForm(visit.form);
    const changed = { id, version: typed(visit, 'shown') };
    const issues: FieldErrors = {};
    const body = decode(amendPayment.body, amendmentOf(form), issues) as
      RouteInput<typeof amendPayment>['body'] | undefined;
    if (!body) return editPage(visit, form, paymentErrors(issues), changed);
    const { accountId, actor } = callerOf(visit);
    const author = { accountId, actor, reason: body.reason };
    try {
      await this.payments.amend(author, id, body, { version: shownVersion(visit) });
      return new Redirect(pathTo(visit, `expected-payments/${id}`));
    } catch (error) {
      const errors = error instanceof AppError ? error.details.errors : undefined;
      if (!errors) throw error;
      return editPage(visit, form, paymentErrors(errors), changed);
    }
  }

  @ConsoleAction({
    path: `${payments}/:id/cancel`,
    needs,
    audit: { action: 'cancel expected payment', subject: paymentOf },
  })
  async cancel(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, actor } = callerOf(visit);
    const author = { accountId, actor, reason: requireReason(visit) };
    const id = pathId(visit);
    await this.payments.cancel(author, id, { version: shownVersion(visit) });
    return new Redirect(pathTo(visit, `expected-payments/${id}`));
  }
}

function shownVersion(visit: Visit): number {
  const shown = typed(visit, 'shown');
  if (!/^\d{1,9}$/.test(shown)) throw new AppError('validation_failed');
  return Number(shown);
}

function newPage(visit: Visit, form: PaymentForm, errors: FormErrors): Shown {
  const body = <PaymentFormFields {...{ visit, form, errors }} changed={null} />;
  return new Shown(visit.t('expectedPayment.new'), body, { status: errors.size === 0 ? 200 : 400 });
}

function editPage(
  visit: Visit,
  form: PaymentForm,
  errors: FormErrors,
  changed: { id: string; version: string },
): Shown {
  const body = <PaymentFormFields {...{ visit, form, errors, changed }} />;
  const title = visit.t('expectedPayment.amendTitle', { externalId: form.fields.externalId });
  return new Shown(title, body, { status: errors.size === 0 ? 200 : 400 });
}
