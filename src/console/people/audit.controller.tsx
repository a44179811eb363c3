// The audit on screen and as a file. An admin of every account sees all entries.
import { Readable } from 'node:stream';
import { Controller } from '@nestjs/common';
import { Audit, type AuditedEntry } from '../../access/people/audit.service.js';
import { AppError } from '../../platform/errors.js';
import { orderedListQuery, toList } from '../../platform/http/listing.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Row } from '../kit/elements.js';
import { listPage } from '../kit/list-page.js';
import { Download, type PageAnswer } from '../page.js';
import { accountOf, type Visit } from '../visit.js';
import { wordOf } from '../texts.js';

const needs = 'see the audit';

@Controller()
export class AuditPages {
  constructor(private readonly audit: Audit) {}

  @ConsolePage('audit', needs, { title: 'audit.title', section: 'settings', place: 90 })
  list(@Visiting() visit: Visit): PageAnswer {
    const { t, session, path } = visit;
    const isOfAll = visit.query.has('all');
    const accountId = scopeOf(visit);
    return listPage({
      ...{ visit, title: 'audit.title', empty: 'audit.empty', fileRows: Infinity },
      query: orderedListQuery({}),
      filters: {},
      before: (
        <Row>
          <a href={`${path}/export${isOfAll ? '?all=1' : ''}`}>{t('audit.ndjson')}</a>
          {session?.roleEverywhere === 'admin' && (
            <a href={isOfAll ? path : `${path}?all=1`}>{t(isOfAll ? 'audit.one' : 'audit.all')}</a>
          )}
        </Row>
      ),
      read: async (page) =>
        toList(await this.audit.listPage(accountId, page), page, ({ id }) => id),
      columns: () => ({
        'word.when': { at: ({ at }) => at, isOrder: true },
        'word.who': {
          wide: ({ person, subject }) =>
            person ?? t(subject.startsWith('sso ') ? 'audit.stranger' : 'audit.server'),
        },
        'word.account': ({ slug }) => slug,
        'word.action': ({ action }) => wordOf(t, 'action', action),
        'audit.subject': { wide: ({ subject }) => subjectOf(visit, subject) },
        'app.reason': { wide: ({ reason }) => reason },
        'audit.shown': { wide: ({ shown }) => shown },
        'list.id': { cell: ({ id }) => id, isOnly: 'file' },
        'audit.trace': { cell: ({ traceId }) => traceId, isOnly: 'file' },
      }),
    });
  }

  @ConsolePage('audit/export', needs)
  download(@Visiting() visit: Visit): PageAnswer {
    return new Download(
      Readable.from(ndjsonOf(this.audit.listAll(scopeOf(visit)))),
      `audit-${accountOf(visit).slug}.ndjson`,
      'application/x-ndjson; charset=utf-8',
    );
  }
}

/** Every entry, as programs read it. */
async function* ndjsonOf(entries: AsyncIterable<AuditedEntry>): AsyncGenerator<string> {
  for await (const { accountId: _, slug: account, ...entry } of entries)
    yield `${JSON.stringify({ ...entry, account })}\n`;
}

/** The account, or null for all entries, which only an admin of every account may see. */
function scopeOf(visit: Visit): number | null {
  const { session, query } = visit;
  if (!query.has('all')) return visit.accountId;
  if (session?.roleEverywhere !== 'admin') throw new AppError('forbidden');
  return null;
}

function subjectOf(visit: Visit, subject: string): string {
  const [kind = '', ...id] = subject.split(' ');
  return [wordOf(visit.t, 'subject', kind), ...id].join(' ');
}
