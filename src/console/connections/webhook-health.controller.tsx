// How reliably the bank's webhooks report the lines of the statement, and how they are registered
// at the bank. The registrations are read at the bank, and only on a page of their own.
import { Controller } from '@nestjs/common';
import { z } from 'zod';
import { AppError } from '../../platform/errors.js';
import type { RegisteredEventType } from '../../webhooks/registration/registration.js';
import { WebhookHealth } from '../../webhooks/health/webhook-health.service.js';
import { WebhookRegistrar } from '../../webhooks/registration/webhook-registrar.service.js';
import { Badge, Card, Empty, type Tone } from '../kit/elements.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { DataTable, Form, Message, StepUpNotice } from '../kit/frame.js';
import { readFilters } from '../list-query.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { accountOf, isAllowedTo, pathTo } from '../visit.js';
import { doneAt, ConnectionDone } from './connection-elements.js';
import { HealthView } from './webhook-health-view.js';

const health = '/console/accounts/:account/webhook-health';
const registrations = `${health}/registrations`;
const needs = 'view';
const lostLines = 20;
const shownDays = 30;

const periodQuery = z.object({ days: z.coerce.number().int().min(1).max(30).default(1) });

@Controller()
export class WebhookHealthPages {
  constructor(
    private readonly webhookHealth: WebhookHealth,
    private readonly registrar: WebhookRegistrar,
  ) {}

  @ConsolePage({
    path: health,
    needs,
    menu: { title: 'health.title', section: 'connections', place: 65 },
  })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { id } = accountOf(visit);
    const { days } = readFilters(periodQuery, visit.query).filters;
    const page = { beforeNsu: null, limit: lostLines + 1 };
    const [measured, byDay, lost, failure] = await Promise.all([
      this.webhookHealth.measure(id, {}, days),
      this.webhookHealth.measureDays(id, shownDays),
      this.webhookHealth.listUnnotifiedLines(id, {}, page, days),
      this.webhookHealth.findRegistrationFailure(id),
    ]);
    const body = (
      <HealthView
        visit={visit}
        {...{ days, measured, byDay, failure }}
        lost={lost.slice(0, lostLines)}
        hasMore={lost.length > lostLines}
      />
    );
    return new Shown(visit.t('health.title'), body);
  }

  @ConsolePage({ path: registrations, needs })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const read = await answerOf(() => this.registrar.list(accountOf(visit).id));
    return registrationsPage(visit, read);
  }

  @ConsoleAction({
    path: registrations,
    needs: 'manage connections',
    audit: { action: 'register webhooks', subject: () => 'registrations all' },
  })
  async register(@Visiting() visit: Visit): Promise<PageAnswer> {
    const accountId = accountOf(visit).id;
    const isDone = await answerOf(async () => {
      await this.registrar.register({ accountId });
      return true;
    });
    if (!isDone) return registrationsPage(visit, null);
    return new Redirect(doneAt(visit, 'webhook-health/registrations', 'registered'));
  }
}

/** Null if the bank does not answer. */
async function answerOf<Value>(ask: () => Promise<Value>): Promise<Value | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AppError && error.status >= 500) return null;
    throw error;
  }
}

function registrationsPage(visit: Visit, read: RegisteredEventType[] | null): Shown {
  const body = <Registrations visit={visit} read={read} />;
  const options = read === null ? { status: 502 } : {};
  return new Shown(visit.t('health.registrations'), body, options);
}

const tones: Record<RegisteredEventType['state'], Tone> = {
  registered: 'good',
  outdated: 'warn',
  foreign: 'warn',
  missing: 'bad',
};

function Registrations({ visit, read }: { visit: Visit; read: RegisteredEventType[] | null }) {
  const { t } = visit;
  const mayRegister = isAllowedTo(visit, 'manage connections');
  return (
    <>
      <ConnectionDone visit={visit} />
      {mayRegister && <StepUpNotice visit={visit} />}
      <p class="muted">{t('health.registrations.intro')}</p>
      {read === null && <Message kind="bad">{t('health.registrations.noAnswer')}</Message>}
      <div class="card">
        {read === null ? (
          <Empty>{t('health.registrations.unknown')}</Empty>
        ) : (
          <DataTable
            visit={visit}
            name={t('health.registrations')}
            columns={['webhooks.type', 'webhooks.state', 'endpoints.host']}
          >
            {read.map(({ eventType, state, host }) => (
              <tr>
                <td class="wide">
                  <code>{eventType}</code>
                </td>
                <td>
                  <Badge tone={tones[state]} text={t(`health.registration.${state}`)} />
                </td>
                <td class="wide">{host ?? t('app.none')}</td>
              </tr>
            ))}
          </DataTable>
        )}
      </div>
      {mayRegister && (
        <Card title={t('health.register')}>
          <p class="muted">{t('health.register.hint')}</p>
          <Form visit={visit} action={pathTo(visit, 'webhook-health/registrations')}>
            <button>{t('health.register')}</button>
          </Form>
        </Card>
      )}
      <p>
        <a href={pathTo(visit, 'webhook-health')}>{t('app.back')}</a>
      </p>
    </>
  );
}
