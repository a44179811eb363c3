// Uploads of many requests: a file is checked or stored, its rows are followed, and those that
// await approval lead to the page that decides them.
import { Readable } from 'node:stream';
import { Controller } from '@nestjs/common';
import { z } from 'zod';
import { fieldError, type FieldErrors } from '../../bank-contract/field-errors.js';
import {
  listBulkRows,
  listBulkUploads,
  maxFileBytes,
  sheetQuery,
  type CheckedFile,
} from '../../outbound/bulk/bulk.schema.js';
import { KeyHolders } from '../../outbound/bulk/key-holders.service.js';
import { unknownParty } from '../../access/counterparties/party.js';
import { BulkService } from '../../outbound/bulk/bulk.service.js';
import { ChosenFiles, type ChosenFile } from '../../outbound/bulk/chosen-files.service.js';
import { columnFields, kindOfTarget, mappingTargets } from '../../outbound/bulk/column-mapping.js';
import {
  UploadColumns,
  type FileChoice,
  type ForeignTable,
  type UploadPlan,
} from '../../outbound/bulk/upload-columns.service.js';
import { formatOfName } from '../../outbound/bulk/upload-reader.js';
import { BulkUploads } from '../../outbound/bulk/uploads.service.js';
import { BulkUploadKind } from '../../generated/service/enums.js';
import { AppError, invalidField, invariant } from '../../platform/errors.js';
import {
  ConsoleAction,
  ConsolePage,
  TakesFile,
  Visiting,
} from '../serving/console-page.decorator.js';
import { listPage } from '../kit/list-page.js';
import type { MoneyPayee } from '../kit/confirm-money.js';
import { readFilters } from '../list-query.js';
import { MoneyFacts } from '../money-facts.service.js';
import { Download, Redirect, Shown, type PageAnswer } from '../page.js';
import { accountOf, callerOf, pathId, type Visit } from '../visit.js';
import { attempt, fieldErrorsIn, problemIn } from '../problems.js';
import type { HiddenValues } from '../kit/form.js';
import { columnFieldName, ColumnsForm, type MappedFile } from './bulk-columns.js';
import { wordOf } from '../texts.js';
import { exampleFile } from './bulk-examples.js';
import {
  uploadPage,
  uploadColumns,
  UploadsIntro,
  type SentByFile,
  type UploadOutcome,
} from './bulk-pages.js';
import { resultFile } from './bulk-result.js';

const kinds = Object.values(BulkUploadKind);
const rowsPerRead = 500;

@Controller()
export class BulkPages {
  constructor(
    private readonly bulk: BulkService,
    private readonly uploads: BulkUploads,
    private readonly files: ChosenFiles,
    private readonly columns: UploadColumns,
    private readonly holders: KeyHolders,
    private readonly facts: MoneyFacts,
  ) {}

  @ConsolePage('bulk', 'view', { title: 'bulk.title', section: 'files', place: 50 })
  list(@Visiting() visit: Visit): PageAnswer {
    return this.page(visit);
  }

  @ConsoleAction('bulk', 'upload files', 'upload file', subjectOfFile)
  @TakesFile(maxFileBytes)
  async upload(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.withFile(visit, async (file, choice) => {
      const { kind, reading, table } = await this.plan(visit, file, choice);
      if (kind === null) return this.columnsPage(visit, { file, choice, table });
      const hash = visit.form.get('hash') ?? undefined;
      // Money is sent after a page that has shown to whom, and how much.
      if ((kind === 'transfers' || table) && hash === undefined)
        return this.page(visit, { problem: visit.t('bulk.checkFirst') });
      const body = Readable.from(file.chunks());
      const id = await this.bulk.upload(callerOf(visit), kind, { ...reading, hash }, body);
      await this.files.forget(visit.accountId, file);
      return new Redirect(visit.to(`bulk/${id}`));
    });
  }

  @ConsoleAction('bulk/check', 'upload files', 'check file', subjectOfFile)
  @TakesFile(maxFileBytes)
  async check(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.withFile(visit, (file, choice) => this.checkFile(visit, file, choice));
  }

  /** Asks what the columns of the file are, or remembers it and checks the file. */
  @ConsoleAction('bulk/columns', 'upload files', 'map file', subjectOfFile)
  async mapColumns(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { form } = visit;
    return this.withFile(visit, async (file, choice) => {
      const { table } = await this.plan(visit, file, choice);
      if (table && !form.has('target')) return this.columnsPage(visit, { file, choice, table });
      if (!table) return this.checkFile(visit, file, choice);
      const { problem, result } = await attempt(async () => {
        const mapping = typedMapping(visit, table);
        await this.columns.remember(callerOf(visit), table, mapping);
        return kindOfTarget[mapping.target];
      });
      if (problem) return this.columnsPage(visit, { file, choice, table, problem });
      return this.checkFile(visit, file, { ...choice, kind: result });
    });
  }

  private async plan(visit: Visit, file: ChosenFile, choice: FileChoice): Promise<UploadPlan> {
    const plan = await this.columns.plan(visit.accountId, file, choice);
    if (plan.kind === null && !plan.table) throw invalidField('$', fieldError('kind_unknown'));
    return plan;
  }

  private async checkFile(visit: Visit, file: ChosenFile, choice: FileChoice) {
    const { kind, reading, table } = await this.plan(visit, file, choice);
    if (kind === null) return this.columnsPage(visit, { file, choice, table });
    const body = Readable.from(file.chunks());
    const checked = await this.bulk.check(visit.accountId, kind, reading, body);
    const sent = kind === 'transfers' ? await this.sentBy(visit, checked) : undefined;
    const step = stepOf(file, { ...choice, kind });
    return this.page(visit, { checked: { file: checked, step, sent, table, kind } });
  }

  private columnsPage(
    visit: Visit,
    { file, choice, table, problem }: Omit<MappedFile, 'step' | 'table'> & AskedFile,
  ): Shown {
    invariant(table, 'columns are asked of a table');
    const asked = { table, step: stepOf(file, choice), problem: problem ?? null };
    const status = problem ? { status: 422, problem } : {};
    return new Shown(visit.t('bulk.columns'), <ColumnsForm {...asked} />, status);
  }

  /** What the valid rows would send, and to whom: the bank says who holds their keys. */
  private async sentBy(visit: Visit, checked: CheckedFile): Promise<SentByFile> {
    const { t } = visit;
    const { id } = accountOf(visit);
    const keys = checked.payees.flatMap(({ isKey, name }) => (isKey ? [name] : []));
    const [holders, balances, asked] = await Promise.all([
      this.holders.find(id, keys),
      this.facts.findBalances(id),
      this.facts.readAsked(visit),
    ]);
    const payees = checked.payees.map(({ name, isKey, party, total }): MoneyPayee => {
      const amountCents = total;
      if (!isKey) return { party: party ?? { ...unknownParty, name }, amountCents, asked };
      const holder = holders.get(name);
      if (holder && 'payee' in holder)
        return { party: holder.payee, key: holder.payee.key, amountCents, asked };
      const reason = holder?.reason ?? 'other';
      const why = wordOf(t, 'bulk.notLookedUp', reason, 'bulk.notLookedUp.other');
      return { party: unknownParty, key: name, amountCents, asked, note: why };
    });
    const count = checked.rows - checked.invalid;
    return { money: { payees, count, totalCents: checked.total }, balances };
  }

  @ConsolePage('bulk/examples/:kind', 'view')
  example(@Visiting() { params }: Visit): PageAnswer {
    const kind = kinds.find((one) => one === params.kind);
    if (!kind) throw new AppError('not_found');
    const body = Readable.from([exampleFile(kind)]);
    return new Download(body, `${kind}.csv`, 'text/csv; charset=utf-8');
  }

  @ConsolePage('bulk/:id', 'view')
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.uploadPage(visit);
  }

  @ConsoleAction('bulk/:id/result', 'take files', 'take file', 'upload :id')
  async result(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId } = visit;
    const { id } = await this.uploads.get(accountId, pathId(visit));
    const lines = this.resultLines(accountId, id, resultFile(visit.language));
    return new Download(Readable.from(lines), `upload-${id}.csv`, 'text/csv; charset=utf-8');
  }

  /** The work on the file of the form, or on one that a page before held. */
  private async withFile(
    visit: Visit,
    work: (file: ChosenFile, choice: FileChoice) => Promise<PageAnswer>,
  ): Promise<PageAnswer> {
    const { file, form, language, t } = visit;
    const kind = kinds.find((one) => one === form.get('kind')) ?? null;
    if (kind === null && form.get('kind')) throw new AppError('validation_failed');
    const held = form.get('held');
    const name = held === null ? (file?.name ?? '') : `.${form.get('format')}`;
    if (name === '') return this.page(visit, { problem: t('bulk.noFile') });
    const format = formatOfName(name);
    if (!format) return this.page(visit, { problem: t('bulk.wrongName') });
    try {
      const chosen = ['sheet', 'hidden'].map((one) => [one, form.get(one)?.trim()]);
      const choice = z.safeDecode(sheetQuery, Object.fromEntries(chosen.filter(([, one]) => one)));
      if (!choice.success) throw new AppError('validation_failed');
      const reading = { format, ...choice.data };
      const found =
        held === null
          ? await this.files.hold(callerOf(visit), file?.body ?? Readable.from([]))
          : await this.files.find(visit.accountId, held);
      return await work(found, { kind, reading });
    } catch (error) {
      if (held !== null && error instanceof AppError && error.code === 'not_found')
        return this.page(visit, { problem: t('bulk.fileGone'), status: 404 });
      const describe = (errors: FieldErrors) =>
        t('bulk.unreadable', { problem: fieldErrorsIn(language, errors).join(' ') });
      return this.page(visit, { problem: problemIn(visit, error, describe) });
    }
  }

  private page(asked: Visit, outcome: UploadOutcome = {}): PageAnswer {
    // After a form, too, it is the page of the list that refreshes itself.
    const visit = { ...asked, path: asked.to('bulk') };
    const { accountId } = visit;
    return listPage({
      visit,
      title: 'bulk.title',
      empty: visit.may('upload files') ? 'bulk.empty' : 'bulk.emptyViewer',
      before: <UploadsIntro outcome={outcome} />,
      query: listBulkUploads.query,
      filters: { kind: { label: 'bulk.kind', options: kinds, of: 'bulk.kind' } },
      read: (_page, query) => this.uploads.list(accountId, query),
      total: ({ kind }) => this.uploads.total(accountId, kind),
      columns: () => uploadColumns(visit),
      refreshes: (uploads) => uploads.some(({ state }) => state === 'running'),
      ...(outcome.problem === undefined ? {} : { status: outcome.status ?? 422 }),
    });
  }

  private async uploadPage(visit: Visit): Promise<Shown> {
    const { accountId } = visit;
    const upload = await this.uploads.get(accountId, pathId(visit));
    const { filters } = readFilters(listBulkRows.query, visit.query);
    const { data, next } = await this.uploads.listRows(accountId, upload.id, filters);
    const isDecidable = upload.kind === 'transfers' && visit.may('approve payments');
    // The part that refreshes itself does not show them.
    const waiting =
      isDecidable && !visit.isRefresh ? await this.uploads.countWaiting(accountId, upload.id) : 0;
    const shown = uploadPage(visit, { upload, rows: data, next, waiting });
    const title = visit.t('bulk.one', { kind: visit.t(`bulk.kind.${upload.kind}`) });
    return new Shown(title, shown.body, { part: shown.part });
  }

  private async *resultLines(
    accountId: number,
    id: string,
    file: ReturnType<typeof resultFile>,
  ): AsyncGenerator<string> {
    yield file.head();
    let cursor: string | undefined;
    do {
      const page = await this.uploads.listRows(accountId, id, { limit: rowsPerRead, cursor });
      yield page.data.map((row) => file.row(row)).join('');
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  }
}

interface AskedFile {
  file: ChosenFile;
  choice: FileChoice;
  table: ForeignTable | null;
}

/** What a form carries to work on the same file in the same way. */
function stepOf({ id }: ChosenFile, { kind, reading }: FileChoice): HiddenValues {
  const { format, sheet = '', hidden = '' } = reading;
  const step = { held: id, kind: kind ?? '', format, sheet, hidden };
  return Object.fromEntries(Object.entries(step).filter(([, value]) => value !== ''));
}

function typedMapping({ form }: Visit, { headers }: ForeignTable) {
  const target = mappingTargets.find((one) => one === form.get('target'));
  if (!target) throw invalidField('$.target', fieldError('kind_unknown'));
  const fields = headers.map(
    (_, at) => columnFields.find((one) => one === form.get(columnFieldName(at))) ?? null,
  );
  return { target, fields };
}

/** The kind of requests that the file is said to hold. */
function subjectOfFile({ form }: Visit): `file ${string}` {
  return `file ${kinds.find((one) => one === form.get('kind')) ?? 'unknown'}`;
}
