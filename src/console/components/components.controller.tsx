// The elements of the kit with their states, for those who build pages. With a real bank the page
// is not there.
import { Controller } from '@nestjs/common';
import { SandboxControl } from '../../bank/sandbox-control.service.js';
import { fieldError } from '../../bank-contract/field-errors.js';
import { AppError } from '../../platform/errors.js';
import {
  Amount,
  Badge,
  Card,
  Code,
  Empty,
  FactList,
  Timeline,
  Message,
  Button,
  ButtonLink,
  Cards,
  Hint,
  Id,
  Muted,
  Row,
  type Tone,
} from '../kit/elements.js';
import { Fields, FormCard, Step, type FormFields } from '../kit/form.js';
import { Icon } from '../kit/icon.js';
import { ListHead } from '../kit/list-head.js';
import { ListCard } from '../kit/list-page.js';
import { ListTable } from '../kit/table.js';
import { ConsolePage } from '../serving/console-page.decorator.js';
import { Shown, type PageAnswer } from '../page.js';

const here = '/console/components';
const tones: readonly Tone[] = ['good', 'bad', 'warn', 'plain'];
const rows = [
  { name: 'Comércio de Calçados Ltda', cents: 29_251n, tone: 'good' },
  { name: 'Maria da Silva', cents: -1_050n, tone: 'warn' },
] as const;

const fields: FormFields = {
  name: { label: 'word.name', hint: 'app.reason', required: true, maxLength: 100 },
  amount: { label: 'word.amount', is: 'amount' },
  day: { label: 'word.day', is: 'date' },
  choice: {
    label: 'app.any',
    is: 'choice',
    options: [
      ['yes', 'Sim'],
      ['no', 'Não'],
    ],
  },
  choices: {
    label: 'breaks.select',
    is: 'choices',
    options: [
      ['a', 'A'],
      ['b', 'B'],
    ],
  },
  check: { label: 'app.confirm', is: 'check' },
  lines: { label: 'word.metadata', is: 'lines' },
};
const values = { amount: '1.234,56', day: '2026-11-29', choices: ['a'], check: true };

/** What a refused form looks like. */
const problem = new AppError('validation_failed', {
  errors: { '$.amount': [fieldError('required')] },
});

@Controller()
export class ComponentsPage {
  constructor(private readonly sandbox: SandboxControl) {}

  @ConsolePage('/console/components', 'session')
  show(): PageAnswer {
    if (!this.sandbox.isOffered) throw new AppError('not_found');
    return new Shown(
      'Components',
      <>
        <Notices />
        <Cards>
          <Facts />
          <Controls />
        </Cards>
        <List />
        <FormCard
          {...{ fields, values, problem, action: here }}
          title="app.confirm"
          intro="error.400"
          button="app.save"
          asksReason
        />
      </>,
    );
  }
}

function Notices() {
  return (
    <>
      {(['good', 'warn', 'bad'] as const).map((kind) => (
        <Message kind={kind}>
          <Icon name={kind === 'good' ? 'circle-check' : 'circle-alert'} /> {kind}
        </Message>
      ))}
      <Muted>Muted</Muted>
    </>
  );
}

function Facts() {
  const at = new Date('2026-11-29T12:00:00Z');
  return (
    <>
      <FactList
        title="word.facts"
        facts={[
          ['word.amount', <Amount cents={123_456n} />],
          ['word.status', tones.map((tone) => <Badge tone={tone} text={tone} />)],
          ['list.id', <Id>01hx2b9kq3</Id>],
        ]}
      />
      <Card title="Timeline">
        <Timeline
          entries={tones.map((tone) => ({ at, tone, title: tone, detail: <Hint>Hint</Hint> }))}
        />
      </Card>
    </>
  );
}

function Controls() {
  return (
    <>
      <Card title="Buttons">
        <Row>
          <button type="button">Main</button>
          <button type="button" disabled>
            Disabled
          </button>
          <Button is="plain" type="button">
            Plain
          </Button>
          <Button is="danger" type="button">
            Danger
          </Button>
          <ButtonLink href={here}>Link</ButtonLink>
        </Row>
        <Step {...{ action: here, button: 'app.confirm', hint: 'app.reason' }} asksReason />
      </Card>
      <Card title="Code">
        <Code text={'{\n  "amount": 10.50\n}'} />
        <Empty>Empty</Empty>
        <Fields fields={{ search: { label: 'app.filter' } }} />
      </Card>
    </>
  );
}

function List() {
  return (
    <ListCard>
      <ListHead
        {...{ filters: [], defaults: {}, orders: [], views: [] }}
        total={{ count: 1_234, isComplete: true, creditCents: 1_234_567n, debitCents: 200_000n }}
      />
      <ListTable
        {...{ rows, name: 'breaks.list' }}
        columns={{
          'word.counterparty': { wide: ({ name }) => <a href={here}>{name}</a> },
          'word.amount': { cents: ({ cents }) => cents, isOrder: true },
          'word.status': ({ tone }) => <Badge tone={tone} text={tone} />,
        }}
      />
    </ListCard>
  );
}
