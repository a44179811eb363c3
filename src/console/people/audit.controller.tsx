// The audit on screen and as a file. An admin of every account sees all entries.
import { Readable } from 'node:stream';
import { Controller } from '@nestjs/common';
import { Audit, type AuditedEntry } from '../../access/people/audit.service.js';
import { AppError, invariant } from '../../platform/errors.js';
import { readUuid } from '../../platform/http/listing.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { auditCsvHeader, toCsvRow, toNdjsonRow } from './audit-file.js';
import { formatTime } from '../formats.js';
import { DataTable } from '../kit/frame.js';
import { Download, Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { findTextKey, type Translate } from '../texts.js';

const audit = '/console/accounts/:account/audit';
const needs = 'see the audit';
const pageSize = 50;

@Controller()
export class AuditPages {
  constructor(private readonly audit: Audit) {}

  @ConsolePage({
    path: audit,
    needs,
    menu: { title: 'audit.title', section: 'settings', place: 90 },
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, query } = visit;
    const after = query.get('after');
    if (after !== null) readUuid(after);
    const found = await this.audit.listPage(scopeOf(visit), { limit: pageSize, after });
    const entries = found.slice(0, pageSize);
    const all = query.has('all') ? '&all=1' : '';
    const body = (
      <>
        <Links visit={visit} />
        <div class="card">
          {entries.length === 0 ? (
            <p class="muted">{t('audit.empty')}</p>
          ) : (
            <Entries visit={visit} entries={entries} />
          )}
          {found.length > pageSize && (
            <a href={`${visit.path}?after=${entries.at(-1)?.id}${all}`}>{t('app.next')}</a>
          )}
        </div>
      </>
    );
    return new Shown(t('audit.title'), body);
  }

  @ConsolePage({ path: `${audit}/export`, needs })
  download(@Visiting() visit: Visit): PageAnswer {
    const format = visit.query.get('format');
    const entries = this.audit.listAll(scopeOf(visit));
    const name = `audit-${visit.session?.account?.slug}`;
    if (format === 'csv')
      return new Download(
        Readable.from(rows(entries, toCsvRow, auditCsvHeader)),
        `${name}.csv`,
        'text/csv; charset=utf-8',
      );
    if (format !== 'ndjson') throw new AppError('validation_failed');
    return new Download(
      Readable.from(rows(entries, toNdjsonRow, '')),
      `${name}.ndjson`,
      'application/x-ndjson; charset=utf-8',
    );
  }
}

async function* rows(
  entries: AsyncIterable<AuditedEntry>,
  write: (entry: AuditedEntry) => string,
  header: string,
): AsyncGenerator<string> {
  if (header) yield header;
  for await (const entry of entries) yield write(entry);
}

/** The account, or null for all entries, which only an admin of every account may see. */
function scopeOf({ session, query }: Visit): number | null {
  invariant(session?.account, 'the page is of an account');
  if (!query.has('all')) return session.account.id;
  if (session.roleEverywhere !== 'admin') throw new AppError('forbidden');
  return null;
}

function Links({ visit }: { visit: Visit }) {
  const { t, path, query, session } = visit;
  const all = query.has('all') ? '&all=1' : '';
  return (
    <p class="row">
      <a href={`${path}/export?format=csv${all}`}>{t('audit.csv')}</a>
      <a href={`${path}/export?format=ndjson${all}`}>{t('audit.ndjson')}</a>
      {session?.roleEverywhere === 'admin' && (
        <a href={all ? path : `${path}?all=1`}>{t(all ? 'audit.one' : 'audit.all')}</a>
      )}
    </p>
  );
}

/** In the reader's language. An entry of a later version is shown as it is stored. */
function nameOf(t: Translate, kind: 'action' | 'subject', stored: string): string {
  const key = findTextKey(`${kind}.${stored}`);
  return key ? t(key) : stored;
}

function subjectOf(t: Translate, subject: string): string {
  const [kind = '', ...id] = subject.split(' ');
  return [nameOf(t, 'subject', kind), ...id].join(' ');
}

function Entries({ visit, entries }: { visit: Visit; entries: readonly AuditedEntry[] }) {
  const { t, language } = visit;
  const none = t('app.none');
  return (
    <DataTable
      visit={visit}
      name={t('audit.title')}
      columns={[
        'audit.at',
        'audit.person',
        'audit.account',
        'audit.action',
        'audit.subject',
        'app.reason',
        'audit.shown',
      ]}
    >
      {entries.map((entry) => (
        <tr>
          <td>{formatTime(entry.at, language)}</td>
          <td class="wide">{entry.person ?? t('audit.server')}</td>
          <td>{entry.slug ?? none}</td>
          <td>{nameOf(t, 'action', entry.action)}</td>
          <td class="wide">{subjectOf(t, entry.subject)}</td>
          <td class="wide">{entry.reason ?? none}</td>
          <td class="wide">{entry.shown ?? none}</td>
        </tr>
      ))}
    </DataTable>
  );
}
