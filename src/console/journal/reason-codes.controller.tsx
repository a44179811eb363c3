// The account's own list of why decisions are made, and what each says of the money.
import { randomUUID } from 'node:crypto';
import { Controller } from '@nestjs/common';
import { IdempotencyService } from '../../access/idempotency/idempotency.service.js';
import { readUuid } from '../../platform/http/listing.js';
import { changeReasonCode } from '../../reconciliation/breaks/reason-codes.schema.js';
import { ReasonCodes } from '../../reconciliation/breaks/reason-codes.service.js';
import { ActorNames } from '../actor-names.service.js';
import { Badge, Card, Message } from '../kit/elements.js';
import { FieldForm, readBody, typedBody, type FormFields } from '../kit/form.js';
import { TableCard } from '../kit/table.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import {
  ConsoleAction,
  ConsolePage,
  ShownAgainBy,
  Visiting,
} from '../serving/console-page.decorator.js';
import { callerOf, typed, type Visit } from '../visit.js';

const needs = 'manage rules';
const codingFields = {
  category: { label: 'word.category', maxLength: 100 },
  costCentre: { label: 'reasonCodes.costCentre', maxLength: 100 },
  project: { label: 'reasonCodes.project', maxLength: 100 },
} as const satisfies FormFields;
const ownFields = {
  code: { label: 'word.code', hint: 'reasonCodes.codeHint', required: true, maxLength: 40 },
  name: { label: 'word.name', required: true, maxLength: 100 },
} as const satisfies FormFields;
const activeField = {
  isActive: { label: 'reasonCodes.isActive', hint: 'reasonCodes.activeHint', is: 'check' },
} as const satisfies FormFields;

@Controller()
export class ReasonCodesPage {
  constructor(
    private readonly codes: ReasonCodes,
    private readonly idempotency: IdempotencyService,
    private readonly names: ActorNames,
  ) {}

  @ConsolePage('journal/reason-codes', 'view')
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, to, query } = visit;
    const { data } = await this.codes.get(visit.accountId);
    const nameOf = await this.names.find(
      visit,
      data.map(({ actor }) => actor),
    );
    const chosen = data.find(({ code }) => code === query.get('code'));
    const mayChange = visit.may(needs);
    const page = to('journal/reason-codes');
    const body = (
      <>
        <p>
          <a href={to('journal')}>{t('journal.title')}</a>
        </p>
        {query.has('saved') && <Message kind="good">{t('reasonCodes.saved')}</Message>}
        <TableCard
          {...{ rows: data, title: 'reasonCodes.title', empty: 'reasonCodes.none' }}
          columns={{
            'word.code': ({ code }) => <code>{code}</code>,
            'word.name': { wide: ({ name }) => name },
            'word.category': { wide: ({ coding }) => coding.category },
            'reasonCodes.costCentre': { wide: ({ coding }) => coding.costCentre },
            'reasonCodes.project': { wide: ({ coding }) => coding.project },
            'word.status': ({ isActive }) => (
              <Badge
                tone={isActive ? 'good' : 'plain'}
                text={t(isActive ? 'reasonCodes.isActive' : 'reasonCodes.retired')}
              />
            ),
            'word.who': { wide: ({ actor }) => nameOf(actor) },
            'word.when': { at: ({ at }) => at },
            'word.actions':
              mayChange &&
              (({ code }) => (
                <a href={`${page}?code=${encodeURIComponent(code)}#code`}>{t('word.change')}</a>
              )),
          }}
        />
        {mayChange && (
          <Card id="code" title={t(chosen ? 'reasonCodes.change' : 'reasonCodes.add')}>
            <FieldForm
              {...{ action: page, button: 'app.save', intro: 'reasonCodes.hint' }}
              fields={{ ...ownFields, ...codingFields, ...activeField }}
              values={{
                ...{ code: chosen?.code, name: chosen?.name, ...chosen?.coding },
                isActive: chosen?.isActive ?? true,
              }}
              hidden={{ key: randomUUID() }}
              asksReason
            />
          </Card>
        )}
      </>
    );
    return new Shown(t('reasonCodes.title'), body);
  }

  @ConsoleAction(
    'journal/reason-codes',
    needs,
    'change reason code',
    (visit) => `account ${visit.accountId}`,
  )
  @ShownAgainBy('show')
  async change(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, actor } = callerOf(visit);
    const body = readBody(changeReasonCode.body, {
      ...typedBody(visit, { ...ownFields, ...activeField }),
      ...{ coding: typedBody(visit, codingFields), reason: typed(visit, 'reason') },
    });
    const idempotencyKey = readUuid(typed(visit, 'key'));
    const request = { params: {}, query: {}, body, idempotencyKey };
    await this.idempotency.runOnce({ accountId, route: changeReasonCode, request }, () =>
      this.codes.change(accountId, body, actor),
    );
    return new Redirect(`${visit.to('journal/reason-codes')}?saved=1`);
  }
}
