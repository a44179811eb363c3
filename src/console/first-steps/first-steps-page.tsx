// The three steps of the first visit. The page loads itself again while it waits for something.
import {
  Card,
  Code,
  Empty,
  Timeline,
  WorkProgress,
  Message,
  Row,
  type TimelineEntry,
} from '../kit/elements.js';
import { formatAmount, formatCount } from '../formats.js';
import { FieldForm, type FormFields } from '../kit/form.js';
import { useVisit, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import { curlOf, type FirstCharge } from './first-charge.js';
import type { DemoProgress } from './demo-shop.service.js';
import type { ChargeProgress, Connection } from './first-steps.queries.js';

export interface FirstStepsFacts extends Connection {
  /** The charge that the page follows; null while none was created. */
  progress: ChargeProgress | null;
  /** The newest charge of the account, where the page follows none. */
  newest: string | null;
  /** Whether the bank has a payer who can be asked to pay. */
  isSandbox: boolean;
  /** Whether the person may open the demonstration. */
  mayOpenDemo: boolean;
  /** What a payer copies into an app; null where the sandbox pays. */
  pixCode: string | null;
  /** What stands in the form. */
  charge: FirstCharge;
  idempotencyKey: string;
  serviceUrl: string;
  apiKey: string | null;
  /** Why the last form did not succeed. */
  problem?: string;
  payProblem?: string;
}

interface Props {
  facts: FirstStepsFacts;
}

export function FirstSteps({ facts }: Props) {
  const visit = useVisit();
  const { progress, syncedAt } = facts;
  const isWaiting = syncedAt === null || (progress !== null && !isDone(progress));
  return (
    <div id="first-steps" {...(isWaiting ? refreshing(visit, progress) : {})}>
      <p>{visit.t('firstSteps.intro')}</p>
      <ConnectionStep facts={facts} />
      {syncedAt !== null && <ChargeStep facts={facts} />}
      {progress && <PaymentStep facts={facts} progress={progress} />}
      {facts.mayOpenDemo && <Demo />}
    </div>
  );
}

function Demo() {
  const { t, to } = useVisit();
  return (
    <Card title={t('firstSteps.demo')}>
      <p>{t('firstSteps.demoWhy')}</p>
      <FieldForm {...{ fields: {}, action: to('first-steps/demo') }} button="firstSteps.openDemo" />
    </Card>
  );
}

export function OpeningDemo({ progress }: { progress: DemoProgress }) {
  const { t, to } = useVisit();
  const { declared, due } = progress;
  const counts = { declared: formatCount(declared), due: formatCount(due) };
  return (
    <WorkProgress
      {...{ id: 'demo', href: to('first-steps?demo=opening') }}
      name="firstSteps.openingDemo"
      said={due === 0 ? t('firstSteps.demoLines') : t('firstSteps.demoBooks', counts)}
      of={due === 0 ? undefined : { value: declared, max: due }}
    />
  );
}

function isDone({ matchedAt, eventAt }: ChargeProgress): boolean {
  return matchedAt !== null && eventAt !== null;
}

function refreshing(visit: Visit, progress: ChargeProgress | null) {
  return {
    'hx-get': followPath(visit, progress?.correlationId ?? null),
    'hx-trigger': 'every 1s',
    'hx-swap': 'outerHTML',
  };
}

function followPath(visit: Visit, correlationId: string | null): string {
  const query = correlationId === null ? '' : `?charge=${encodeURIComponent(correlationId)}`;
  return visit.to(`first-steps${query}`);
}

function ConnectionStep({ facts: { syncedAt, isLive } }: Props) {
  const { t, time } = useVisit();
  return (
    <Card title={t('firstSteps.one')}>
      {syncedAt ? (
        <Message kind="good">{t('firstSteps.connected', { time: time(syncedAt) })}</Message>
      ) : (
        <Message kind="warn">{t('firstSteps.notConnected')}</Message>
      )}
      {!isLive && <Message kind="bad">{t('firstSteps.stopped')}</Message>}
    </Card>
  );
}

function ChargeStep({ facts }: Props) {
  const visit = useVisit();
  const { t } = visit;
  const { progress, newest } = facts;
  const mayCreate = visit.may('request payments');
  return (
    <Card title={t('firstSteps.two')}>
      {progress ? (
        <>
          <Message kind="good">{t('firstSteps.created', { id: progress.correlationId })}</Message>
          <Row>
            <a href={visit.to(`charges/${encodeURIComponent(progress.correlationId)}`)}>
              {t('firstSteps.open')}
            </a>
            <a href={visit.to('first-steps')}>{t('firstSteps.another')}</a>
          </Row>
        </>
      ) : (
        <>
          {newest !== null && (
            <p>
              <a href={followPath(visit, newest)}>{t('firstSteps.newest')}</a>
            </p>
          )}
          {mayCreate ? <ChargeForm facts={facts} /> : <Empty>{t('firstSteps.notAllowed')}</Empty>}
        </>
      )}
    </Card>
  );
}

const chargeFields: FormFields = {
  payerName: { label: 'word.payerName', required: true },
  payerDocument: { label: 'firstSteps.payerDocument', required: true },
  amount: { label: 'firstSteps.amount', is: 'amount', required: true },
  dueDate: { label: 'word.dueDate', is: 'date', required: true },
};

function ChargeForm({ facts }: Props) {
  const { t, to } = useVisit();
  const { charge, idempotencyKey, problem, serviceUrl, apiKey } = facts;
  return (
    <>
      <p>{t('firstSteps.twoWhy')}</p>
      {problem !== undefined && (
        <Message kind="bad">{t('firstSteps.problem', { problem })}</Message>
      )}
      <FieldForm
        {...{ fields: chargeFields, values: { ...charge } }}
        action={to('first-steps')}
        hidden={{ key: idempotencyKey, correlationId: charge.correlationId }}
        button="firstSteps.create"
      />
      <details>
        <summary>{t('firstSteps.curl')}</summary>
        <Code text={curlOf(serviceUrl, apiKey ?? t('firstSteps.yourKey'), charge)} />
      </details>
    </>
  );
}

function PaymentStep({ facts, progress }: Props & { progress: ChargeProgress }) {
  const visit = useVisit();
  const { t } = visit;
  return (
    <>
      <Card title={t('firstSteps.three')}>
        {facts.payProblem !== undefined && (
          <Message kind="bad">{t('firstSteps.payProblem', { problem: facts.payProblem })}</Message>
        )}
        <Payment facts={facts} progress={progress} />
      </Card>
      <Card title={t('firstSteps.followed')}>
        <Timeline entries={entriesOf(visit, progress)} />
        {isDone(progress) && <Done progress={progress} />}
      </Card>
    </>
  );
}

function Payment({ facts, progress }: Props & { progress: ChargeProgress }) {
  const { t, to, may } = useVisit();
  if (progress.lineAt !== null) return <Message kind="good">{t('firstSteps.paid')}</Message>;
  if (!facts.isSandbox)
    return (
      <>
        <p>{t('firstSteps.payByApp')}</p>
        {facts.pixCode !== null && (
          <p>
            {t('firstSteps.pixCode')}: <code>{facts.pixCode}</code>
          </p>
        )}
      </>
    );
  const path = `first-steps/${encodeURIComponent(progress.correlationId)}/pay`;
  return (
    <>
      <p>{t('firstSteps.payWhy')}</p>
      {may('play the payer') && (
        <FieldForm {...{ fields: {}, action: to(path), button: 'firstSteps.pay' }} />
      )}
    </>
  );
}

function entriesOf({ t }: Visit, progress: ChargeProgress): TimelineEntry[] {
  const entry = (
    key: TextKey,
    at: Date | null,
    absent: TextKey = 'firstSteps.awaited',
  ): TimelineEntry => ({
    at,
    tone: at ? 'good' : 'plain',
    title: t(key),
    ...(at ? {} : { detail: t(absent) }),
  });
  return [
    entry('firstSteps.requested', progress.createdAt),
    // A sync finds the line without it.
    entry(
      'firstSteps.webhook',
      progress.webhookAt,
      progress.lineAt ? 'firstSteps.notNeeded' : 'firstSteps.awaited',
    ),
    entry('firstSteps.line', progress.lineAt),
    entry('firstSteps.match', progress.matchedAt),
    entry('firstSteps.event', progress.eventAt),
  ];
}

function Done({ progress }: { progress: ChargeProgress }) {
  const { t } = useVisit();
  const { correlationId: id, amountCents } = progress;
  return (
    <>
      <Message kind="good" is="state">
        {t('firstSteps.done', { id, amount: formatAmount(amountCents ?? 0n) })}
      </Message>
      <p>{t('firstSteps.next')}</p>
    </>
  );
}
