// The audit on screen and as a file. An admin of every account sees all entries.
import { Readable } from 'node:stream';
import { Controller } from '@nestjs/common';
import { Audit, type AuditedEntry } from '../../access/people/audit.service.js';
import { AppError, invariant } from '../../platform/errors.js';
import { isUuid, readPage, toList } from '../../platform/http/listing.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { auditCsvHeader, toCsvRow, toNdjsonRow } from './audit-file.js';
import { Pager, Row } from '../kit/elements.js';
import { ListCard } from '../kit/list-page.js';
import { ListTable } from '../kit/table.js';
import { Download, Shown, type PageAnswer } from '../page.js';
import { useVisit, type Visit } from '../visit.js';
import { wordOf } from '../texts.js';

const needs = 'see the audit';
const pageSize = 50;

@Controller()
export class AuditPages {
  constructor(private readonly audit: Audit) {}

  @ConsolePage('audit', needs, { title: 'audit.title', section: 'settings', place: 90 })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, query } = visit;
    const page = readPage({ limit: pageSize, cursor: query.get('cursor') ?? undefined }, isUuid);
    const found = await this.audit.listPage(scopeOf(visit), page);
    const { data: rows, next } = toList(found, page, ({ id }) => id);
    const body = (
      <>
        <Links />
        <ListCard>
          <ListTable
            {...{ rows, name: 'audit.title', empty: 'audit.empty' }}
            columns={{
              'word.when': { at: ({ at }) => at },
              'word.who': {
                wide: ({ person, subject }) =>
                  person ?? t(subject.startsWith('sso ') ? 'audit.stranger' : 'audit.server'),
              },
              'word.account': ({ slug }) => slug,
              'word.action': ({ action }) => wordOf(visit.t, 'action', action),
              'audit.subject': { wide: ({ subject }) => subjectOf(visit, subject) },
              'app.reason': { wide: ({ reason }) => reason },
              'audit.shown': { wide: ({ shown }) => shown },
            }}
          />
          <Pager next={next} />
        </ListCard>
      </>
    );
    return new Shown(t('audit.title'), body);
  }

  @ConsolePage('audit/export', needs)
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

function Links() {
  const { t, path, query, session } = useVisit();
  const all = query.has('all') ? '&all=1' : '';
  return (
    <Row>
      <a href={`${path}/export?format=csv${all}`}>{t('list.file')}</a>
      <a href={`${path}/export?format=ndjson${all}`}>{t('audit.ndjson')}</a>
      {session?.roleEverywhere === 'admin' && (
        <a href={all ? path : `${path}?all=1`}>{t(all ? 'audit.one' : 'audit.all')}</a>
      )}
    </Row>
  );
}

function subjectOf(visit: Visit, subject: string): string {
  const [kind = '', ...id] = subject.split(' ');
  return [wordOf(visit.t, 'subject', kind), ...id].join(' ');
}
