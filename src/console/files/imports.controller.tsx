// How far the statement was read: the first reading of its history, and the periods that are proven
// to miss nothing. It reads one row of the account, and the oldest and the newest line.
import { Controller } from '@nestjs/common';
import { Settings } from '../../platform/settings/config.js';
import { Database } from '../../platform/postgres/database.service.js';
import {
  findStatementReading,
  readStatementView,
  type StatementReading,
} from '../../statement/lines/statement-view.queries.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { FactList, Message, Cards, Hint } from '../kit/elements.js';
import { formatCount, formatDuration } from '../formats.js';
import { Shown, type PageAnswer } from '../page.js';
import { useVisit, type Visit } from '../visit.js';

@Controller()
export class ImportsPage {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  @ConsolePage('imports', 'view', { title: 'imports.title', section: 'files', place: 52 })
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId } = visit;
    const { prisma, sql } = this.database;
    const [view, state] = await Promise.all([
      readStatementView(prisma, accountId),
      findStatementReading(sql, accountId),
    ]);
    const intervalMs = state?.syncIntervalMs ?? this.settings.syncIntervalMs;
    const part = <Reading facts={{ reading: view.import, state, intervalMs }} />;
    return new Shown(visit.t('imports.title'), part, { part });
  }
}

interface Facts {
  reading: Awaited<ReturnType<typeof readStatementView>>['import'];
  state: StatementReading | null;
  intervalMs: number;
}

function Reading({ facts }: { facts: Facts }) {
  const { t, path, time } = useVisit();
  const { reading, state, intervalMs } = facts;
  const isRead = state?.isAnchored === true;
  return (
    <div
      id="reading"
      hx-get={path}
      hx-trigger={isRead ? 'every 15s' : 'every 2s'}
      hx-swap="outerHTML"
    >
      <Message kind={isRead ? 'good' : 'warn'}>
        {t(isRead ? 'imports.done' : state ? 'imports.running' : 'imports.none')}
      </Message>
      <Cards>
        <FactList
          title="imports.first"
          facts={[
            ['imports.lines', formatCount(state?.lineCount ?? 0n)],
            ['imports.startedAt', time(state?.importStartedAt)],
            ...(reading
              ? ([
                  ['imports.rate', formatCount(Math.round(reading.linesPerSecond))],
                  ['imports.newest', time(reading.newest)],
                  ['imports.oldest', time(reading.oldest)],
                ] as const)
              : []),
          ]}
        />
        <FactList
          title="imports.syncs"
          facts={[
            ['word.syncedAt', time(state?.syncedAt)],
            ['imports.interval', formatDuration(intervalMs)],
          ]}
        />
        <FactList
          title="imports.closing"
          facts={[
            ['imports.closedFrom', time(state?.closedFrom)],
            ['word.closedUntil', time(state?.closedUntil)],
            ['imports.closingFailures', formatCount(state?.closingFailures ?? 0)],
            ['word.nextAttempt', time(state?.closingNextAt)],
          ]}
        />
      </Cards>
      <Hint isBlock>{t('imports.closingWhy')}</Hint>
    </div>
  );
}
