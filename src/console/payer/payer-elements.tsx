// The forms of the payer and of the sandbox bank, and the records that react to them.
import type { JSX } from 'preact';
import type { Cents } from '../../brazil/cents.js';
import { Amount, Badge, Card, Empty, type Tone } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { DataTable, Field, Form, Message } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { findTextKey, type TextKey } from '../texts.js';
import { pathTo } from '../visit.js';
import type { BankState } from './bank-state.js';
import { clockSteps, faultNames, modeNames, switchableModes } from './sandbox-options.js';

export interface PayerRecords {
  charges: readonly { correlationId: string; settlement: string; amount: Cents | null }[];
  lines: readonly {
    nsu: bigint;
    amountCents: Cents;
    isCredit: boolean;
    typeName: string;
    state: string;
    occurredAt: Date;
  }[];
}

export interface PayerPageProps {
  visit: Visit;
  bank: BankState;
  records: PayerRecords;
  done: TextKey | null;
  problem: { key: TextKey; reason: string | null } | null;
}

export function PayerForms({ visit, bank, records, done, problem }: PayerPageProps): JSX.Element {
  const { t } = visit;
  return (
    <>
      <p>{t('payer.why')}</p>
      {done && <Message kind="good">{t(done)}</Message>}
      {problem && (
        <Message kind="bad">
          {t(problem.key)} {problem.reason && <code>{problem.reason}</code>}
        </Message>
      )}
      <div class="beside">
        <div>
          <ScanForm visit={visit} />
          <SendForm visit={visit} />
          <LineForm visit={visit} />
          <Clock visit={visit} clock={bank.clock} />
          <Faults visit={visit} faults={bank.faults.faults} />
          <Modes visit={visit} modes={bank.modes} />
        </div>
        <Records visit={visit} records={records} />
      </div>
    </>
  );
}

function ScanForm({ visit }: { visit: Visit }) {
  const { t } = visit;
  return (
    <Card title={t('payer.scan')}>
      <Form visit={visit} action={pathTo(visit, 'payer/scan')}>
        <label>
          {t('payer.code')}
          <span class="hint"> {t('payer.codeHint')}</span>
          <textarea name="code" required rows={3} spellcheck={false}></textarea>
        </label>
        <div class="row">
          <AmountField visit={visit} hint="payer.amountHint" />
          <button>{t('payer.pay')}</button>
        </div>
      </Form>
    </Card>
  );
}

function SendForm({ visit }: { visit: Visit }) {
  const { t } = visit;
  return (
    <Card title={t('payer.send')}>
      <p class="hint">{t('payer.sendWhy')}</p>
      <Form visit={visit} action={pathTo(visit, 'payer/send')}>
        <div class="row">
          <AmountField visit={visit} required />
          <Field label={t('payer.name')} name="name" maxlength={200} autocomplete="off" />
          <Field label={t('payer.document')} name="document" maxlength={18} autocomplete="off" />
          <button>{t('payer.sendPix')}</button>
        </div>
      </Form>
    </Card>
  );
}

function LineForm({ visit }: { visit: Visit }) {
  const { t } = visit;
  return (
    <Card title={t('payer.line')}>
      <p class="hint">{t('payer.lineWhy')}</p>
      <Form visit={visit} action={pathTo(visit, 'payer/line')}>
        <div class="row">
          <AmountField visit={visit} required />
          <label>
            {t('payer.direction')}
            <select name="direction">
              <option value="debit">{t('payer.debit')}</option>
              <option value="credit">{t('payer.credit')}</option>
            </select>
          </label>
          <Field label={t('payer.typeName')} name="typeName" maxlength={60} />
          <button>{t('payer.post')}</button>
        </div>
      </Form>
    </Card>
  );
}

function AmountField({
  visit: { t },
  hint,
  required = false,
}: {
  visit: Visit;
  hint?: TextKey;
  required?: boolean;
}) {
  return (
    <Field
      label={t('payer.amount')}
      {...(hint ? { hint: t(hint) } : {})}
      name="amount"
      inputmode="decimal"
      {...{ required }}
      autocomplete="off"
    />
  );
}

function Clock({ visit, clock }: { visit: Visit; clock: BankState['clock'] }) {
  const { t, language } = visit;
  const action = pathTo(visit, 'payer/clock');
  return (
    <Card title={t('payer.clock')}>
      <p>
        {formatTime(new Date(clock.now), language)}{' '}
        {clock.frozen && <Badge tone="warn" text={t('payer.frozen')} />}
      </p>
      <div class="row">
        {clockSteps.map((step) => (
          <Form visit={visit} action={action}>
            <input type="hidden" name="advance" value={step} />
            <button class="plain">{t(`payer.advance.${step}`)}</button>
          </Form>
        ))}
        <Form visit={visit} action={action}>
          <input type="hidden" name="frozen" value={clock.frozen ? 'no' : 'yes'} />
          <button class="plain">{t(clock.frozen ? 'payer.unfreeze' : 'payer.freeze')}</button>
        </Form>
      </div>
      <p class="hint">{t('payer.clockWhy')}</p>
    </Card>
  );
}

function Faults({ visit, faults }: { visit: Visit; faults: BankState['faults']['faults'] }) {
  const { t } = visit;
  const nameOf = (kind: string) => {
    const key = findTextKey(`fault.${kind}`);
    return key ? t(key) : <code>{kind}</code>;
  };
  return (
    <Card title={t('payer.faults')}>
      <p class="hint">{t('payer.faultsWhy')}</p>
      <Form visit={visit} action={pathTo(visit, 'payer/fault')}>
        <div class="row">
          <label>
            {t('payer.fault')}
            <select name="kind">
              {faultNames.map((kind) => (
                <option value={kind}>{t(`fault.${kind}`)}</option>
              ))}
            </select>
          </label>
          <Field label={t('payer.times')} name="times" type="number" min="1" max="100" value="1" />
          <button>{t('payer.addFault')}</button>
        </div>
      </Form>
      {faults.length > 0 && (
        <ul>
          {faults.map(({ id, kind, times, fired }) => (
            <li class="row">
              <span>
                {nameOf(kind)}: {t('payer.fired', { fired, times: times ?? '∞' })}
              </span>
              <Form visit={visit} action={pathTo(visit, `payer/faults/${id}/remove`)}>
                <button class="plain">{t('payer.removeFault')}</button>
              </Form>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Modes({ visit, modes }: { visit: Visit; modes: BankState['modes'] }) {
  const { t } = visit;
  return (
    <section class="card">
      <details>
        <summary>
          <h2>{t('payer.modes')}</h2>
        </summary>
        <p class="hint">{t('payer.modesWhy')}</p>
        {modeNames.map((name) => (
          <Form visit={visit} action={pathTo(visit, 'payer/mode')}>
            <input type="hidden" name="mode" value={name} />
            <div class="row">
              <label>
                {t(`mode.${name}`)}
                <select name="value">
                  {switchableModes[name].map((value) => (
                    <option value={value} selected={modes[name] === value}>
                      {t(`modeValue.${value}`)}
                    </option>
                  ))}
                </select>
              </label>
              <button class="plain">{t('app.save')}</button>
            </div>
          </Form>
        ))}
      </details>
    </section>
  );
}

const tones: Record<string, Tone> = {
  ...{ matched: 'good', classified: 'good', in_break: 'bad', pending: 'warn' },
  ...{ settled: 'good', partially_settled: 'warn', overpaid: 'bad', refunded: 'warn' },
};

/** Replaces itself every two seconds. */
export function Records({ visit, records }: { visit: Visit; records: PayerRecords }): JSX.Element {
  const { t } = visit;
  return (
    <div
      id="records"
      hx-get={pathTo(visit, 'payer/records')}
      hx-trigger="every 2s"
      hx-swap="outerHTML"
    >
      <Card title={t('payer.charges')}>
        {records.charges.length === 0 ? (
          <Empty>{t('payer.noCharges')}</Empty>
        ) : (
          <Charges visit={visit} charges={records.charges} />
        )}
      </Card>
      <Card title={t('payer.lines')}>
        {records.lines.length === 0 ? (
          <Empty>{t('payer.noLines')}</Empty>
        ) : (
          <Lines visit={visit} lines={records.lines} />
        )}
      </Card>
    </div>
  );
}

function Charges({ visit, charges }: { visit: Visit; charges: PayerRecords['charges'] }) {
  const { t } = visit;
  return (
    <DataTable
      visit={visit}
      name={t('payer.charges')}
      columns={['payer.charge', 'payer.amount', 'payer.state', 'payer.pay']}
      numbers={['payer.amount']}
    >
      {charges.map(({ correlationId, settlement, amount }) => (
        <tr>
          <td class="wide">
            <a href={pathTo(visit, `charges/${encodeURIComponent(correlationId)}`)}>
              {correlationId}
            </a>
          </td>
          <td class="number">{amount === null ? t('app.none') : <Amount cents={amount} />}</td>
          <td>
            <State visit={visit} state={settlement} />
          </td>
          <td>
            <Form visit={visit} action={pathTo(visit, 'payer/pay')}>
              <input type="hidden" name="correlationId" value={correlationId} />
              <button class="plain" aria-label={t('payer.payCharge', { correlationId })}>
                {t('payer.pay')}
              </button>
            </Form>
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

function Lines({ visit, lines }: { visit: Visit; lines: PayerRecords['lines'] }) {
  const { t, language } = visit;
  return (
    <DataTable
      visit={visit}
      name={t('payer.lines')}
      columns={['payer.nsu', 'payer.when', 'payer.amount', 'payer.state']}
      numbers={['payer.amount']}
    >
      {lines.map(({ nsu, occurredAt, amountCents, isCredit, typeName, state }) => (
        <tr>
          <td>
            <a href={pathTo(visit, `statement/${nsu}`)}>{String(nsu)}</a>
          </td>
          <td class="wide">
            {formatTime(occurredAt, language)} <code>{typeName}</code>
          </td>
          <td class="number">
            <Amount cents={isCredit ? amountCents : -amountCents} />
          </td>
          <td>
            <State visit={visit} state={state} />
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

function State({ visit: { t }, state }: { visit: Visit; state: string }) {
  const key = findTextKey(`payer.state.${state}`);
  return <Badge tone={tones[state] ?? 'plain'} text={key ? t(key) : state} />;
}
