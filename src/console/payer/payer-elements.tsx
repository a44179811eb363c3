// The forms of the payer and of the sandbox bank, and the records that react to them.
import type { Cents } from '../../brazil/cents.js';
import {
  Amount,
  Badge,
  Card,
  Movement,
  Message,
  Beside,
  Button,
  Hint,
  Row,
  type Tone,
} from '../kit/elements.js';
import { Fields, FormCard, Hidden, Step, Form, type FormFields } from '../kit/form.js';
import { ListTable, TableCard } from '../kit/table.js';
import { useVisit, type Visit } from '../visit.js';
import { type TextKey, wordOf } from '../texts.js';
import type { BankState } from './bank-state.js';
import {
  clockSteps,
  faultNames,
  modeNames,
  switchableModes,
  type SwitchableMode,
} from './sandbox-options.js';

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
  bank: BankState;
  records: PayerRecords;
  done: TextKey | null;
  problem: { key: TextKey; reason: string | null } | null;
}

export function PayerForms({ bank, records, done, problem }: PayerPageProps) {
  const { t } = useVisit();
  return (
    <>
      <p>{t('payer.why')}</p>
      {done && <Message kind="good">{t(done)}</Message>}
      {problem && (
        <Message kind="bad">
          {t(problem.key)} {problem.reason && <code>{problem.reason}</code>}
        </Message>
      )}
      <Beside>
        <div>
          <Payments />
          <Clock clock={bank.clock} />
          <Faults faults={bank.faults.faults} />
          <Modes modes={bank.modes} />
        </div>
        <Records records={records} />
      </Beside>
    </>
  );
}

const amountField = { label: 'word.amount', is: 'amount' } as const;
const scanFields: FormFields = {
  code: { label: 'word.code', hint: 'payer.codeHint', is: 'lines', required: true },
  amount: { ...amountField, hint: 'payer.amountHint' },
};
const sendFields: FormFields = {
  amount: { ...amountField, required: true },
  name: { label: 'word.payerName', maxLength: 200 },
  document: { label: 'word.taxId', maxLength: 18 },
};
const lineFields = ({ t }: Visit): FormFields => ({
  amount: { ...amountField, required: true },
  direction: {
    label: 'word.direction',
    is: 'choice',
    options: (['debit', 'credit'] as const).map((one) => [one, t(`payer.${one}`)]),
  },
  typeName: { label: 'payer.typeName', maxLength: 60 },
});

function Payments() {
  const visit = useVisit();
  return (
    <>
      <FormCard
        action={visit.to('payer/scan')}
        title="payer.scan"
        fields={scanFields}
        button="payer.pay"
      />
      <FormCard
        action={visit.to('payer/send')}
        title="payer.send"
        intro="payer.sendWhy"
        fields={sendFields}
        button="payer.sendPix"
      />
      <FormCard
        action={visit.to('payer/line')}
        title="payer.line"
        intro="payer.lineWhy"
        fields={lineFields(visit)}
        button="payer.post"
      />
    </>
  );
}

function Clock({ clock }: { clock: BankState['clock'] }) {
  const { t, time, to } = useVisit();
  const action = to('payer/clock');
  return (
    <Card title={t('payer.clock')}>
      <p>
        {time(new Date(clock.now))} {clock.frozen && <Badge tone="warn" text={t('payer.frozen')} />}
      </p>
      <Row>
        {clockSteps.map((advance) => (
          <Step {...{ action, button: `payer.advance.${advance}`, hidden: { advance } }} />
        ))}
        <Step
          {...{ action, button: clock.frozen ? 'payer.unfreeze' : 'payer.freeze' }}
          hidden={{ frozen: clock.frozen ? 'no' : 'yes' }}
        />
      </Row>
      <Hint isBlock>{t('payer.clockWhy')}</Hint>
    </Card>
  );
}

function Faults({ faults }: { faults: BankState['faults']['faults'] }) {
  const { t, to } = useVisit();
  const fields: FormFields = {
    kind: {
      label: 'payer.fault',
      is: 'choice',
      options: faultNames.map((kind) => [kind, t(`fault.${kind}`)]),
    },
    times: { label: 'payer.times', is: 'number', min: 1, max: 100 },
  };
  return (
    <Card title={t('payer.faults')}>
      <Hint isBlock>{t('payer.faultsWhy')}</Hint>
      <Form action={to('payer/fault')}>
        <Fields {...{ fields, values: { times: 1 } }} />
        <button>{t('payer.addFault')}</button>
      </Form>
      {faults.length > 0 && (
        <ul>
          {faults.map(({ id, kind, times, fired }) => (
            <li>
              <Row>
                <span>
                  {wordOf(t, 'fault', kind)}: {t('payer.fired', { fired, times: times ?? '∞' })}
                </span>
                <Step action={to(`payer/faults/${id}/remove`)} button="payer.removeFault" />
              </Row>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Modes({ modes }: { modes: BankState['modes'] }) {
  const { t, to } = useVisit();
  const fieldsOf = (name: SwitchableMode): FormFields => ({
    value: {
      label: `mode.${name}`,
      is: 'choice',
      options: switchableModes[name].map((value) => [value, t(`modeValue.${value}`)]),
    },
  });
  return (
    <Card>
      <details>
        <summary>
          <h2>{t('payer.modes')}</h2>
        </summary>
        <Hint isBlock>{t('payer.modesWhy')}</Hint>
        {modeNames.map((name) => (
          <Form action={to('payer/mode')}>
            <Hidden values={{ mode: name }} />
            <Fields
              {...{ isSent: false, fields: fieldsOf(name) }}
              values={{ value: String(modes[name]) }}
            />
            <Button is="plain">{t('app.save')}</Button>
          </Form>
        ))}
      </details>
    </Card>
  );
}

const tones: Record<string, Tone> = {
  ...{ matched: 'good', classified: 'good', in_break: 'bad', pending: 'warn' },
  ...{ settled: 'good', partially_settled: 'warn', overpaid: 'bad', refunded: 'warn' },
};

/** Replaces itself every two seconds. */
export function Records({ records }: { records: PayerRecords }) {
  const { t, to } = useVisit();
  return (
    <div id="records" hx-get={to('payer/records')} hx-trigger="every 2s" hx-swap="outerHTML">
      <TableCard
        {...{ rows: records.charges, title: 'payer.charges', empty: 'payer.noCharges' }}
        columns={{
          'payer.charge': {
            wide: ({ correlationId }) => (
              <a href={to(`charges/${encodeURIComponent(correlationId)}`)}>{correlationId}</a>
            ),
          },
          'word.amount': {
            is: 'number',
            cell: ({ amount }) => (amount === null ? null : <Amount cents={amount} />),
          },
          'word.status': ({ settlement }) => <State of="payer.state" state={settlement} />,
          'payer.pay': ({ correlationId }) => (
            <Form action={to('payer/pay')}>
              <Hidden values={{ correlationId }} />
              <Button is="plain" aria-label={t('payer.payCharge', { correlationId })}>
                {t('payer.pay')}
              </Button>
            </Form>
          ),
        }}
      />
      <Card title={t('payer.lines')}>
        <Lines lines={records.lines} />
      </Card>
    </div>
  );
}

function Lines({ lines }: { lines: PayerRecords['lines'] }) {
  const { time, to } = useVisit();
  return (
    <ListTable
      {...{ rows: lines, name: 'payer.lines', empty: 'payer.noLines' }}
      columns={{
        'word.nsu': ({ nsu }) => <a href={to(`statement/${nsu}`)}>{String(nsu)}</a>,
        'word.when': {
          wide: ({ occurredAt, typeName }) => (
            <>
              {time(occurredAt)} <code>{typeName}</code>
            </>
          ),
        },
        'word.amount': { is: 'number', cell: (line) => <Movement of={line} /> },
        'word.status': ({ state }) => <State of="line.state" state={state} />,
      }}
    />
  );
}

function State({ of, state }: { of: 'payer.state' | 'line.state'; state: string }) {
  const { t } = useVisit();
  return <Badge tone={tones[state] ?? 'plain'} text={wordOf(t, of, state)} />;
}
