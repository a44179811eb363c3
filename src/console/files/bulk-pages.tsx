// The elements of the pages of uploads. Parts of them refresh themselves while rows are issued.
import type { VNode } from 'preact';
import { fieldMessage } from '../../bank-contract/field-errors.js';
import type { BulkKind, CheckedFile } from '../../outbound/bulk/bulk.schema.js';
import type { Upload } from '../../outbound/bulk/uploads.service.js';
import { Badge, Card, Empty, FactList, Pager, type Tone } from '../kit/elements.js';
import { formatAmount, formatCount, formatTime } from '../formats.js';
import { DataTable, Field, Form, Message } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { fieldErrorsIn } from '../problems.js';
import { findTextKey, type TextKey } from '../texts.js';
import { isAllowedTo, pathTo } from '../visit.js';
import type { ResultRow } from './bulk-result.js';

/** What the last form on the page has led to. */
export interface UploadOutcome {
  problem?: string;
  checked?: CheckedFile;
}

const kinds: readonly BulkKind[] = ['charges', 'transfers', 'expected_payments'];
const rowStates = ['pending', 'accepted', 'rejected', 'invalid'] as const;
const tones: Record<(typeof rowStates)[number], Tone> = {
  pending: 'plain',
  accepted: 'good',
  rejected: 'bad',
  invalid: 'bad',
};
const refreshEvery = 'every 2s';

interface Parts {
  body: VNode;
  /** What a refresh replaces. */
  part: VNode;
}

export function UploadsPage({
  visit,
  uploads,
  next,
  outcome,
}: {
  visit: Visit;
  uploads: readonly Upload[];
  next: string | null;
  outcome: UploadOutcome;
}): Parts {
  const { t } = visit;
  const mayUpload = isAllowedTo(visit, 'upload files');
  const part = <Uploads visit={visit} uploads={uploads} next={next} mayUpload={mayUpload} />;
  const { problem, checked } = outcome;
  const body = (
    <>
      <p>{t('bulk.intro')}</p>
      {problem !== undefined && <Message kind="bad">{problem}</Message>}
      {checked && <Checked visit={visit} checked={checked} />}
      {mayUpload && <UploadForm visit={visit} checked={checked} />}
      {part}
    </>
  );
  return { body, part };
}

function UploadForm({ visit, checked }: { visit: Visit; checked: CheckedFile | undefined }) {
  const { t } = visit;
  const path = pathTo(visit, 'bulk');
  const chosen = visit.form.get('kind') ?? visit.query.get('kind');
  // A refused upload stays tied to the check before it.
  const hash = checked?.hash ?? visit.form.get('hash');
  return (
    <Card title={t('bulk.upload')}>
      <Form visit={visit} action={`${path}/check`} hasFile>
        <label>
          {t('bulk.kind')}
          <select name="kind">
            {kinds.map((kind) => (
              <option value={kind} selected={kind === chosen}>
                {t(`bulk.kind.${kind}`)}
              </option>
            ))}
          </select>
        </label>
        <Field
          label={t('bulk.file')}
          hint={t('bulk.fileHint')}
          name="file"
          type="file"
          accept=".csv,.xlsx,.ndjson,.jsonl"
          required
        />
        <SheetFields visit={visit} />
        {hash && <input type="hidden" name="hash" value={hash} />}
        <p class="hint">{t('bulk.submitWhy')}</p>
        <div class="row">
          <button>{t('bulk.check')}</button>
          <button class="plain" formAction={path}>
            {t('bulk.store')}
          </button>
        </div>
      </Form>
      <p class="hint">
        {t('bulk.examples')}{' '}
        {kinds.map((kind) => (
          <>
            <a href={`${path}/examples/${kind}`}>{t(`bulk.kind.${kind}`)}</a>{' '}
          </>
        ))}
      </p>
    </Card>
  );
}

/** What of an XLSX file is read. */
function SheetFields({ visit: { t, form } }: { visit: Visit }) {
  return (
    <>
      <Field
        label={t('bulk.sheet')}
        hint={t('bulk.sheetHint')}
        name="sheet"
        value={form.get('sheet') ?? ''}
        maxLength={100}
      />
      <label>
        {t('bulk.hidden')}
        <select name="hidden">
          {(['', 'include', 'skip'] as const).map((value) => (
            <option value={value} selected={value === form.get('hidden')}>
              {t(`bulk.hidden.${value || 'refuse'}`)}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

function Checked({ visit, checked }: { visit: Visit; checked: CheckedFile }) {
  const { t, language } = visit;
  const { rows, invalid, errors } = checked;
  const values = { rows: formatCount(rows), invalid: formatCount(invalid) };
  if (invalid === 0)
    return (
      <>
        <Message kind="good">{t('bulk.checkedGood', values)}</Message>
        <CheckedPayees visit={visit} checked={checked} />
      </>
    );
  const name = t('bulk.firstErrors', { count: formatCount(errors.length) });
  return (
    <>
      <Message kind="bad">{t('bulk.checkedBad', values)}</Message>
      <CheckedPayees visit={visit} checked={checked} />
      <Card title={name}>
        <DataTable
          visit={visit}
          name={name}
          columns={['bulk.line', 'bulk.reference', 'bulk.errors']}
        >
          {errors.map((row) => (
            <tr>
              <td>{formatCount(row.line)}</td>
              <td class="wide">{row.reference ?? t('app.none')}</td>
              <td class="wide">{fieldErrorsIn(language, row.errors ?? {}).join(' ')}</td>
            </tr>
          ))}
        </DataTable>
      </Card>
    </>
  );
}

/** What the valid rows would pay or request, and of whom. */
function CheckedPayees({ visit, checked }: { visit: Visit; checked: CheckedFile }) {
  const { t } = visit;
  const { rows, invalid, total, payees, payeeCount, hash } = checked;
  return (
    <>
      <FactList
        visit={visit}
        title="bulk.wouldIssue"
        facts={[
          ['bulk.total', formatCount(rows - invalid)],
          ['bulk.sum', formatAmount(total)],
          ['bulk.payees', formatCount(payeeCount)],
          ['bulk.hash', hash],
        ]}
      />
      <Card title={t('bulk.largestPayees')}>
        <DataTable
          visit={visit}
          name={t('bulk.largestPayees')}
          columns={['bulk.payee', 'bulk.rows', 'bulk.sum']}
        >
          {payees.map((payee) => (
            <tr>
              <td class="wide">{payee.name === '' ? t('app.none') : payee.name}</td>
              <td>{formatCount(payee.rows)}</td>
              <td>{formatAmount(payee.total)}</td>
            </tr>
          ))}
        </DataTable>
      </Card>
    </>
  );
}

function Uploads({
  visit,
  uploads,
  next,
  mayUpload,
}: {
  visit: Visit;
  uploads: readonly Upload[];
  next: string | null;
  mayUpload: boolean;
}) {
  const { t, language } = visit;
  const isRunning = uploads.some(({ state }) => state === 'running');
  return (
    <section id="uploads" class="card" {...refreshing(visit, isRunning, 'bulk')}>
      <h2>{t('bulk.uploads')}</h2>
      <DataTable
        empty={t(mayUpload ? 'bulk.empty' : 'bulk.emptyViewer')}
        visit={visit}
        name={t('bulk.uploads')}
        columns={['bulk.createdAt', 'bulk.kind', 'bulk.state', 'bulk.progress', 'bulk.rows']}
      >
        {uploads.map((upload) => (
          <tr>
            <td>
              <a href={pathTo(visit, `bulk/${upload.id}`)}>
                {formatTime(upload.createdAt, language)}
              </a>
            </td>
            <td>{t(`bulk.kind.${upload.kind}`)}</td>
            <td>
              <UploadState visit={visit} upload={upload} />
            </td>
            <td>
              <Progress visit={visit} upload={upload} />
            </td>
            <td>
              <CountBadges visit={visit} upload={upload} />
            </td>
          </tr>
        ))}
      </DataTable>
      <Pager visit={{ ...visit, path: pathTo(visit, 'bulk') }} next={next} />
    </section>
  );
}

/** The attributes by which an element loads itself again. */
function refreshing(visit: Visit, isRunning: boolean, page: string) {
  if (!isRunning) return {};
  const query = visit.query.size > 0 ? `?${visit.query.toString()}` : '';
  return {
    'hx-get': `${pathTo(visit, page)}${query}`,
    'hx-trigger': refreshEvery,
    'hx-swap': 'outerHTML',
  };
}

function UploadState({ visit: { t }, upload }: { visit: Visit; upload: Upload }) {
  const { state } = upload;
  return <Badge tone={state === 'finished' ? 'good' : 'warn'} text={t(`bulk.state.${state}`)} />;
}

function Progress({ visit: { t }, upload: { rows, counts } }: { visit: Visit; upload: Upload }) {
  const done = rows - counts.pending;
  const text = t('bulk.progressOf', { done: formatCount(done), rows: formatCount(rows) });
  return (
    <>
      <progress value={done} max={rows} aria-label={t('bulk.progress')}>
        {text}
      </progress>
      <div class="hint">{text}</div>
    </>
  );
}

function CountBadges({ visit: { t }, upload: { counts } }: { visit: Visit; upload: Upload }) {
  return (
    <>
      {rowStates
        .filter((state) => counts[state] > 0)
        .map((state) => (
          <>
            <Badge
              tone={tones[state]}
              text={`${t(`bulk.row.${state}`)}: ${formatCount(counts[state])}`}
            />{' '}
          </>
        ))}
    </>
  );
}

export function UploadPage({
  visit,
  upload,
  rows,
  next,
  waiting,
}: {
  visit: Visit;
  upload: Upload;
  rows: readonly ResultRow[];
  next: string | null;
  /** How many rows await approval by this person or another. */
  waiting: number;
}): Parts {
  const part = <UploadDetail visit={visit} upload={upload} rows={rows} next={next} />;
  const body = (
    <>
      {waiting > 0 && <WaitingRows visit={visit} upload={upload} waiting={waiting} />}
      {part}
      {isAllowedTo(visit, 'take files') && <ResultForm visit={visit} upload={upload} />}
    </>
  );
  return { body, part };
}

function UploadDetail({
  visit,
  upload,
  rows,
  next,
}: {
  visit: Visit;
  upload: Upload;
  rows: readonly ResultRow[];
  next: string | null;
}) {
  const { t, language } = visit;
  const page = `bulk/${upload.id}`;
  const count = (key: TextKey, value: number) => [key, formatCount(value)] as const;
  return (
    <div id="upload" {...refreshing(visit, upload.state === 'running', page)}>
      <Card title={t('bulk.progress')}>
        <p>
          <UploadState visit={visit} upload={upload} />
        </p>
        <Progress visit={visit} upload={upload} />
      </Card>
      <FactList
        visit={visit}
        title="bulk.summary"
        facts={[
          ['bulk.createdAt', formatTime(upload.createdAt, language)],
          ['bulk.finishedAt', formatTime(upload.finishedAt, language)],
          count('bulk.total', upload.rows),
          ...rowStates.map((state) => count(`bulk.row.${state}`, upload.counts[state])),
        ]}
      />
      <Card title={t('bulk.rows')}>
        <StateLinks visit={visit} page={page} />
        <Rows visit={visit} rows={rows} />
        <Pager visit={{ ...visit, path: pathTo(visit, page) }} next={next} />
      </Card>
    </div>
  );
}

function StateLinks({ visit, page }: { visit: Visit; page: string }) {
  const { t } = visit;
  const chosen = visit.query.get('state') ?? '';
  const links = [
    ['', t('bulk.allRows')] as const,
    ...rowStates.map((state) => [state, t(`bulk.row.${state}`)] as const),
  ];
  return (
    <nav aria-label={t('bulk.rowState')}>
      <ul>
        {links.map(([state, text]) => (
          <li>
            <a
              href={pathTo(visit, state === '' ? page : `${page}?state=${state}`)}
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

function Rows({ visit, rows }: { visit: Visit; rows: readonly ResultRow[] }) {
  const { t } = visit;
  if (rows.length === 0) return <Empty>{t('bulk.noRows')}</Empty>;
  return (
    <DataTable
      visit={visit}
      name={t('bulk.rows')}
      columns={['bulk.line', 'bulk.reference', 'bulk.rowState', 'bulk.operation', 'bulk.errors']}
    >
      {rows.map((row) => (
        <tr>
          <td>{formatCount(row.line)}</td>
          <td class="wide">{row.reference ?? t('app.none')}</td>
          <td>
            <Badge
              tone={tones[row.state as keyof typeof tones]}
              text={t(`bulk.row.${row.state as keyof typeof tones}`)}
            />
          </td>
          <td>
            {row.operationId && (
              <a href={pathTo(visit, `operations/${row.operationId}`)}>{t('bulk.openOperation')}</a>
            )}
          </td>
          <td class="wide">{errorOf(visit, row)}</td>
        </tr>
      ))}
    </DataTable>
  );
}

/** The code in words, and what is wrong with which field. */
function errorOf({ t, language }: Visit, { state, code, errors, operationId }: ResultRow): string {
  if (code === null && errors === null) return '';
  if (state === 'invalid')
    return `${t('rowError.validation_failed')}. ${fieldErrorsIn(language, errors ?? {}).join(' ')}`;
  const key =
    findTextKey(`rowError.${code}`) ??
    findTextKey(`payment.problem.${code}`) ??
    findTextKey(`problem.${code}`);
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
function WaitingRows({
  visit,
  upload,
  waiting,
}: {
  visit: Visit;
  upload: Upload;
  waiting: number;
}) {
  const { t } = visit;
  return (
    <Message kind="warn">
      {t('bulk.waiting', { count: formatCount(waiting) })}{' '}
      <a href={pathTo(visit, `approvals/uploads/${upload.id}`)}>{t('bulk.decide')}</a>
    </Message>
  );
}

function ResultForm({ visit, upload }: { visit: Visit; upload: Upload }) {
  const { t } = visit;
  return (
    <section class="card">
      <p class="hint">{t('bulk.resultWhy')}</p>
      <Form visit={visit} action={pathTo(visit, `bulk/${upload.id}/result`)}>
        <button class="plain">{t('bulk.result')}</button>
      </Form>
    </section>
  );
}
