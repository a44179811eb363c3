// The first visit: the connection, a charge, its payment, and its way to a reconciled line. The
// charge is requested by the service that the API calls.
import { noPreferences } from '../../outbound/operations/operation.js';
import { randomBytes } from 'node:crypto';
import { Controller } from '@nestjs/common';
import type { FieldErrors } from '../../bank-contract/field-errors.js';
import { SandboxControl } from '../../bank/sandbox-control.service.js';
import { ChargesService } from '../../outbound/charges/charges.service.js';
import { chargeWithMetadata } from '../../outbound/charges/charges.schema.js';
import { Database } from '../../platform/postgres/database.service.js';
import { AppError } from '../../platform/errors.js';
import { decode } from '../../platform/http/contract-route.js';
import { newId } from '../../platform/ids.js';
import { isUuid } from '../../platform/http/listing.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { OtherPageFirst } from '../console.guard.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { accountOf, callerOf, sessionOf, typed, type Visit } from '../visit.js';
import { fieldErrorsIn, problemIn, attempt } from '../problems.js';
import { typedDay } from '../typed-day.js';
import { demoSlug, DemoShop } from './demo-shop.service.js';
import {
  firstChargeBody,
  exampleCharge,
  firstChargeIds,
  type FirstCharge,
} from './first-charge.js';
import {
  findChargeProgress,
  findConnection,
  findNewestCharge,
  type ChargeProgress,
} from './first-steps.queries.js';
import { FirstSteps, OpeningDemo, type FirstStepsFacts } from './first-steps-page.js';
import { ServiceAddress } from './service-address.service.js';

@Controller()
export class FirstStepsPage {
  constructor(
    private readonly database: Database,
    private readonly charges: ChargesService,
    private readonly sandbox: SandboxControl,
    private readonly bankTime: BankTime,
    private readonly addresses: ServiceAddress,
    private readonly demo: DemoShop,
  ) {}

  @ConsolePage('first-steps', 'view', { title: 'firstSteps.title', section: 'today', place: 12 })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    if (!visit.query.has('demo') || !this.mayOpenDemo(visit)) return this.page(visit);
    const { problem, result: opening } = await attempt(async () => this.demo.follow());
    if (problem) return this.page(visit, { problem: problemIn(visit, problem) });
    if (!opening) throw new OtherPageFirst(`/console/accounts/${demoSlug}`);
    const part = <OpeningDemo progress={opening} />;
    return new Shown(visit.t('firstSteps.title'), part, { part });
  }

  @ConsoleAction(
    'first-steps',
    'request payments',
    'create first charge',
    ({ form }) => `charge ${firstChargeIds.exec(form.get('correlationId') ?? '')?.[0] ?? '-'}`,
  )
  async create(@Visiting() visit: Visit): Promise<PageAnswer> {
    const charge = readCharge(visit);
    const idempotencyKey = visit.form.get('key') ?? '';
    if (!isUuid(idempotencyKey)) throw new AppError('validation_failed');
    const issues: FieldErrors = {};
    const body = decode(chargeWithMetadata.body, firstChargeBody(charge), issues);
    const said = fieldErrorsIn(visit.language, issues).join(' ');
    if (said !== '') return this.page(visit, { problem: said });
    const caller = callerOf(visit);
    try {
      const reply = await this.charges.create(
        caller.accountId,
        { params: {}, query: {}, body: body as never, idempotencyKey },
        { ...noPreferences, requestedBy: { source: 'console', actor: caller.actor } },
      );
      if (reply.status >= 400)
        return await this.page(visit, { problem: visit.t('firstSteps.refused') });
      return new Redirect(pathOf(visit, charge.correlationId));
    } catch (error) {
      return this.page(visit, { problem: problemIn(visit, error) });
    }
  }

  @ConsoleAction(
    'first-steps/:charge/pay',
    'play the payer',
    'pay first charge',
    ({ params }) => `charge ${readCorrelationId(params.charge)}`,
  )
  async pay(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { id } = accountOf(visit);
    const { correlationId } = await this.getProgress(id, visit.params.charge);
    const path = `/baas/v1/charges/${encodeURIComponent(correlationId)}/pay`;
    try {
      await this.sandbox.call({ id }, { method: 'POST', path });
    } catch (error) {
      const isPaid = error instanceof AppError && error.details.reason === 'charge_already_paid';
      if (!isPaid) return this.page(visit, { payProblem: problemIn(visit, error), correlationId });
    }
    return new Redirect(pathOf(visit, correlationId));
  }

  @ConsoleAction('first-steps/demo', 'play the payer', 'add account', () => `account ${demoSlug}`)
  async openDemo(@Visiting() visit: Visit): Promise<PageAnswer> {
    if (!this.mayOpenDemo(visit)) throw new AppError('forbidden');
    await this.demo.begin(accountOf(visit));
    return new Redirect(visit.to('first-steps?demo=opening'));
  }

  /** It is an account of the installation. */
  private mayOpenDemo(visit: Visit): boolean {
    return this.sandbox.isOffered && sessionOf(visit).roleEverywhere === 'admin';
  }

  private async getProgress(accountId: number, charge = ''): Promise<ChargeProgress> {
    const { sql } = this.database;
    const found = await findChargeProgress(sql, accountId, readCorrelationId(charge));
    if (!found) throw new AppError('not_found');
    return found;
  }

  private async page(
    visit: Visit,
    outcome: Pick<FirstStepsFacts, 'problem' | 'payProblem'> & { correlationId?: string } = {},
  ): Promise<Shown> {
    const { id } = accountOf(visit);
    const { sql } = this.database;
    const followed = outcome.correlationId ?? visit.query.get('charge');
    const progress = followed === null ? null : await this.getProgress(id, followed);
    const connection = await findConnection(sql, id);
    const facts: FirstStepsFacts = {
      ...outcome,
      progress,
      ...connection,
      isSandbox: this.sandbox.isOffered,
      mayOpenDemo: this.mayOpenDemo(visit),
      pixCode: progress && !this.sandbox.isOffered ? await this.pixCodeOf(id, progress) : null,
      newest: progress ? null : await findNewestCharge(sql, id),
      charge: visit.form.has('correlationId')
        ? readCharge(visit)
        : exampleCharge(
            `primeira-${randomBytes(4).toString('hex')}`,
            await this.bankTime.today(id),
          ),
      idempotencyKey: visit.form.get('key') ?? newId(),
      ...this.addresses.of(accountOf(visit).slug),
    };
    const part = <FirstSteps facts={facts} />;
    const isProblem = outcome.problem ?? outcome.payProblem;
    const status = isProblem ? 422 : 200;
    return new Shown(visit.t('firstSteps.title'), part, { part, status });
  }

  private async pixCodeOf(accountId: number, { correlationId }: ChargeProgress) {
    const charge: Record<string, unknown> = await this.charges.get(accountId, correlationId);
    return typeof charge.qrCode === 'string' ? charge.qrCode : null;
  }
}

function pathOf(visit: Visit, correlationId: string): string {
  return visit.to(`first-steps?charge=${encodeURIComponent(correlationId)}`);
}

/** Throws `not_found` for what cannot name a charge: PostgreSQL does not compare every text. */
function readCorrelationId(text = ''): string {
  if (text === '' || text.length > 100 || /\p{Cc}/u.test(text)) throw new AppError('not_found');
  return text;
}

/** Throws `validation_failed` for a form of another page. */
function readCharge(visit: Visit): FirstCharge {
  const correlationId = visit.form.get('correlationId') ?? '';
  if (!firstChargeIds.test(correlationId)) throw new AppError('validation_failed');
  return {
    correlationId,
    payerName: typed(visit, 'payerName'),
    payerDocument: typed(visit, 'payerDocument'),
    amount: typed(visit, 'amount'),
    dueDate: typedDay(typed(visit, 'dueDate')),
  };
}
