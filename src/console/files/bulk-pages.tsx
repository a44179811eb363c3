// The elements of the pages of uploads. Parts of them refresh themselves while rows are issued.
import type { VNode } from 'preact';
import { fieldMessage } from '../../bank-contract/field-errors.js';
import type { BulkKind, CheckedFile } from '../../outbound/bulk/bulk.schema.js';
import type { ForeignTable } from '../../outbound/bulk/upload-columns.service.js';
import type { Upload } from '../../outbound/bulk/uploads.service.js';
import { buttonText, MoneyCard, type Money } from '../kit/confirm-money.js';
import { badgeOf, Badge, Card, FactList, Pager, Message, Hint } from '../kit/elements.js';
import { formatAmount, formatCount } from '../formats.js';
import { Fields, Hidden, Step, Form, type FormFields, type HiddenValues } from '../kit/form.js';
import { ListCard, refreshing } from '../kit/list-page.js';
import { ListTable, type ListColumns, TableCard } from '../kit/table.js';
import type { Balances } from '../balances.queries.js';
import { ForVisit, useVisit, type Visit } from '../visit.js';
import { fieldErrorsIn, reasonKey } from '../problems.js';
import { findTextKey, type TextKey } from '../texts.js';
import { UsedColumns } from './bulk-columns.js';
import type { ResultRow } from './bulk-result.js';

/** What the last form on the page has led to. */
export interface UploadOutcome {
  problem?: string;
  status?: number;
  checked?: CheckedUpload;
}

export interface CheckedUpload {
  file: CheckedFile;
  kind: BulkKind;
  /** What a form carries of the file. */
  step: HiddenValues;
  /** Of a file that sends money. */
  sent: SentByFile | undefined;
  /** Of a file whose columns were mapped. */
  table: ForeignTable | null;
}

export interface SentByFile {
  money: Money;
  balances: Balances;
}

const kinds: readonly BulkKind[] = ['charges', 'transfers', 'expected_payments'];
const rowStates = ['pending', 'accepted', 'rejected', 'invalid'] as const;
const tones = { pending: 'plain', accepted: 'good', rejected: 'bad', invalid: 'bad' } as const;
const RowState = badgeOf('bulk.row', tones);
const UploadState = badgeOf('bulk.state', { running: 'warn', finished: 'good' });

interface Parts {
  body: VNode;
  /** What a refresh replaces. */
  part: VNode;
}

/** What stands above the list of uploads. */
export function UploadsIntro({ outcome: { problem, checked } }: { outcome: UploadOutcome }) {
  const { may, t } = useVisit();
  return (
    <>
      <p>{t('bulk.intro')}</p>
      {problem !== undefined && <Message kind="bad">{problem}</Message>}
      {checked && <Checked {...checked} />}
      {may('upload files') && <UploadForm />}
    </>
  );
}

function UploadForm() {
  const visit = useVisit();
  const { t } = visit;
  const path = visit.to('bulk');
  return (
    <Card title={t('bulk.upload')}>
      <Form action={`${path}/check`} hasFile>
        <details>
          <summary>{t('bulk.options')}</summary>
          <Fields fields={readingFields(visit)} values={{ kind: visit.query.get('kind') }} />
        </details>
        <Fields fields={fileField} />
        <Hint isBlock>{t('bulk.submitWhy')}</Hint>
        <button>{t('bulk.check')}</button>
      </Form>
      <Hint isBlock>
        {t('bulk.examples')}{' '}
        {kinds.map((kind) => (
          <>
            <a href={`${path}/examples/${kind}`}>{t(`bulk.kind.${kind}`)}</a>{' '}
          </>
        ))}
      </Hint>
    </Card>
  );
}

const sendButton = { one: 'money.send', many: 'money.sendAll' } as const;

/** It is the last of the form: what follows it is not read. */
const fileField: FormFields = {
  file: {
    ...{ label: 'bulk.file', hint: 'bulk.fileHint', is: 'file', required: true },
    accept: '.csv,.xlsx,.ndjson,.jsonl',
  },
};

function readingFields({ t }: Visit): FormFields {
  return {
    kind: {
      ...{ label: 'bulk.kind', is: 'choice' },
      options: [
        ['', t('bulk.kind.byColumns')],
        ...kinds.map((kind) => [kind, t(`bulk.kind.${kind}`)] as const),
      ],
    },
    sheet: { label: 'bulk.sheet', hint: 'bulk.sheetHint', maxLength: 100 },
    hidden: {
      ...{ label: 'bulk.hidden', is: 'choice' },
      options: (['', 'include', 'skip'] as const).map((one) => [
        one,
        t(`bulk.hidden.${one || 'refuse'}`),
      ]),
    },
  };
}

function Checked(upload: CheckedUpload) {
  const { t, language } = useVisit();
  const { file, kind, table, step } = upload;
  const { rows, invalid, errors } = file;
  const values = { rows: formatCount(rows), invalid: formatCount(invalid) };
  const key = invalid === 0 ? 'bulk.checkedGood' : 'bulk.checkedBad';
  return (
    <>
      <Message kind={invalid === 0 ? 'good' : 'bad'}>
        {t(`bulk.kind.${kind}`)}. {t(key, values)}
      </Message>
      <CheckedPayees {...upload} />
      {invalid > 0 && (
        <Card title={t('bulk.firstErrors', { count: formatCount(errors.length) })}>
          <ListTable
            {...{ rows: errors, name: 'bulk.errors' }}
            columns={{
              ...rowColumns,
              'bulk.errors': { wide: (row) => fieldErrorsIn(language, row.errors ?? {}).join(' ') },
            }}
          />
        </Card>
      )}
      {rows > invalid && <SendForm {...upload} />}
      {table && <UsedColumns {...{ table, step }} />}
    </>
  );
}

/** The file that was checked, and no other. */
function SendForm({ file: { hash, rows, invalid }, step, sent }: CheckedUpload) {
  const visit = useVisit();
  const count = formatCount(rows - invalid);
  return (
    <Card title={visit.t('word.confirm')}>
      <Form action={visit.to('bulk')} shown={hash}>
        <Hidden values={{ ...step, hash }} />
        <button>
          {sent
            ? buttonText(visit, { money: sent.money, button: sendButton })
            : visit.t('bulk.store', { count })}
        </button>
      </Form>
    </Card>
  );
}

/** Of a row of the file. */
const rowColumns: ListColumns<{ line: number; reference: string | null }> = {
  'bulk.line': ({ line }) => formatCount(line),
  'bulk.reference': { wide: ({ reference }) => reference },
};

/** What the valid rows would pay or request, and of whom. */
function CheckedPayees({ file, sent }: CheckedUpload) {
  const { rows, invalid, total, payees, payeeCount, hash } = file;
  return (
    <>
      <FactList
        title="bulk.wouldIssue"
        facts={[
          ['bulk.total', formatCount(rows - invalid)],
          ['bulk.sum', formatAmount(total)],
          ['bulk.payees', formatCount(payeeCount)],
          ['bulk.hash', hash],
        ]}
      />
      {sent ? (
        <MoneyCard {...sent} title="bulk.largestPayees" />
      ) : (
        <TableCard
          {...{ rows: payees, title: 'bulk.largestPayees' }}
          columns={{
            'word.counterparty': { wide: ({ name }) => name || null },
            'bulk.rows': { count: (payee) => payee.rows },
            'bulk.sum': { is: 'number', cell: (payee) => formatAmount(payee.total) },
          }}
        />
      )}
    </>
  );
}

export function uploadColumns(visit: Visit): ListColumns<Upload> {
  return {
    'bulk.createdAt': {
      at: ({ createdAt }) => createdAt,
      href: ({ id }) => visit.to(`bulk/${id}`),
      isOrder: true,
    },
    'bulk.kind': ({ kind }) => visit.t(`bulk.kind.${kind}`),
    'word.status': ({ state }) => <UploadState state={state} />,
    'bulk.progress': (upload) => <Progress upload={upload} />,
    'bulk.rows': (upload) => <CountBadges upload={upload} />,
  };
}

function Progress({ upload: { rows, counts } }: { upload: Upload }) {
  const { t } = useVisit();
  const done = rows - counts.pending;
  const text = t('bulk.progressOf', { done: formatCount(done), rows: formatCount(rows) });
  return (
    <>
      <progress value={done} max={rows} aria-label={t('bulk.progress')}>
        {text}
      </progress>
      <Hint isBlock>{text}</Hint>
    </>
  );
}

function CountBadges({ upload: { counts } }: { upload: Upload }) {
  const { t } = useVisit();
  return (
    <>
      {rowStates
        .filter((state) => counts[state] > 0)
        .map((state) => (
          <>
            <Badge
              tone={tones[state]}
              text={`${t(`bulk.count.${state}`)}: ${formatCount(counts[state])}`}
            />{' '}
          </>
        ))}
    </>
  );
}

interface UploadPageProps extends UploadDetailProps {
  /** How many rows await approval by this person or another. */
  waiting: number;
}

export function uploadPage(visit: Visit, { upload, rows, next, waiting }: UploadPageProps): Parts {
  const part = <UploadDetail upload={upload} rows={rows} next={next} />;
  const body = (
    <>
      {waiting > 0 && <WaitingRows upload={upload} waiting={waiting} />}
      {part}
      {visit.may('take files') && <ResultForm upload={upload} />}
    </>
  );
  return { body, part };
}

interface UploadDetailProps {
  upload: Upload;
  rows: readonly ResultRow[];
  next: string | null;
}

function UploadDetail({ upload, rows, next }: UploadDetailProps) {
  const visit = useVisit();
  const { t, time } = visit;
  const page = `bulk/${upload.id}`;
  const shown = { ...visit, path: visit.to(page) };
  const count = (key: TextKey, value: number) => [key, formatCount(value)] as const;
  return (
    <div id="upload" {...(upload.state === 'running' && refreshing(shown))}>
      <Card title={t('bulk.progress')}>
        <p>
          <UploadState state={upload.state} />
        </p>
        <Progress upload={upload} />
      </Card>
      <FactList
        title="word.summary"
        facts={[
          ['bulk.createdAt', time(upload.createdAt)],
          ['bulk.finishedAt', time(upload.finishedAt)],
          count('bulk.total', upload.rows),
          ...rowStates.map((state) => count(`bulk.count.${state}`, upload.counts[state])),
        ]}
      />
      <Card title={t('bulk.rows')}>
        <StateLinks page={page} />
        <Rows rows={rows} />
        <ForVisit visit={shown}>
          <Pager next={next} />
        </ForVisit>
      </Card>
    </div>
  );
}

function StateLinks({ page }: { page: string }) {
  const { t, to, query } = useVisit();
  const chosen = query.get('state') ?? '';
  const links = [
    ['', t('bulk.allRows')] as const,
    ...rowStates.map((state) => [state, t(`bulk.count.${state}`)] as const),
  ];
  return (
    <nav aria-label={t('word.status')}>
      <ul>
        {links.map(([state, text]) => (
          <li>
            <a
              href={to(state === '' ? page : `${page}?state=${state}`)}
              aria-current={chosen === state ? 'page' : undefined}
            >
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Rows({ rows }: { rows: readonly ResultRow[] }) {
  const visit = useVisit();
  const { t } = visit;
  return (
    <ListTable
      {...{ rows, name: 'bulk.rows', empty: 'bulk.noRows' }}
      columns={{
        ...rowColumns,
        'word.status': ({ state }) => <RowState state={state as keyof typeof tones} />,
        'word.operation': ({ operationId: id }) =>
          id && <a href={visit.to(`operations/${id}`)}>{t('bulk.openOperation')}</a>,
        'bulk.errors': { wide: (row) => errorOf(visit, row) },
      }}
    />
  );
}

/** The code in words, and what is wrong with which field. */
function errorOf({ t, language }: Visit, { state, code, errors, operationId }: ResultRow): string {
  if (code === null && errors === null) return '';
  if (state === 'invalid')
    return `${t('rowError.validation_failed')}. ${fieldErrorsIn(language, errors ?? {}).join(' ')}`;
  const key = findTextKey(`rowError.${code}`) ?? reasonKey(code, 'payment.problem');
  if (key) return t(key);
  const reason = code === null ? t('rowError.bank') : t('rowError.other', { code });
  // What the bank said of an operation stays in its own words.
  const said =
    operationId === null
      ? []
      : Object.values(errors ?? {})
          .flat()
          .map(fieldMessage);
  return [reason, ...said.map((one) => `“${one}”`)].join('. ');
}

/** They are decided where each payment is shown. */
function WaitingRows({ upload, waiting }: { upload: Upload; waiting: number }) {
  const { t, to } = useVisit();
  return (
    <Message kind="warn">
      {t('bulk.waiting', { count: formatCount(waiting) })}{' '}
      <a href={to(`approvals/uploads/${upload.id}`)}>{t('word.decide')}</a>
    </Message>
  );
}

function ResultForm({ upload }: { upload: Upload }) {
  const { to } = useVisit();
  return (
    <ListCard>
      <Step action={to(`bulk/${upload.id}/result`)} button="bulk.result" hint="bulk.resultWhy" />
    </ListCard>
  );
}
